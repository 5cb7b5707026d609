package mayfly

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/static"
)

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
