package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/contract"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// instanceApply creates or updates one managed instance.
type instanceApply struct {
	objectOp
	a      *applier
	t      *future.Task
	s      *eval.Session
	in     *eval.Instance
	change *plan.Change

	prior  prior // nothing when creating
	config evaluated
}

// applyStep creates or updates the instance of a change. Everything durable is prepared before it takes a
// slot: a task that waited for evaluation within a slot could block the tasks it waits for.
func (a *applier) applyStep(t *future.Task, c *plan.Change) bool {
	in := a.prepareInstance(t, c, "changes")
	if in == nil {
		return false
	}
	ok, kind := false, event.OpCreate
	if c.Action == plan.Update {
		kind = event.OpUpdate
	}
	a.inSession(t, in, kind, func(s *eval.Session) {
		ia := instanceApply{objectOp: a.instanceOp(in), a: a, t: t, s: s, in: in, change: c}
		ok = ia.apply()
	})
	return ok
}

// apply plans the change a second time, with final values, and carries it out. Values that were unknown in
// the first plan, and ephemeral values, which may differ at each evaluation, are known only now.
func (ia *instanceApply) apply() bool {
	ia.p = ia.openFor(ia.t, ia.s, ia.in, len(ia.in.Resource.Block.Preconditions) == 0)
	if ia.p == nil {
		return false
	}
	if !ia.in.Preconditions(ia.t, ia.s) || !ia.loadPrior() || !ia.evaluateConfig() {
		return false
	}
	planned, ok := ia.planAgain()
	if !ok {
		return false
	}
	if ia.change.Action == plan.Update && planned.Planned.RawEquals(ia.prior.value) {
		return ia.nothingToDo(planned.Planned)
	}
	return ia.carryOut(planned)
}

// loadPrior loads the object that an update starts from. A creation starts from nothing, even if it is half
// of a replacement.
func (ia *instanceApply) loadPrior() bool {
	ia.prior = noPrior(ia.block())
	if ia.change.Action != plan.Update {
		return true
	}
	o := ia.a.object(ia.obj)
	if o == nil {
		ia.report(diag.Errorf("Object to update is gone", "The plan updates %s, but the state has no such object any more. Make a new plan.", ia.obj))
		return false
	}
	var ok bool
	ia.prior, ok = ia.upgrade(o)
	return ok
}

// evaluateConfig evaluates the configuration with final upstream values and fresh leases.
func (ia *instanceApply) evaluateConfig() bool {
	config, ok := ia.evaluate(ia.t, ia.s, ia.in)
	if !ok {
		return false
	}
	ia.config = ia.ignoreChanges(config, &ia.in.Config().Lifecycle, ia.prior)
	if !ia.config.value.IsWhollyKnown() {
		ia.report(diag.Errorf("Configuration contains unknown value", "The configuration of %s is still not wholly known, although everything that it refers to has been applied. This is usually caused by a provider that left an attribute unknown.", ia.obj))
		return false
	}
	return true
}

// planAgain has the provider plan again, with what is known now. The result must keep every promise of the
// first plan.
func (ia *instanceApply) planAgain() (planned provider.PlanResponse, ok bool) {
	first, err := ia.change.After.Unmarked()
	if err == nil && !ia.change.After.Type().Equals(ia.block().Type()) {
		err = errors.New("it does not fit the provider's schema; the provider may have changed since the plan was made")
	}
	if err != nil {
		ia.report(diag.Errorf("Plan cannot be read", "The planned object of %s cannot be used: %s. Make a new plan.", ia.obj, err))
		return
	}
	if !ia.validate(first) {
		return
	}
	return ia.plan(planRequest{
		prior: ia.prior, config: ia.config.value, meta: ia.meta(ia.in), first: first, private: ia.change.PlannedPrivate,
	})
}

// validate has the provider validate the configuration again if it differs from the one it saw while
// planning: ephemeral values may have changed, and unknown values have become known.
func (ia *instanceApply) validate(first cty.Value) bool {
	if !ia.config.ephemeral && !contract.SaysMore(ia.block(), ia.config.value, first) {
		return true
	}
	diags := ia.p.ValidateResource(ia.ctx, addr.Managed, ia.typeName(), ia.config.value)
	ia.report(diags)
	return !diags.HasErrors()
}

// nothingToDo ends an update that, with final values, changes only the state's record of the object.
func (ia *instanceApply) nothingToDo(planned cty.Value) bool {
	entry := ia.a.begin(ia.obj, "update")
	if entry == nil {
		return false
	}
	o := ia.object(planned, ia.prior.private, ia.prior.identity, false)
	if o == nil {
		entry.end(true)
		return false
	}
	ok := entry.end(false, ia.changeTo(o))
	ia.final(planned)
	return ok && ia.in.Postconditions(ia.t, ia.s, ia.mark(planned, ia.config.sensitive))
}

