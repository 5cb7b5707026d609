package rounds

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// KeptValue is a computed value that is not stored (E96), kept in memory for objects that wait for the object
// which has it.
type KeptValue struct {
	Of    addr.Instance
	Path  cty.Path
	value cty.Value // must not be shown
}

// Keep keeps the value of an attribute until a round has been carried out that defers none of its users.
func (m *Memory) Keep(of addr.Instance, path cty.Path, v cty.Value) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(of, path)
	m.kept = append(m.kept, KeptValue{of, path, v})
}

// Kept returns the value that is kept of an attribute of an object.
func (m *Memory) Kept(of addr.Object, path cty.Path) (cty.Value, bool) {
	if m == nil || of.Deposed != addr.Current {
		return cty.NilVal, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept {
		if k.Of == of.Instance && k.Path.Equals(path) {
			return k.value, true
		}
	}
	return cty.NilVal, false
}

// AllKept returns the values that are kept.
func (m *Memory) AllKept() []KeptValue {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.kept)
}

func (m *Memory) drop(of addr.Instance, path cty.Path) {
	m.kept = slices.DeleteFunc(m.kept, func(k KeptValue) bool { return k.Of == of && k.Path.Equals(path) })
}

// dropUnneeded drops the values that a plan, which was carried out, leaves to no later plan. The caller holds
// m.mu.
func (m *Memory) dropUnneeded(p *plan.Plan) {
	if len(m.kept) == 0 {
		return
	}
	later := map[addr.Instance]struct{}{}
	for _, d := range p.Deferrals {
		later[d.Change.Addr] = struct{}{}
	}
	needed := func(k KeptValue) bool {
		return slices.ContainsFunc(p.Changes, func(c *plan.Change) bool {
			return c.Addr == k.Of && c.Deposed == addr.Current && slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool {
				return w.Path.Equals(k.Path) && slices.ContainsFunc(w.Missed, func(user addr.Instance) bool {
					_, waits := later[user]
					return waits
				})
			})
		})
	}
	m.kept = slices.DeleteFunc(m.kept, func(k KeptValue) bool { return !needed(k) })
}
