package rounds

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// KeptValue names a computed value that is not stored (E96), kept in memory for objects that wait for the
// object which has it.
type KeptValue struct {
	Of   addr.Instance
	Path cty.Path
}

// kept is a value that must not be shown, with its place in an object.
type kept struct {
	path  cty.Path
	value cty.Value
}

// Keep keeps the value of an attribute until a round has been carried out that defers none of its users.
func (m *Memory) Keep(of addr.Instance, path cty.Path, v cty.Value) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	others := slices.DeleteFunc(m.kept[of], func(k kept) bool { return k.path.Equals(path) })
	m.kept[of] = append(others, kept{path, v})
}

// Kept returns the value that is kept of an attribute of an object.
func (m *Memory) Kept(of addr.Object, path cty.Path) (cty.Value, bool) {
	if m == nil || of.Deposed != addr.Current {
		return cty.NilVal, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept[of.Instance] {
		if k.path.Equals(path) {
			return k.value, true
		}
	}
	return cty.NilVal, false
}

// Keeps reports whether a value of an instance is kept.
func (m *Memory) Keeps(of addr.Instance) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kept[of]) > 0
}

// AllKept returns the names of the values that are kept, in any order.
func (m *Memory) AllKept() (names []KeptValue) {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for of, values := range m.kept {
		for _, k := range values {
			names = append(names, KeptValue{of, k.path})
		}
	}
	return names
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
	waits := func(user addr.Instance) bool {
		_, is := later[user]
		return is
	}
	needed := map[addr.Instance][]kept{}
	for _, c := range p.Changes {
		if c.Deposed != addr.Current || len(m.kept[c.Addr]) == 0 {
			continue
		}
		for _, w := range c.Withheld {
			for _, k := range m.kept[c.Addr] {
				if w.Path.Equals(k.path) && slices.ContainsFunc(w.Missed, waits) {
					needed[c.Addr] = append(needed[c.Addr], k)
				}
			}
		}
	}
	m.kept = needed
}
