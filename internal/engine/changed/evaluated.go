package changed

import (
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/state"
)

// Found returns everything that is due.
func (w *Work) Found() *state.Changed { return w.src.Found }

// Fresh returns the module instances without units in the state, as far as the plan has found them, in order.
func (w *Work) Fresh() []addr.ModuleInstance {
	return slices.SortedFunc(maps.Keys(w.attempt.fresh), addr.ModuleInstance.Compare)
}

// Late returns the modules with values that were evaluated when all instances were planned.
func (w *Work) Late() []addr.Module { return w.lates() }

// EvaluatesValues reports whether values of a module instance had work, all of which were evaluated then.
func (w *Work) EvaluatesValues(m *eval.Module) bool {
	if !w.Partial() {
		return true
	}
	if w.attempt.fresh.have(m.Addr) {
		return true
	}
	for name, in := range w.attempt.late[m.Addr.Module()] {
		if !strings.HasPrefix(name, "check.") && in.haveOrStandFor(m.Addr) {
			return true
		}
	}
	return false
}