// object makes the state's record of v.
func (ia *instanceApply) object(v cty.Value, private []byte, identity cty.Value, tainted bool) *state.Object {
	o := ia.stateObject(v, slices.Concat(ia.config.sensitive, ia.block().SensitivePaths(v)), private, identity, nil)
	if o != nil {
		o.Tainted, o.Dependencies, o.CreateBeforeDestroy = tainted, stateDeps(ia.change.Deps), ia.change.CreateBeforeDestroy
		o.SkipDestroy = ia.in.Config().Lifecycle.SkipDestroy()
	}
	return o
}

func (ia *instanceApply) changeTo(o *state.Object) state.ObjectChange {
	return state.ObjectChange{Object: ia.obj, Provider: ia.change.Provider, New: o}
}

// final makes v the instance's value for everything downstream.
func (ia *instanceApply) final(v cty.Value) {
	ia.a.mu.Lock()
	defer ia.a.mu.Unlock()
	ia.a.results[ia.obj.Instance] = ia.mark(v, ia.config.sensitive)
}

// carryOut makes the change that was planned.
func (ia *instanceApply) carryOut(planned provider.PlanResponse) bool {
	kind, action := event.OpCreate, plan.Create
	if ia.change.Action == plan.Update {
		kind, action = event.OpUpdate, plan.Update
	}
	if !ia.s.Fresh() { // planning may have outlasted a lease
		return false
	}
	if ia.interrupted() {
		return false
	}
	entry := ia.a.begin(ia.obj, string(kind))
	if entry == nil {
		return false
	}
	deposed, ok := ia.depose(entry)
	if !ok {
		return false
	}
	idKey, id := identifying(ia.prior.value, ia.block(), ia.config.sensitive)
	done := ia.events.Begin(kind, ia.obj, action, idKey, id)
	resp, diags := ia.p.ApplyResource(ia.a.changing, provider.ApplyRequest{
		Type: ia.typeName(), Prior: ia.prior.value, Planned: planned.Planned, Config: ia.config.value, PlannedPrivate: planned.Private, Identity: planned.Identity,
		ProviderMeta: ia.meta(ia.in),
	})
	resp.Identity, diags = ia.newIdentity(resp.Identity, diags)
	o := ia.accept(planned, resp, diags)
	if resp.Private == nil && o.failed {
		resp.Private = ia.prior.private // an error answer may leave it out
	}
	if o.exists && !o.failed && kind == event.OpCreate && len(ia.in.Provisioners()) > 0 {
		entry = ia.provision(entry, &o, resp)
	}
	idKey, id = identifying(o.value, ia.block(), ia.config.sensitive)
	if entry == nil {
		done(o.diags, idKey, id)
		return false
	}
	entry.onDurable = func(more diag.List) { done(append(o.diags, more...), idKey, id) }
	return ia.conclude(entry, o, resp, deposed, kind)
}

// newIdentity returns the identity after an apply: the one the provider returned, or else the prior one.
func (ia *instanceApply) newIdentity(id cty.Value, diags diag.List) (cty.Value, diag.List) {
	got, wrong := ia.answers.AcceptIdentity(id, contract.Object)
	if !diags.HasErrors() {
		diags = append(diags, wrong...)
	}
	if got == cty.NilVal || got.IsNull() {
		return ia.prior.identity, diags
	}
	ia.noteIdentity("applying", ia.prior.identity, got)
	return got, diags
}

// provision runs the provisioners of a new object. The object is recorded as tainted first, because it
// exists even if this process dies meanwhile. It returns the journal entry for the final record.
func (ia *instanceApply) provision(entry *journalEntry, o *applied, resp provider.ApplyResponse) *journalEntry {
	tainted := ia.object(o.value, resp.Private, resp.Identity, true)
	if tainted == nil || !entry.end(false, ia.changeTo(tainted)) {
		return nil
	}
	if entry = ia.a.begin(ia.obj, string(event.OpProvision)); entry == nil {
		return nil
	}
	pv := provisioning{walk: ia.walk, t: ia.t, s: ia.s, of: ia.in, obj: ia.obj, action: plan.Create, self: ia.mark(o.value, ia.config.sensitive)}
	if !pv.run("is tainted and will be replaced") {
		o.failed, o.tainted = true, true
		o.diags = append(o.diags, diag.Diagnostic{Summary: "Provisioner failed"}) // for the event; the reason was reported
	}
	return entry
}

