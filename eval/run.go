package eval

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval/blocks"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// Phase is what a run is for. It decides terraform.applying and whether repetition is unknown.
type Phase uint8

// The phases.
const (
	Validating Phase = iota // every result is unknown, every block has one instance that stands for all
	Planning
	Applying
)

// Host gives a run the results that need providers. Its methods are called on the goroutine of the demanding
// task, at most once per instance for Result, and must return a legal value in every case; what went wrong
// they report to Run.Diags.
type Host interface {
	// Result returns the object of a managed or data instance, sensitive marks included.
	Result(t *future.Task, in *Instance) cty.Value
	// Open returns the object of an ephemeral instance, marked ephemeral, and lets s keep the lease on it.
	Open(t *future.Task, s *Session, in *Instance) cty.Value
	// Slot runs f, which may open ephemeral resources but demands nothing durable any more, within the limit
	// of operations at once. Whoever calls it is in no slot yet.
	Slot(f func())
	// CallFunction calls a provider-defined function.
	CallFunction(t *future.Task, call FunctionCall) (cty.Value, error)
	// ConfiguredFunctions returns the functions that a provider has with a configuration, which was prepared
	// and holds nothing ephemeral.
	ConfiguredFunctions(t *future.Task, p *ProviderObject) (map[string]*schema.Function, diag.List)
}

// Options are the inputs of a run.
type Options struct {
	Phase     Phase
	Host      Host
	Variables map[string]cty.Value // of the root module, converted, unmarked; absent ones take their default
	Functions map[string]function.Function
	Workspace string
	RootDir   string // for path.root
	WorkDir   string // for path.cwd, absolute
	Now       time.Time
	// Interrupted ends evaluations when it is closed; nil for never.
	Interrupted <-chan struct{}
	// MildConditions makes failing conditions of managed resources, data sources and outputs warnings, which
	// hold nothing up.
	MildConditions bool
	// UnsetUnknown makes variables of the root module unknown that have neither a value nor a default.
	UnsetUnknown bool
	// Recorded tells the instances of managed and data resources in place of their repetition arguments, none
	// if nothing is known of a resource; nil to go by the arguments.
	Recorded func(addr.AbsResource) []addr.Key
	// Excluded reports whether a resource or module call is left out as a whole, so that it does not matter
	// if its instances are not known yet; nil if nothing is.
	Excluded func(addr.Target) bool
}

// Run is one walk over a configuration. Its methods may be called concurrently, each task by one goroutine.
type Run struct {
	Root  *Module
	Diags *diag.Collector
	// Checks collects the results of conditions.
	Checks *Checks
	Stats  Stats

	cfg *blocks.Config
	opt Options

	cycled    syncSet  // of the addresses of blocks that are in a reported cycle
	undecided syncSet  // of the blocks whose instances cannot be told yet
	held      sync.Map // what leads to guarded values → *future.Cell[bool]: see once

	providersMu sync.Mutex // guards the two maps below
	providers   map[addr.ProviderConfig]*ProviderObject
	keyExprs    map[hcl.Expression]*lang.Expr
}

// Stats counts the work of a run.
type Stats struct {
	Evaluations atomic.Int64 // expressions and bodies evaluated, and instances that are read with all of their kind
}

// NewRun starts a walk. Nothing is evaluated until it is demanded.
func NewRun(c *blocks.Config, opt Options) *Run {
	r := &Run{
		Diags: &diag.Collector{}, Checks: newChecks(), cfg: c, opt: opt,
		providers: map[addr.ProviderConfig]*ProviderObject{}, keyExprs: map[hcl.Expression]*lang.Expr{},
	}
	r.Root = r.newModule(addr.RootInstance, c.Modules[addr.RootModule], nil)
	return r
}

// Phase returns what the run is for.
func (r *Run) Phase() Phase { return r.opt.Phase }

// Module is a module object: one instance of a module.
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
		if r.opt.Recorded != nil && a.Mode != addr.Ephemeral {
			res.recorded = func() []addr.Key { return r.opt.Recorded(res.Addr()) }
		}
		m.resources[a] = res
	}
	for name, cb := range b.Calls {
		c := &Call{block: cb, children: map[addr.Key]*Module{}}
		c.expander = expander{module: m, repeat: cb.Repeat, name: joinAddr(a, "module."+name)}
		c.expander.block = cb
		c.target = &addr.Target{Module: c.Addr()}
		m.calls[name] = c
	}
	for name, cb := range b.Checks {
		m.checks[name] = &Check{Module: m, block: cb}
	}
	return m
}

func joinAddr(m addr.ModuleInstance, rest string) string {
	if m.IsRoot() {
		return rest
	}
	return m.String() + "." + rest
}

// pathValue returns the value of a reference that begins with path.
func (m *Module) pathValue(name string) cty.Value {
	switch name {
	case "module":
		return cty.StringVal(m.block.Config.Dir)
	case "root":
		return cty.StringVal(m.run.opt.RootDir)
	default:
		return cty.StringVal(m.run.opt.WorkDir)
	}
}

func (r *Run) terraformValue(name string) cty.Value {
	if name == "workspace" {
		return cty.StringVal(r.opt.Workspace)
	}
	if r.opt.Phase == Validating {
		return cty.UnknownVal(cty.Bool).Mark(value.Ephemeral)
	}
	return cty.BoolVal(r.opt.Phase == Applying).Mark(value.Ephemeral)
}

// Report adds diagnostics to the run's.
func (r *Run) Report(diags diag.List) { r.Diags.Add(diags) }

// Guard calls f and reports a panic in it as a bug, so that the run goes on: everything that is open is still
// closed, and results are still recorded. what is what f works on.
func (r *Run) Guard(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.Report(diag.Bug(what, p))
		}
	}()
	f()
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

// Outputs returns the outputs of the module, ordered by name.
func (m *Module) Outputs() []*Value {
	out := make([]*Value, 0, len(m.outputs))
	for _, name := range slices.Sorted(maps.Keys(m.outputs)) {
		out = append(out, m.outputs[name])
	}
	return out
}

// Resource returns the resource object at the address, nil if the configuration has none.
func (m *Module) Resource(r addr.Resource) *Resource { return m.resources[r] }

// BlockClaims returns what planning the blocks of the called module, and of those that it calls, may use.
func (c *Call) BlockClaims() []Use { return moduleClaims(c.block.Child, nil) }

func moduleClaims(m *blocks.Module, into []Use) []Use {
	for _, b := range m.Resources {
		into = append(into, BlockClaims(b)...)
	}
	for _, b := range m.Checks {
		into = append(into, usesOf(b.Opens)...)
	}
	for _, c := range m.Calls {
		if c.Child != nil {
			into = moduleClaims(c.Child, into)
		}
	}
	return into
}

// ProviderMeta returns the provider_meta block of the module for the provider of the given resource block,
// nil if there is none.
func (m *Module) ProviderMeta(b *blocks.Resource) *config.ProviderMeta {
	return m.ProviderMetaFor(b.Provider)
}

// ProviderMetaFor returns the provider_meta block of the module for a provider, nil if there is none.
func (m *Module) ProviderMetaFor(p addr.Provider) *config.ProviderMeta {
	for name, meta := range m.block.Config.ProviderMeta {
		if m.block.Config.ProviderFor(name) == p {
			return meta
		}
	}
	return nil
}
