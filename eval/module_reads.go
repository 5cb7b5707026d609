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

// moduleRead is a reference to the same part of every instance of a module call. It is comparable.
type moduleRead struct {
	call *Call
	part part
}

// part is what a reference needs of a module: one output, all outputs if the name is empty, or everything in
// it.
type part struct {
	output string
	all    bool
}

// wholeRead is what is known of a part of all instances of a call, found once, however many refer to it.
type wholeRead struct {
	deps     future.Cell[[]plan.Dep]
	prepared future.Cell[bool]
	value    future.Cell[cty.Value]
}

// namesOf returns the names of the outputs that are needed, in order; "" alone stands for all.
func namesOf(outputs map[string]*hcl.Range) []string {
	if _, every := outputs[""]; every {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(outputs))
}

// shared returns the value of some outputs of all instances, which is built once, however many refer to it.
// The outputs open nothing.
func (c *Call) shared(b *builder, e *expansion, p *modulePart, outputs []string, via *hcl.Range) cty.Value {
	whole := c.whole(part{output: strings.Join(outputs, ",")})
	got, cycle := whole.value.Get(b.sc.t, c.name, via, func() cty.Value {
		durable := &builder{run: b.run, sc: &scope{m: b.sc.m, t: b.sc.t}}
		return durable.allChildren(c, e, p)
	})
	if cycle != nil {
		b.run.reportCycle(cycle)
		return cty.DynamicVal
	}
	return got
}

func (c *Call) whole(p part) *wholeRead {
	v, _ := c.wholes.LoadOrStore(p, &wholeRead{})
	return v.(*wholeRead)
}

func (m *Module) collectOutputs(into *reads, name string, via *hcl.Range) {
	if name != "" {
		into.addValue(m.outputs[name], via)
		return
	}
	for _, o := range m.outputs {
		into.addValue(o, via)
	}
}

func (c *Call) collectPart(into *reads, t *future.Task, p part) {
	for _, child := range c.Children(t, nil) {
		if p.all {
			child.collectAll(into, t)
		} else {
			child.collectOutputs(into, p.output, nil)
		}
	}
}

// mayOpen reports whether evaluating one of the outputs, or any if a name is empty, may open ephemeral
// resources.
func (c *Call) mayOpen(outputs ...string) bool {
	for name, o := range c.block.Child.Outputs {
		if !o.Opens.Empty() && (slices.Contains(outputs, name) || slices.Contains(outputs, "")) {
			return true
		}
	}
	return false
}

// holdsEphemeral reports whether the called module, or one below it, declares ephemeral resources.
func (c *Call) holdsEphemeral() bool { return !c.block.Child.Ephemerals().Empty() }

// prepare demands the durable values of a part of all instances.
func (c *Call) prepare(t *future.Task, p part) {
	_, _ = c.whole(p).prepared.Get(t, c.name, nil, func() bool { // a circle is reported where the values are demanded
		sub := &reads{}
		c.collectPart(sub, t, p)
		pr := preparer{t: t, seen: map[any]struct{}{}}
		pr.reads(sub)
		return true
	})
}

// wholeDeps returns what a part of all instances depends on, with one dependency in place of those on the
// same resource in every instance.
func (c *Call) wholeDeps(t *future.Task, p part) []plan.Dep {
	got, cycle := c.whole(p).deps.Get(t, c.name, nil, func() []plan.Dep {
		f := flattener{t: t, seen: map[any]struct{}{}, deps: map[plan.Dep]struct{}{}}
		sub := &reads{}
		c.collectPart(sub, t, p)
		f.reads(sub)
		return c.collapsed(f.sorted(), len(c.Children(t, nil)))
	})
	if cycle != nil {
		return nil
	}
	return got
}

// collapsed joins dependencies that are alike in each of the n instances of the call: on a resource as a
// whole, or on its only instance, or on what was joined below. The module instance that the call stands in
// bounds what the joined dependency is on.
func (c *Call) collapsed(deps []plan.Dep, n int) []plan.Dep {
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
