package mayfly

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/explain"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/eval/static"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// Types of packages that other programs cannot import, under the names by which they can use them. Their
// fields and methods may change in a minor version.
type (
	// Tree is a loaded configuration: the root module and all that it calls.
	Tree = config.Tree
	// Loader reads the modules of a configuration.
	Loader = config.Loader
	// StaticEvaluator evaluates an expression that must be known before a configuration is complete.
	StaticEvaluator = config.Static

	// Catalog has the schemas of a provider.
	Catalog = provider.Catalog

	// Applied is the result of an apply.
	Applied = engine.Applied
	// Console evaluates expressions in the root module.
	Console = engine.Console
	// Durations has the durations of earlier runs.
	Durations = engine.Durations
	// Generated is a configuration block that was written for an object which is to be imported.
	Generated = engine.Generated
	// Stats counts what a project has done.
	Stats = engine.Stats
	// Explainer answers questions about a plan.
	Explainer = explain.Explainer
	// Coverage has what of a configuration tests have exercised.
	Coverage = coverage.Set
	// OpeningsRecorder records which ephemeral instances are open.
	OpeningsRecorder = ephemeral.Recorder

	// Guard remembers ephemeral values, as keyed hashes, and finds them in texts and values.
	Guard = leak.Guard
	// LeakPolicy says what becomes of ephemeral values that a provider returns where they would be stored.
	LeakPolicy = leak.Policy
)

// The policies.
const (
	StandardLeaks = leak.Standard // confidential ones are withheld and an error, the others are kept with a warning
	StrictLeaks   = leak.Strict   // all are withheld and an error
	LenientLeaks  = leak.Lenient  // all are kept with a warning
)

// NewGuard returns a guard that remembers nothing yet. It may be used by several goroutines.
func NewGuard() *Guard { return leak.New() }

// OptionPlaces are where the addresses in the options of a plan are written; the zero value is for those of a
// command line.
type OptionPlaces = config.OptionPlaces

// StaticOptions say what sources of modules and arguments of backends are evaluated with; see Static.
type StaticOptions = static.Options

// Static returns an evaluator for the expressions that must be known before a configuration is complete, for
// config.Loader.
func Static(o StaticOptions) StaticEvaluator { return static.New(o).Eval }

// StaticMarked is Static for backend blocks: values may be sensitive and ephemeral, and keep their marks.
func StaticMarked(o StaticOptions) StaticEvaluator { return static.New(o).EvalMarked }

// StaticPartial is StaticMarked without the values of variables: values may be unknown.
func StaticPartial(o StaticOptions) StaticEvaluator { return static.New(o).EvalPartial }

// StaticKeys is Static for encryption blocks: values may be sensitive and ephemeral, and have no marks.
func StaticKeys(o StaticOptions) StaticEvaluator { return static.New(o).EvalKey }

// StaticUnmet reports the validation rules of a variable of the root module that its value does not meet, as
// a plan does. Rules that need more than o and the configuration are left to the plan.
func StaticUnmet(o StaticOptions, root *config.Module, v *config.Variable) diag.List {
	return static.New(o).Unmet(root, v)
}
