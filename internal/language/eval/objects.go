package eval

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
)

// Module is a module object: one instance of a module. Its objects are made along with it, which costs no
// evaluation, so that an address leads to its object whether or not the arguments give that instance.
type Module struct {
	Addr addr.ModuleInstance

	run       *Run
	block     *blocks.Module
	call      *Call // nil for the root
	key       addr.Key
	variables map[string]*Value
	locals    map[string]*Value
	outputs   map[string]*Value
	resources map[addr.Resource]*Resource
	calls     map[string]*Call
	checks    map[string]*Check
}

// newModule makes the objects of a module instance. Called modules are made on demand.
func (r *Run) newModule(a addr.ModuleInstance, b *blocks.Module, call *Call) *Module {
	m := &Module{
		Addr: a, run: r, block: b, call: call,
		variables: make(map[string]*Value, len(b.Variables)), locals: make(map[string]*Value, len(b.Locals)), outputs: make(map[string]*Value, len(b.Outputs)),
		resources: make(map[addr.Resource]*Resource, len(b.Resources)), calls: make(map[string]*Call, len(b.Calls)),
		checks: make(map[string]*Check, len(b.Checks)),
	}
	_, _, m.key = a.Parent()
	for name, vb := range b.Variables {
		m.variables[name] = newValue(m, vb)
	}
	for name, vb := range b.Locals {
		m.locals[name] = newValue(m, vb)
	}
	for name, vb := range b.Outputs {
		m.outputs[name] = newValue(m, vb)
	}
	for a, rb := range b.Resources {
		res := &Resource{Block: rb, Module: m, instances: map[addr.Key]*Instance{}}
		res.expander = expander{module: m, repeat: rb.Repeat, name: res.Addr().String(), ephemeral: a.Mode == addr.Ephemeral}
		res.block = rb
		res.target = &addr.Target{Module: m.Addr, Resource: &rb.Config.Addr}
		if r.opt.Recorded != nil && !a.Mode.Fleeting() {
			res.recorded = func() []addr.Key { return r.opt.Recorded(res.Addr()) }
		}
		res.forgets.Store(r.opt.Forgetful && !r.cfg.Referred(rb))
		m.resources[a] = res
	}
	for name, cb := range b.Calls {
		c := &Call{block: cb, children: map[addr.Key]*Module{}}
		c.expander = expander{module: m, repeat: cb.Repeat, name: a.Join("module." + name)}
		c.expander.block = cb
		c.target = &addr.Target{Module: c.Addr()}
		m.calls[name] = c
	}
	for name, cb := range b.Checks {
		m.checks[name] = &Check{Module: m, block: cb}
	}
	return m
}

// Resources returns the resource objects of the module in source order.
func (m *Module) Resources() []*Resource {
	out := make([]*Resource, 0, len(m.resources))
	for _, cfg := range m.block.Config.Order {
		if r := m.resources[cfg.Addr]; r != nil {
			out = append(out, r)
		}
	}
	return out
}

// Calls returns the module call objects, ordered by name.
func (m *Module) Calls() []*Call {
	out := make([]*Call, 0, len(m.calls))
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		if m.calls[name].block.Child != nil {
			out = append(out, m.calls[name])
		}
	}
	return out
}

// HasCall reports whether the module calls another one by the name.
func (m *Module) HasCall(name string) bool {
	c := m.calls[name]
	return c != nil && c.block.Child != nil
}

// Outputs returns the outputs of the module, ordered by name.
func (m *Module) Outputs() []*Value {
	out := make([]*Value, 0, len(m.outputs))
	for _, name := range slices.Sorted(maps.Keys(m.outputs)) {
		out = append(out, m.outputs[name])
	}
	return out
}

// Values yields the variables, locals and outputs of the module.
func (m *Module) Values(yield func(*Value) bool) {
	for _, group := range []map[string]*Value{m.variables, m.locals, m.outputs} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			if !yield(group[name]) {
				return
			}
		}
	}
}

// Call returns the module call object with a name, nil if the configuration has none.
func (m *Module) Call(name string) *Call {
	if !m.HasCall(name) {
		return nil
	}
	return m.calls[name]
}

