package eval

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Phase is the purpose of a run. It decides terraform.applying and whether repetition is unknown.
type Phase uint8

// The phases.
const (
	Validating Phase = iota // every result is unknown; one instance of each block represents all
	Planning
	Applying
)

// Host is the part of a run that needs providers. Its methods are called on the goroutine of the demanding
// task. They always return a valid value and report errors to Run.Diags.
type Host interface {
	// WithOpened calls f, within the limit of concurrent operations, and ends the leases on the instances
	// opened for it. All cells that f demands are computed. The caller must not be in a slot. user has the
	// conditions that f evaluates.
	WithOpened(t *future.Task, user *Value, f func(*Opened))
	// CallFunction calls a provider-defined function. The value is unknown, without an error, if the provider
	// could not be configured, which was reported.
	CallFunction(t *future.Task, call FunctionCall) (cty.Value, error)
	// ConfiguredFunctions returns the functions that a provider has with a configuration, which was prepared
	// and has nothing ephemeral; false if they could not be found out, which was reported.
	ConfiguredFunctions(t *future.Task, p *ProviderObject) (map[string]*schema.Function, bool)
}

// Options are the inputs of a run.
type Options struct {
	Phase Phase
	Host  Host
	// Result returns the object of a managed or data instance, or of a list, sensitive marks included. It is
	// called at most once per instance, as the methods of Host are.
	Result    func(t *future.Task, in *Instance) cty.Value
	Variables map[string]cty.Value // of the root module, converted, unmarked; absent ones take their default
	Functions map[string]function.Function
	Workspace string
	RootDir   string // for path.root
	WorkDir   string // for path.cwd, absolute
	// Interrupted ends evaluations when it is closed; nil for never.
	Interrupted <-chan struct{}
	// MildConditions makes failing conditions of managed resources, data sources and outputs warnings, which
	// stop nothing.
	MildConditions bool
	// Condition is called with the computed values that the condition of an object is made of; it may be nil.
	Condition func(address string, made []value.Computed)
	// Redact returns a text of a diagnostic without its secrets; nil if there are none to hide.
	Redact func(string) string
	// UnsetUnknown makes variables of the root module with neither a value nor a default unknown.
	UnsetUnknown bool
	// Recorded returns the keys of managed and data resources, in place of their repetition arguments. It
	// returns none if nothing is known of a resource. If Recorded is nil, the arguments decide.
	Recorded func(addr.AbsResource) []addr.Key
	// Excluded reports whether a resource or module call, whose instances the given dependencies decide, is
	// left out as a whole: unknown instances are neither an error nor deferred then. Nil means that none is.
	Excluded func(of addr.Target, needs []plan.Dep) bool
	// Deferring says that instances that will be known only after apply, and an unknown import id, are not an
	// error. A block with such instances has none but a generic one: see Resource.Generic.
	Deferring bool
	// Undecided is called, while the instances of a resource, data source or module call with such blocks are
	// determined, if they will be known only after apply, before anything depends on that. Nil for no call.
	Undecided func(addr.Target)
	// Forgetful drops the objects of instances once nothing can refer to them any more. Value returns a
	// placeholder for them.
	Forgetful bool
	// Coverage notes the points exercised while planning and applying; nil for none.
	Coverage *coverage.Set
}

// Run is one walk over a configuration. Its methods may be called concurrently, each task by one goroutine.
type Run struct {
	Root  *Module
	Diags *diag.Collector
	// Checks collects the results of conditions.
	Checks *state.CheckCollector
	Stats  Stats
	// Providers has the provider configurations.
	Providers *Providers

	cfg *blocks.Config
	opt Options

	cycled    syncSet // of the addresses of blocks that are in a reported cycle
	undecided syncSet // of the blocks whose instances are not known yet
	counts    countObjects
	held      sync.Map // objects that lead to values with conditions → *future.Cell[bool]: see once
}

// Stats counts the work of a run.
type Stats struct {
	Evaluations atomic.Int64 // expressions and bodies evaluated, and instances that are read with all of their kind
}

// NewRun starts a walk. Nothing is evaluated until it is demanded.
func NewRun(c *blocks.Config, opt Options) *Run {
	r := &Run{
		Diags: &diag.Collector{Redact: opt.Redact}, Checks: state.NewCheckCollector(), cfg: c, opt: opt,
	}
	r.Providers = newProviders(r)
	r.Root = r.newModule(addr.RootInstance, c.Modules[addr.RootModule], nil)
	return r
}

// Phase returns the purpose of the run.
func (r *Run) Phase() Phase { return r.opt.Phase }

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

// interrupted reports whether evaluations are ended.
func (o *Options) interrupted() bool {
	select {
	case <-o.Interrupted:
		return true
	default:
		return false
	}
}

// Report adds diagnostics to the run's.
func (r *Run) Report(diags diag.List) { r.Diags.Add(diags) }

// Guard calls f and reports a panic in it as a bug. The run continues, so that everything open is closed and
// results are recorded. The first argument names the object that f works on: a string or a Stringer.
func (r *Run) Guard(what any, f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.Report(diag.Bug(fmt.Sprint(what), p))
		}
	}()
	f()
}

// FunctionCall is a call of a provider-defined function.
type FunctionCall struct {
	Provider addr.Provider
	On       *ProviderObject // the configuration whose function it is; nil for one that needs none
	Name     string
	Args     []cty.Value // with their marks, which the host takes off
}

// Text names the function, without the local name of its provider.
func (c FunctionCall) Text() string {
	return "the function " + c.Name + " of " + c.Provider.ForDisplay()
}

// syncSet is a set that is safe for concurrent use. The zero value is empty.
type syncSet struct{ m sync.Map }

func (s *syncSet) add(x any) {
	if x != nil {
		s.m.Store(x, struct{}{})
	}
}

func (s *syncSet) has(x any) bool {
	_, ok := s.m.Load(x)
	return ok
}
