package eval

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// moduleRead is a reference to the same part of every instance of a module call. It is comparable.
type moduleRead struct {
	call *Call
	part part
}

// part is what a reference needs of a module: one output, all outputs if the name is empty, or everything in it.
type part struct {
	output string
	all    bool
}

// wholeRead is what is known of a part of all instances of a call, found once, however many refer to it.
type wholeRead struct {
	deps     future.Cell[[]plan.Dep]
	prepared future.Cell[bool]
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

// mayOpen reports whether evaluating the output, or any if the name is empty, may open ephemeral resources.
func (c *Call) mayOpen(output string) bool {
	for name, o := range c.block.child.outputs {
		if (output == "" || output == name) && !o.opens.empty() {
			return true
		}
	}
	return false
}

// holdsEphemeral reports whether the called module, or one below it, declares ephemeral resources.
func (c *Call) holdsEphemeral() bool { return c.block.child.holdsEphemeral() }

func (m *moduleBlock) holdsEphemeral() bool {
	for _, r := range m.resources {
		if r.Config.Addr.Mode == addr.Ephemeral && r.Config.Check == nil {
			return true
		}
	}
	for _, c := range m.calls {
		if c.child != nil && c.child.holdsEphemeral() {
			return true
		}
	}
	return false
}

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

// wholeDeps returns what a part of all instances depends on, with one dependency in place of those on the same resource in every instance.
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

// collapsed joins dependencies that are alike in each of the n instances of the call: on a resource as a whole, or on its only instance. It applies
// where the calls around are not repeated, since a joined dependency is on all instances of those too.
func (c *Call) collapsed(deps []plan.Dep, n int) []plan.Dep {
	alike := map[addr.ConfigResource][]int{}
	for i, d := range deps {
		if below, ok := c.keyless(d.Resource.Module); ok && (d.All || d.Key == addr.NoKey) {
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
		joined = append(joined, plan.Dep{Resource: addr.AbsResource{Module: below, Resource: block.Resource}, All: true, Modules: true})
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

// keyless returns the module path without the key of c's step, if m lies in an instance of c and no other step of it has a key.
func (c *Call) keyless(m addr.ModuleInstance) (addr.ModuleInstance, bool) {
	own := c.Addr()
	steps, mine := m.Path(), own.Path()
	if len(steps) < len(mine) {
		return m, false
	}
	out := addr.RootInstance
	for i, s := range steps {
		_, name, key := s.Parent()
		switch {
		case i == len(mine)-1:
			if _, call, _ := own.Parent(); call != name {
				return m, false
			}
		case key != addr.NoKey, i < len(mine) && s != mine[i]:
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
	return a.Key.Compare(b.Key)
}

// InstancesOf returns the instances that a dependency is on; false if they could not be told.
func (r *Run) InstancesOf(t *future.Task, d plan.Dep) ([]addr.Instance, bool) {
	if !d.All {
		return []addr.Instance{d.Resource.Instance(d.Key)}, true
	}
	modules := []*Module{r.Module(d.Resource.Module)}
	if d.Modules {
		modules = r.modulesOf(t, d.Resource.Module.Module())
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

// modulesOf returns the instances of a module.
func (r *Run) modulesOf(t *future.Task, path addr.Module) []*Module {
	modules := []*Module{r.Root}
	for _, name := range path.Calls() {
		var next []*Module
		for _, m := range modules {
			if call := m.calls[name]; call != nil && call.block.child != nil {
				next = append(next, call.Children(t, nil)...)
			}
		}
		modules = next
	}
	return modules
}
