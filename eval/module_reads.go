package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// aggregate is what is known of a selection from all instances of a call, found once, however many refer to
// it.
type aggregate struct {
	deps     future.Cell[[]plan.Dep]
	prepared future.Cell[bool]
	value    future.Cell[cty.Value]
}

func (c *Call) aggregate(sel outputSel) *aggregate {
	v, _ := c.aggregates.LoadOrStore(sel, &aggregate{})
	return v.(*aggregate)
}

// outputSelOf returns the outputs whose names are the keys as a selection; "" among them stands for all.
func outputSelOf(outputs map[string]*hcl.Range) outputSel {
	if _, every := outputs[""]; every {
		return outputSel{}
	}
	return outputSel{names: strings.Join(slices.Sorted(maps.Keys(outputs)), ",")}
}

// sharedValue returns the value of some outputs of all instances, which is built once, however many refer to
// it. The outputs open nothing.
func (c *Call) sharedValue(b *builder, e *expansion, p *modulePart, sel outputSel, via *hcl.Range) cty.Value {
	got, cycle := c.aggregate(sel).value.Get(b.sc.t, c.name, via, func() cty.Value {
		durable := &builder{run: b.run, sc: b.sc.m.scope(b.sc.t)}
		return durable.allChildren(c, e, p)
	})
	if cycle != nil {
		b.run.reportCycle(cycle)
		return cty.DynamicVal
	}
	return got
}

// prepare demands the durable values of a selection from all instances.
func (c *Call) prepare(t *future.Task, sel outputSel) {
	_, _ = c.aggregate(sel).prepared.Get(t, c.name, nil, func() bool { // a cycle is reported where the values are demanded
		all := &reads{}
		all.addOneByOne(t, c, sel)
		prepare(t, all)
		return true
	})
}

// allDeps returns what a selection from all instances depends on, with one dependency in place of those on
// the same resource in every instance.
func (c *Call) allDeps(t *future.Task, sel outputSel) []plan.Dep {
	got, cycle := c.aggregate(sel).deps.Get(t, c.name, nil, func() []plan.Dep {
		all := &reads{}
		all.addOneByOne(t, c, sel)
		return c.collapse(all.deps(t, nil), len(c.Children(t, nil)))
	})
	if cycle != nil {
		return nil
	}
	return got
}

// collapse joins dependencies that are alike in each of the n instances of the call: on a resource as a
// whole, or on its only instance, or on what was joined below. The module instance that the call stands in
// bounds what the joined dependency is on.
func (c *Call) collapse(deps []plan.Dep, n int) []plan.Dep {
	alike := map[addr.ConfigResource][]int{}
	for i, d := range deps {
		if below, ok := c.keyless(d.Resource.Module); ok && (d.All || d.Key == addr.NoKey) && !(d.Modules && d.Within.Contains(c.module.Addr)) {
			key := addr.AbsResource{Module: below, Resource: d.Resource.Resource}.Config()
			alike[key] = append(alike[key], i)
		}
	}
	drop := map[int]struct{}{}
	var joined []plan.Dep
	for block, at := range alike {
		if len(at) != n {
			continue
		}
		for _, i := range at {
			drop[i] = struct{}{}
		}
		below, _ := c.keyless(deps[at[0]].Resource.Module)
		joined = append(joined, plan.Dep{Resource: addr.AbsResource{Module: below, Resource: block.Resource}, All: true, Modules: true, Within: c.module.Addr})
	}
	var out []plan.Dep
	for i, d := range deps {
		if _, gone := drop[i]; !gone {
			out = append(out, d)
		}
	}
	out = append(out, joined...)
	slices.SortFunc(out, compareDeps)
	return out
}

// keyless returns the module path without the key of c's step, if m lies in an instance of c and no step
// below it has a key.
func (c *Call) keyless(m addr.ModuleInstance) (addr.ModuleInstance, bool) {
	own := c.Addr()
	steps, mine := m.Path(), own.Path()
	if len(steps) < len(mine) {
		return m, false
	}
	out, call := c.module.Addr, c.block.Config.Name
	if len(mine) > 1 && steps[len(mine)-2] != out {
		return m, false
	}
	for i, s := range steps[len(mine)-1:] {
		_, name, key := s.Parent()
		if i == 0 && name != call || i > 0 && key != addr.NoKey {
			return m, false
		}
		out = out.Child(name, addr.NoKey)
	}
	return out, true
}

func compareDeps(a, b plan.Dep) int {
	if c := a.Resource.Compare(b.Resource); c != 0 {
		return c
	}
	if a.Modules != b.Modules {
		if a.Modules {
			return -1
		}
		return 1
	}
	if c := a.Within.Compare(b.Within); c != 0 {
		return c
	}
	return a.Key.Compare(b.Key)
}

// InstancesOf returns the instances that a dependency is on; false if they could not be told.
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

// modulesOf returns the instances of a module within one of those around it.
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
