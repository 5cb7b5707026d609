package mayfly

import (
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/eval/static"
)

// StaticOptions say what sources of modules and arguments of backends are evaluated with; see Static.
type StaticOptions = static.Options

// Static returns an evaluator for the expressions that must be known before a configuration is complete, for
// config.Loader.
func Static(o StaticOptions) config.Static { return static.New(o).Eval }