// depose sets the current object aside for a replacement that creates first.
func (ia *instanceApply) depose(entry *journalEntry) (addr.Object, bool) {
	none := addr.Object{}
	if ia.change.Action != plan.CreateThenDelete {
		return none, true
	}
	old := ia.a.object(ia.obj)
	if old == nil {
		return none, true
	}
	ia.a.mu.Lock()
	key, err := ia.a.state.NewDeposedKey(ia.obj.Instance, rand.Reader)
	ia.a.mu.Unlock()
	if err != nil {
		ia.report(diag.Errorf("Cannot set the old object aside", "No key for the deposed object of %s: %s.", ia.obj, err))
		entry.end(true)
		return none, false
	}
	deposed := addr.Object{Instance: ia.obj.Instance, Deposed: key}
	aside := ia.a.begin(deposed, "depose")
	if aside == nil || !aside.end(false, state.ObjectChange{Object: ia.obj, Provider: ia.change.Provider}, state.ObjectChange{Object: deposed, Provider: ia.change.Provider, New: old}) {
		entry.end(true)
		return none, false
	}
	ia.a.mu.Lock()
	ia.a.deposedBy[ia.obj.Instance] = key
	ia.a.mu.Unlock()
	return deposed, true
}

// conclude records the outcome.
func (ia *instanceApply) conclude(entry *journalEntry, o applied, resp provider.ApplyResponse, deposed addr.Object, kind event.Op) bool {
	if o.untouched {
		entry.end(true)
		return false
	}
	if !o.exists {
		if deposed.Deposed != addr.Current {
			return ia.undepose(entry, deposed)
		}
		entry.end(true)
		return false
	}
	obj := ia.object(o.value, resp.Private, resp.Identity, o.tainted)
	if obj == nil {
		entry.end(true)
		return false
	}
	ok := entry.end(o.failed, ia.changeTo(obj))
	ia.final(o.value)
	if o.failed {
		return false
	}
	ia.a.count(func(n *plan.Counts) {
		if kind == event.OpUpdate {
			n.Change++
		} else {
			n.Add++
		}
		if ia.change.Action == plan.ForgetThenCreate {
			n.Forget++
		}
	})
	return ia.in.Postconditions(ia.t, ia.s, ia.mark(o.value, ia.config.sensitive)) && ok
}

// undepose puts the old object back in its place after the new one could not be made.
func (ia *instanceApply) undepose(entry *journalEntry, deposed addr.Object) bool {
	old := ia.a.object(deposed)
	entry.end(true, ia.changeTo(old), state.ObjectChange{Object: deposed, Provider: ia.change.Provider})
	return false
}

// applied is what is left of an object after an apply call.
type applied struct {
	value   cty.Value
	exists  bool
	failed  bool
	tainted bool
	// untouched is set if the response says nothing about the object, so that its record stays as it was.
	untouched bool
	diags     diag.List
}

// accept checks the answer to an apply call against the contract. An object that exists is kept, even if
// other parts of the answer are wrong.
func (ia *instanceApply) accept(planned provider.PlanResponse, resp provider.ApplyResponse, diags diag.List) applied {
	o := applied{value: resp.New, failed: diags.HasErrors(), tainted: diags.HasErrors()}
	if resp.New == cty.NilVal || resp.New.IsNull() {
		if !o.failed {
			diags = append(diags, ia.answers.Violations(contract.Object, fmt.Errorf("%w after it was applied", contract.ErrNull))...)
		}
		return ia.unusable(o, diags)
	}
	v, diags := ia.answers.Accept(resp.New, diags, contract.Object)
	if v == cty.NilVal {
		return ia.unusable(o, diags)
	}
	if errs := schema.AssertWhollyKnown(v); len(errs) > 0 {
		for _, err := range errs {
			diags = append(diags, ia.answers.Violations(contract.Object, fmt.Errorf("%s: unknown values are not allowed after apply", contract.Text(err, schema.PathString)))...)
		}
		v, o.tainted = contract.NullUnknown(v), true
	} else if !o.failed {
		check := func() []error { return schema.AssertApplyResult(ia.block(), planned.Planned, v) }
		if planned.LegacyTypes || resp.LegacyTypes {
			ia.logTolerated(contract.Object, check)
		} else if errs := check(); len(errs) > 0 {
			diags, o.tainted = append(diags, ia.answers.Violations(contract.Result, errs...)...), true
		}
	}
	v, diags = ia.answers.DropCopiedSecrets(ia.config.value, v, diags, contract.Object)
	o.value, o.exists, o.diags = v, true, diags
	o.failed = diags.HasErrors()
	o.tainted = o.tainted && o.failed && ia.prior.value.IsNull()
	ia.report(diags)
	return o
}

// unusable is what an answer leaves without an object that can be kept: an object that was there before
// stays as it was.
func (ia *instanceApply) unusable(o applied, diags diag.List) applied {
	ia.report(diags)
	o.failed, o.diags = true, diags
	if !ia.prior.value.IsNull() {
		o.value, o.untouched = ia.prior.value, true
	}
	return o
}