// Resource returns the resource object at the address, nil if the configuration has none.
func (m *Module) Resource(r addr.Resource) *Resource { return m.resources[r] }

// ProviderMetaFor returns the provider_meta block of the module for a provider, nil if there is none.
func (m *Module) ProviderMetaFor(p addr.Provider) *config.ProviderMeta {
	for name, meta := range m.block.Config.ProviderMeta {
		if m.block.Config.ProviderFor(name) == p {
			return meta
		}
	}
	return nil
}

// Imports returns the import blocks of the module.
func (m *Module) Imports() []*config.Import { return m.block.Config.Imports }

// Block returns the block of the value.
func (v *Value) Block() *blocks.Value { return v.block }

// Output returns the named output of the module, nil if it has none.
func (m *Module) Output(name string) *Value { return m.outputs[name] }

// Call is a module call object.
type Call struct {
	expander
	block *blocks.Call

	mu       sync.Mutex
	children map[addr.Key]*Module

	aggregates sync.Map // outputSel → *aggregate
}

// Addr returns the address of the call without an instance key.
func (c *Call) Addr() addr.ModuleInstance {
	return c.module.Addr.Child(c.block.Config.Name, addr.NoKey)
}

// In returns the same call in another run of the configuration.
func (c *Call) In(r *Run) *Call { return r.Module(c.module.Addr).calls[c.block.Config.Name] }

// Child returns the instance with the given key, whether or not the call's arguments say that it exists.
func (c *Call) Child(k addr.Key) *Module {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.children[k]
	if m == nil && c.block.Child != nil {
		m = c.module.run.newModule(c.module.Addr.Child(c.block.Config.Name, k), c.block.Child, c)
		c.children[k] = m
	}
	return m
}

// aggregate has the findings about a selection from all instances of a call. They are computed once: if each
// of n instances of a block that refers to module.m[*].x looked at n instances of the module, work would be
// quadratic.
type aggregate struct {
	deps     future.Cell[[]plan.Dep]
	prepared future.Cell[bool]
	value    future.Cell[cty.Value]
	kept     kept[cty.Value] // the value with computed values
}

func (c *Call) aggregate(sel outputSel) *aggregate {
	v, _ := c.aggregates.LoadOrStore(sel, &aggregate{})
	return v.(*aggregate)
}

// Resource is a resource object: a resource, data or ephemeral block in one module instance.
type Resource struct {
	expander
	Block   *blocks.Resource
	Module  *Module
	forgets atomic.Bool // see Options.Forgetful
	// objectType is the type of the object that was computed last. cty makes a type for each value, which can
	// be larger than the value.
	objectType atomic.Pointer[cty.Type]

	mu        sync.Mutex
	instances map[addr.Key]*Instance
	joined    future.Cell[bool]         // whether all is computed
	all       atomic.Pointer[cty.Value] // see whole; nil once it is forgotten
	lenders   future.Cell[[]*Instance]  // whose objects lack computed values in the run
	kept      kept[cty.Value]           // the value of all instances, with computed values
	lent      madeOfLent                // results that are kept
	triggers  sync.Map                  // *lang.Ref to all instances, in replace_triggered_by → *future.Cell[bool]: whether a change of theirs triggers it
	reads     future.Cell[*reads]
	deps      future.Cell[[]plan.Dep]
	provider  atomic.Pointer[ProviderObject] // of all instances; nil until one asks, and if they differ
}

// Addr returns the absolute address without an instance key.
func (r *Resource) Addr() addr.AbsResource {
	return addr.AbsResource{Module: r.Module.Addr, Resource: r.Block.Config.Addr}
}

// Instance returns the instance with the given key, whether or not the arguments say that it exists.
func (r *Resource) Instance(k addr.Key) *Instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.instances[k]
	if in == nil {
		in = &Instance{Resource: r, Key: k}
		r.instances[k] = in
	}
	return in
}

// Instance is one repetition of a resource object.
type Instance struct {
	Resource *Resource
	Key      addr.Key
	cell     future.Cell[bool]         // whether the object is computed
	object   atomic.Pointer[cty.Value] // nil once it is forgotten
	reads    future.Cell[*reads]
	circular atomic.Bool // set while it is computed, if it depends on itself
}

