package settle

import (
	"cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/changed"
	"github.com/mayfly-iac/mayfly/state"
)

func compareUnits(a, b state.Unit) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Addr, b.Addr))
}

// exists reports whether the configuration has a module instance.
func (f *finder) exists(in addr.ModuleInstance) bool {
	return len(f.run.ModulesWithin(f.t, in, in.Module())) > 0
}

// repeated returns the block of a repetition, or of the resource of an instance, and the module instance that
// it is in.
func repeated(u state.Unit) (state.Block, addr.ModuleInstance, bool) {
	t, err := addr.ParseTarget(u.Addr)
	if err != nil {
		return state.Block{}, addr.RootInstance, false
	}
	if t.Resource != nil {
		return state.RepetitionOf(addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}), t.Module, true
	}
	outer, name, _ := t.Module.Parent()
	return state.Block{Module: outer.Module(), Name: "module." + name}, outer, true
}

// remains reports whether the configuration or the state has a unit, or may have it. recorded says that the
// unit has a record: a mark on the results of a block as a whole has none.
func (f *finder) remains(u state.Unit, recorded bool) bool {
	switch u.Kind {
	case state.InstanceUnit:
		a, err := addr.ParseInstance(u.Addr)
		if err != nil {
			return true
		}
		in, known := f.run.Find(f.t, a)
		return !known || in != nil
	case state.RepetitionUnit:
		b, in, ok := repeated(u)
		return !ok || f.declared[b] && f.exists(in)
	case state.OutputUnit:
		return f.run.Root.Output(u.Addr) != nil
	case state.CheckUnit:
		return f.checkRemains(u, recorded)
	case state.ValuesUnit:
		in, err := addr.ParseModuleInstance(u.Addr)
		return err != nil || f.exists(in)
	}
	return true
}

// checkRemains is remains for the results of conditions. A variable, an output or a resource may have lost
// its conditions.
func (f *finder) checkRemains(u state.Unit, recorded bool) bool {
	if in, name, ok := changed.SplitValue(u.Addr); ok {
		whole := !recorded && in == in.Module().Instance()
		return f.guarded[in.Module().Join(name)] && (whole || f.exists(in))
	}
	t, err := addr.ParseTarget(u.Addr)
	return err != nil || t.Resource == nil || f.guarded[addr.ConfigResource{Module: t.Module.Module(), Resource: *t.Resource}.String()]
}
