package engine

import (
	"errors"
	"fmt"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/exposed"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// rememberVariables has the guard remember the values of ephemeral variables.
func (h *host) rememberVariables(cfg *blocks.Config, variables map[string]cty.Value) {
	for name, v := range cfg.Tree.Root.Variables {
		if given, ok := variables[name]; ok && v.Ephemeral {
			if v.Sensitive {
				given = given.Mark(value.Sensitive)
			}
			h.opt.Leaks.Remember(leak.Source{Kind: leak.Variable, Address: "var." + name}, given, v.Type)
		}
	}
}

// acceptResult judges the result of a function of a configured provider. It may have been configured with an
// ephemeral value, which the result does not have the mark of.
func (w *walk) acceptResult(c eval.FunctionCall, got cty.Value) (cty.Value, error) {
	keep, found := w.env.Leaks.Result(got, c.On.Addr)
	switch {
	case !found:
	case keep:
		w.run.Report(diag.List{{
			Severity: diag.Warning, Summary: "Function returned an ephemeral value",
			Detail: fmt.Sprintf("The result of %s holds an ephemeral value that the provider was configured with. It is not ephemeral itself, so that it can be stored.", c.Text()),
		}})
	default:
		return cty.DynamicVal, errors.New("its result holds an ephemeral value that the provider was configured with, which -leak-guard=strict forbids")
	}
	return got, nil
}

// expose publishes, until the returned function is called, the texts that are in the open anyway: the files
// of the configuration, variables that are neither ephemeral nor sensitive, and the state before the
// operation. The first two stay public until the next operation begins, since the results of this one are
// shown after its end.
func (h *host) expose(cfg *blocks.Config, variables map[string]cty.Value, st *state.State) (end func()) {
	variables = maps.Clone(variables)
	unpublish := h.opt.Leaks.Publish(func(yield func([]byte) bool) { exposed.Configuration(cfg.Tree, variables, yield) })
	unstore := h.opt.Leaks.Stored(func(yield func([]byte) bool) { exposed.State(st, yield) })
	return func() {
		unpublish()
		unstore()
	}
}