// Circular reports whether the instance depends on itself, which was reported. This is known once it is
// prepared.
func (in *Instance) Circular() bool { return in.circular.Load() }

// Addr returns the absolute address.
func (in *Instance) Addr() addr.Instance { return in.Resource.Addr().Instance(in.Key) }

// String returns the absolute address, for messages.
func (in *Instance) String() string { return in.Addr().String() }

// Config returns the block.
func (in *Instance) Config() *config.Resource { return in.Resource.Block.Config }

// Alone reports whether neither the block nor a module around it is repeated.
func (in *Instance) Alone() bool { return in.Resource.Block.Single() }

// Run returns the walk that the instance belongs to.
func (in *Instance) Run() *Run { return in.Resource.Module.run }

// Value is a variable, local or output of a module object.
type Value struct {
	module *Module
	block  *blocks.Value
	cell   future.Cell[cty.Value]
	reads  future.Cell[*reads]
	flat   future.Cell[*reads]
	uses   future.Cell[[]Use]
	kept   kept[cty.Value] // with computed values
	guard  *guard          // nil without conditions

	circular atomic.Bool // set while it is computed, if it depends on itself
}

// Addr returns the absolute address, for messages.
func (v *Value) Addr() string {
	return v.module.Addr.Join(v.block.LocalName())
}

// String returns the absolute address.
func (v *Value) String() string { return v.Addr() }

// In returns the same value in another run of the configuration.
func (v *Value) In(r *Run) *Value {
	m := r.Module(v.module.Addr)
	switch v.block.Kind {
	case blocks.OutputValue:
		return m.outputs[v.block.Name]
	case blocks.VariableValue:
		return m.variables[v.block.Name]
	default:
		return m.locals[v.block.Name]
	}
}

// Output returns the declaration of an output, nil of any other value.
func (v *Value) Output() *config.Output { return v.block.Output }

// guard has the results of the conditions of a variable or output: they are evaluated once, and before
// anything is done with the value.
type guard struct {
	reads future.Cell[*reads]
	holds future.Cell[bool]
}

func newValue(m *Module, b *blocks.Value) *Value {
	v := &Value{module: m, block: b}
	if len(b.Conditions) > 0 {
		v.guard = &guard{}
	}
	return v
}

// Opens reports whether evaluating v may open ephemeral resources, so that its value belongs in an Opened.
func (v *Value) Opens() bool { return !v.block.Opens.Empty() }

// ProviderObject is one provider configuration: a provider block (or one instance of it), or the empty
// configuration that is implied.
type ProviderObject struct {
	Addr addr.ProviderConfig

	run      *Run
	module   *Module
	block    *blocks.Provider // nil for an implied configuration
	schema   *schema.Schema
	expander *expander
	reads    future.Cell[*reads]
	use      []Use  // the configuration itself, as most operations use nothing else
	only     *reads // the same as a read-set
}

// Type returns the type of the configuration.
func (p *ProviderObject) Type() cty.Type { return p.schema.Block.Type() }

// Block returns the schema of the configuration.
func (p *ProviderObject) Block() *schema.Block { return p.schema.Block }

// Body returns the body of the provider block, nil for an implied configuration.
func (p *ProviderObject) Body() hcl.Body {
	if p.block == nil {
		return nil
	}
	return p.block.Config.Body
}

// Opens reports whether the configuration may come from ephemeral resources.
func (p *ProviderObject) Opens() bool { return p.block != nil && !p.block.Opens.Empty() }

// Check is a check object: a check block in one module instance.
type Check struct {
	Module *Module
	block  *blocks.Check
	reads  future.Cell[*reads]
}

// Addr returns the absolute address, such as "module.a[0].check.health".
func (c *Check) Addr() string { return c.Module.Addr.Join("check." + c.block.Config.Name) }

// String returns the address.
func (c *Check) String() string { return c.Addr() }

// Nested returns the instance of the nested data or ephemeral block, nil if there is none.
func (c *Check) Nested() *Instance {
	if c.block.Nested == nil {
		return nil
	}
	return c.Module.resources[c.block.Nested.Config.Addr].Instance(addr.NoKey)
}
