package mayfly

import (
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/explain"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/builtin"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
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

	// Provider is a running provider. Launcher starts those that a project needs.
	Provider = provider.Provider
	// ProviderLauncher starts providers by address.
	ProviderLauncher = provider.Launcher
	// Catalog has the schemas of a provider.
	Catalog = provider.Catalog
	// SchemaCache keeps what a provider answers when it is asked for its schemas.
	SchemaCache = plugin.SchemaCache
	// ReattachConfig says where a provider runs that is only connected to.
	ReattachConfig = plugin.ReattachConfig
	// ReadState reads the state that the built-in data source terraform_remote_state asks for.
	ReadState = builtin.ReadState
	// CheckBackend checks the arguments of that data source.
	CheckBackend = builtin.CheckBackend

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
