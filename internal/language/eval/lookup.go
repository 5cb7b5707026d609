package eval

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
)

// Module returns the module object at a, creating it and those around it on demand.
func (r *Run) Module(a addr.ModuleInstance) *Module {
	m := r.Root
	for _, step := range a.Path() {
		_, name, key := step.Parent()
		call := m.calls[name]
		if call == nil {
			return nil
		}
		if m = call.Child(key); m == nil {
			return nil
		}
	}
	return m
}

// Find returns the instance at an address, nil if the configuration does not have it. ok is false if that is
// unknown, for a reason that was reported.
func (r *Run) Find(t *future.Task, a addr.Instance) (in *Instance, ok bool) {
	m := r.Root
	for _, step := range a.Module.Path() {
		_, name, key := step.Parent()
		call := m.calls[name]
		if call == nil || call.block.Child == nil {
			return nil, true
		}
		if e := call.expand(t, nil); e.failed || !e.has(key) {
			return nil, !e.failed
		}
		m = call.Child(key)
	}
	res := m.resources[a.Resource]
	if res == nil {
		return nil, true
	}
	if e := res.expand(t, nil); e.failed || !e.has(a.Key) {
		return nil, !e.failed
	}
	return res.Instance(a.Key), true
}

// DeclaredInstance returns an instance that the configuration has a block for, nil for others.
func (r *Run) DeclaredInstance(a addr.Instance) *Instance {
	if !r.Declared(a) {
		return nil
	}
	return r.Module(a.Module).Resource(a.Resource).Instance(a.Key)
}

// Declared reports whether the configuration has a block for the instance, even if the repetition of the
// block does not include the instance.
func (r *Run) Declared(a addr.Instance) bool {
	m := r.Module(a.Module)
	return m != nil && m.resources[a.Resource] != nil
}

// WhyGone returns why the configuration doesn't declare an instance that the state has.
func (r *Run) WhyGone(a addr.Instance) plan.Reason {
	m := r.Root
	t := &future.Task{}
	for _, step := range a.Module.Path() {
		_, name, key := step.Parent()
		call := m.calls[name]
		if call == nil || call.block.Child == nil {
			return plan.DeleteNoConfig // as in the documents of other engines: there is no module instance that could lack the resource
		}
		if !call.expand(t, nil).has(key) {
			return plan.DeleteNoModule
		}
		m = call.Child(key)
	}
	res := m.resources[a.Resource]
	if res == nil {
		return plan.DeleteNoConfig
	}
	switch e := res.expand(t, nil); {
	case e.form == blocks.Enabled && a.Key == addr.NoKey:
		return plan.DeleteDisabled
	case e.form == blocks.Counted && a.Key.Kind() == addr.KeyInt:
		return plan.DeleteCountIndex
	case e.form == blocks.ForEach && a.Key.Kind() == addr.KeyString:
		return plan.DeleteEachKey
	}
	return plan.DeleteRepetition
}

// InstancesOf returns the instances that a dependency covers, and false if they are unknown.
func (r *Run) InstancesOf(t *future.Task, d plan.Dep) ([]addr.Instance, bool) {
	if !d.All {
		return []addr.Instance{d.Resource.Instance(d.Key)}, true
	}
	modules := []*Module{r.Module(d.Resource.Module)}
	if d.Modules {
		modules = r.modulesOf(t, d.Within, d.Resource.Module.Module())
	}
	var out []addr.Instance
	for _, m := range modules {
		if m == nil || m.resources[d.Resource.Resource] == nil {
			return nil, false
		}
		instances, ok := m.resources[d.Resource.Resource].Instances(t)
		if !ok {
			return nil, false
		}
		for _, in := range instances {
			out = append(out, in.Addr())
		}
	}
	return out, true
}

// Expanded reports whether a run has found the instances that a dependency covers, so that its InstancesOf
// evaluates nothing.
func Expanded(r *Run, d plan.Dep) bool {
	if !d.All {
		return true
	}
	modules := []*Module{r.Module(d.Resource.Module)}
	if d.Modules {
		modules = []*Module{r.Module(d.Within)}
		for _, name := range d.Resource.Module.Module().Calls()[len(d.Within.Path()):] {
			var next []*Module
			for _, m := range modules {
				if m == nil || m.calls[name] == nil || !m.calls[name].expanded() {
					return false
				}
				next = append(next, m.calls[name].Children(&future.Task{}, nil)...)
			}
			modules = next
		}
	}
	return !slices.ContainsFunc(modules, func(m *Module) bool {
		return m == nil || m.resources[d.Resource.Resource] == nil || !m.resources[d.Resource.Resource].expanded()
	})
}

// Modules returns the instances of a module.
func (r *Run) Modules(t *future.Task, path addr.Module) []*Module {
	return r.modulesOf(t, addr.RootInstance, path)
}

// ModulesWithin returns the instances of a module that lie within the given module instance, none if the
// configuration does not have that.
func (r *Run) ModulesWithin(t *future.Task, within addr.ModuleInstance, path addr.Module) []*Module {
	m := r.Root
	for _, step := range within.Path() {
		_, name, key := step.Parent()
		call := m.calls[name]
		if call == nil || call.block.Child == nil || !call.expand(t, nil).has(key) {
			return nil
		}
		m = call.Child(key)
	}
	return r.modulesOf(t, within, path)
}

// modulesOf returns the instances of a module that lie within the given module instance.
func (r *Run) modulesOf(t *future.Task, within addr.ModuleInstance, path addr.Module) []*Module {
	modules := []*Module{r.Module(within)}
	if modules[0] == nil {
		return nil
	}
	for _, name := range path.Calls()[len(within.Path()):] {
		var next []*Module
		for _, m := range modules {
			if call := m.calls[name]; call != nil && call.block.Child != nil {
				next = append(next, call.Children(t, nil)...)
			}
		}
		modules = next
	}
	return modules
}
