package changed

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/state"
)

// Found returns everything that is due.
func (w *Work) Found() *state.Changed { return w.src.Found }

// Fresh returns the module instances without units in the state, as far as the plan has found them.
func (w *Work) Fresh() []addr.ModuleInstance { return w.attempt.fresh }

// Late returns the modules with values that were evaluated when all instances were planned.
func (w *Work) Late() []addr.Module { return w.lates() }

// EvaluatesValues reports whether values of a module instance had work, all of which were evaluated then.
func (w *Work) EvaluatesValues(m *eval.Module) bool {
	if !w.Partial() {
		return true
	}
	at, path := &w.attempt, m.Addr.Module()
	if slices.ContainsFunc(at.fresh, func(in addr.ModuleInstance) bool { return in.Contains(m.Addr) }) {
		return true
	}
	for name, places := range at.late[path] {
		if !strings.HasPrefix(name, "check.") && at.within(m.Addr, places) {
			return true
		}
	}
	return false
}
