package engine

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/deferral"
	"github.com/mayfly-iac/mayfly/internal/engine/given"
	"github.com/mayfly-iac/mayfly/internal/engine/journal"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
	"github.com/mayfly-iac/mayfly/internal/engine/selection"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// ApplyRequest is the input of an apply.
type ApplyRequest struct {
	Config    *blocks.Config
	Plan      *plan.Plan
	Variables map[string]cty.Value // as for PlanRequest, ephemeral ones included
	State     state.Run            // whose rows it changes: a result is durable before anything that depends on it starts
	Salts     []fingerprint.Salt   // of the state as it is stored; a plan has none
	Given     *given.Hasher        // of configurations of objects; nil if nothing is recorded
	Memory    *rounds.Memory       // of the run that the apply is a round of; nil for none
	Soft      context.Context      // ends on the first interrupt; nil for never
	// Writes reports whether the run may record changes of planning, such as drift, of an instance. Nil means
	// that it may record all.
	Writes func(addr.Instance) bool
}

// Applied is the outcome of an apply.
type Applied struct {
	Counts plan.Counts // of the changes really made
}

// applier carries out one apply. The value of an instance is its final object.
type applier struct {
	*walk
	req        ApplyRequest
	selection  *selection.Selection // of the plan
	deferred   *deferral.Set        // by the plan
	left       *deferral.Missing    // objects; asked only about objects that no step under way may make
	checks     checkApplier
	finishing  finisher
	destroying destroyer
	reading    dataApplier
	journal    *journal.Log
	outcomes   scope.Outcomes
	given      *given.Hasher
	steps      *future.Pool    // runs the steps
	preApply   *walk           // evaluates with the objects as they were: for the providers of destroyed objects
	changing   context.Context // of the calls that change objects: their answers are recorded until it ends

	lending    lending                          // of the same
	deliveries computed.Deliveries              // of computed values that are not stored
	delivering sync.Mutex                       // protects deliveries.Take
	takingOut  takingOut                        // of computed values that the state still has
	altered    plan.Instances                   // that the plan changes; set before any step starts
	neededOpen func() map[*blocks.Resource]bool // of the configuration

	mu        sync.Mutex // protects all below
	results   map[addr.Instance]cty.Value
	blocked   plan.Instances                 // whose step failed or was not reached
	opened    map[addr.Instance]struct{}     // ephemeral instances that were opened
	deposedBy map[addr.Instance]addr.Deposed // set aside by replacements that create first
	counts    plan.Counts
}

// nestedRead is a planned read of a data source that is nested in a check.
type nestedRead struct {
	change *plan.Change
	uses   []eval.Use
}

// dueCheck is a check that this apply evaluates, with its claims.
type dueCheck struct {
	*eval.Check
	uses []eval.Use
}

// instance returns the instance object of a change, nil if the configuration has no such block.
func (a *applier) instance(i addr.Instance) *eval.Instance {
	m := a.run.Module(i.Module)
	if m == nil || m.Resource(i.Resource) == nil {
		return nil
	}
	return m.Resource(i.Resource).Instance(i.Key)
}

// prepareInstance returns the instance of a change, once everything that it needs is evaluated. Nil means
// that it cannot be worked on, which was reported.
func (a *applier) prepareInstance(t *future.Task, c *plan.Change, does string) *eval.Instance {
	in := a.instance(c.Addr)
	if in == nil {
		a.run.Report(diag.Errorf("Configuration doesn't match the plan", "The plan %s %s, which the configuration does not declare. Make a new plan.", does, c.Addr))
		return nil
	}
	in.Prepare(t)
	if !in.InputsHold(t) {
		return nil
	}
	a.awaitOpenings(t, in)
	return in
}

// block remembers that the instance of a step has no final object, so that outputs that depend on it keep
// their old value. A deposed object is not the object of the instance any more.
func (a *applier) block(s *plan.Step) {
	c := s.Change
	if c == nil || c.Deposed != addr.Current || s.Leg == plan.DestroyLeg && c.Action == plan.CreateThenDelete || s.Leg == plan.InvokeLeg {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blocked.Add(c.Addr)
}

// result returns the final object of an instance.
func (a *applier) result(t *future.Task, in *eval.Instance) cty.Value {
	a.mu.Lock()
	v, ok := a.results[in.Addr()]
	if ok {
		a.results[in.Addr()] = cty.DynamicVal // the run has it from now on
	}
	a.mu.Unlock()
	if ok {
		return v
	}
	if a.deferred.Covers(in.Addr()) {
		return unknownObject(in)
	}
	return a.fromState(in)
}

// fromState returns the object as the state had it before the apply, unknown if there is none.
func (a *applier) fromState(in *eval.Instance) cty.Value {
	op := a.instanceOp(in)
	a.mu.Lock()
	o := a.req.Plan.Prior.Object(op.Obj)
	if o == nil && in.Config().Addr.Mode == addr.Data {
		o = a.req.Plan.Base.Object(op.Obj) // a plan to destroy drops data that was read
	}
	a.mu.Unlock()
	if o != nil {
		op.Withheld.NameRecorded(o)
	}
	if v, ok := op.Live(o); ok {
		return v
	}
	return unknownObject(in)
}

// applyChange asks a provider to change an object. Operations have a provider.Reader, so that nothing but
// this, which only an apply calls, can change anything.
func applyChange(ctx context.Context, p provider.Reader, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	return p.(provider.Changer).ApplyResource(ctx, req)
}

// invokeAction asks a provider to invoke an action. It is like applyChange.
func invokeAction(ctx context.Context, p provider.Reader, typeName string, config cty.Value, progress func(string)) diag.List {
	return p.(provider.Changer).InvokeAction(ctx, typeName, config, progress)
}
