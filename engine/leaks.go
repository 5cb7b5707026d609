package engine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/leak"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/value"
)

// rememberVariables has the guard remember the values of ephemeral variables.
func (e *Engine) rememberVariables(cfg *blocks.Config, variables map[string]cty.Value) {
	for name, v := range cfg.Tree.Root.Variables {
		if given, ok := variables[name]; ok && v.Ephemeral {
			if v.Sensitive {
				given = given.Mark(value.Sensitive)
			}
			e.opt.Leaks.Remember(leak.Source{Kind: leak.Variable, Address: "var." + name}, given)
		}
	}
}

// sealOutput makes the value of an output durable.
func (w *walk) sealOutput(v cty.Value) (value.Durable, error) {
	d, err := value.Seal(v, v.Type(), nil)
	if err == nil {
		err = w.env.Leaks.CheckSealed(d)
	}
	return d, err
}

// expose says what is in the open anyway, until the returned function is called: the files of the
// configuration, variables that are neither ephemeral nor sensitive, and what the state had before the
// operation.
func (e *Engine) expose(cfg *blocks.Config, variables map[string]cty.Value, st *state.State) (end func()) {
	return e.opt.Leaks.Expose(func(yield func([]byte) bool) {
		for _, src := range cfg.Tree.Sources {
			if !yield(src) {
				return
			}
		}
		_ = exposeVariables(cfg.Tree.Root.Variables, variables, yield) && exposeState(st, yield)
	})
}

func exposeVariables(declared map[string]*config.Variable, given map[string]cty.Value, yield func([]byte) bool) bool {
	for name, v := range given {
		if d := declared[name]; d == nil || d.Ephemeral || d.Sensitive {
			continue
		}
		if !leak.Texts(v, func(text string) bool { return yield([]byte(text)) }) {
			return false
		}
	}
	return true
}

func exposeState(st *state.State, yield func([]byte) bool) bool {
	if st == nil {
		return true
	}
	for _, in := range st.AllInstances() {
		if in.Current != nil && !yield(in.Current.JSON()) {
			return false
		}
	}
	return true
}
