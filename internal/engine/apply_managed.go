package engine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// instanceApply creates or updates one managed instance.
type instanceApply struct {
	objectOp
	a      *applier
	t      *future.Task
	s      *ephemeral.Session
	in     *eval.Instance
	change *plan.Change

	prior  object.Prior // nothing when creating
	config object.Config
	stays  bool // only its record changes: values that it is made of exist no more
}

// applyStep creates or updates the instance of a change. The instance is prepared before it takes a slot: a
// task that waited for evaluation within a slot could block the tasks it waits for.
func (a *applier) applyStep(t *future.Task, c *plan.Change) bool {
	in := a.prepareInstance(t, c, "changes")
	if in == nil {
		return false
	}
	ok, kind := false, event.OpCreate
	if c.Action == plan.Update {
		kind = event.OpUpdate
	}
	a.inSession(t, in, kind, func(s *ephemeral.Session) {
		ia := instanceApply{objectOp: a.instanceOp(in), a: a, t: t, s: s, in: in, change: c}
		end := ia.startSpan(string(kind), c.Action)
		ok = ia.apply()
		end(ok)
	})
	return ok
}

// apply plans the change a second time, with final values, and carries it out. Values that were unknown in
// the first plan, and ephemeral values, which may differ at each evaluation, are known only now.
func (ia *instanceApply) apply() bool {
	var needs []eval.Need
	if len(ia.in.Resource.Block.Preconditions) == 0 {
		needs = ia.s.BodyNeeds(ia.t, ia.in)
	}
	if !ia.Use(ia.s.ProviderOf(ia.t, ia.in, needs...)) {
		return false
	}
	if !ia.in.Preconditions(ia.t, ia.s.Opened) || !ia.loadPrior() || !ia.evaluateConfig() {
		return false
	}
	if ia.stays {
		return ia.nothingToDo(ia.prior.Value)
	}
	planned, ok := ia.planAgain()
	if !ok {
		return false
	}
	if ia.change.Action == plan.Update && planned.Planned.RawEquals(ia.prior.Value) {
		return ia.nothingToDo(planned.Planned)
	}
	return ia.carryOut(planned)
}

// loadPrior loads the object that an update starts from. A creation starts from nothing, even if it is half
// of a replacement.
func (ia *instanceApply) loadPrior() bool {
	ia.prior = object.NoPrior(ia.Block())
	ia.Recorded = ia.a.recorded(ia.change)
	ia.PublishImporting(ia.change.Importing)
	if ia.change.Action != plan.Update {
		ia.PublishRecorded()
		return true
	}
	o := ia.a.object(ia.Obj)
	if o == nil {
		ia.Report(diag.Errorf("Object to update is gone", "The plan updates %s, but the state has no such object any more. Make a new plan.", ia.Obj))
		return false
	}
	ia.Answers.Later = true // the object read for the plan is judged again, since more may be known now
	var ok bool
	if ia.prior, ok = ia.Upgrade(o); ok && slices.ContainsFunc(ia.change.Withheld, isImported) {
		ia.prior, ok = object.ImportAgain(&ia.Op, ia.change.Importing, o, ia.meta(ia.in))
	}
	return ok
}

// recorded returns the object of a change as the state had it before the command, an empty one if it had
// none.
func (a *applier) recorded(c *plan.Change) *state.Object {
	if o := a.req.Plan.Base.Object(addr.Object{Instance: c.PrevAddr, Deposed: c.Deposed}); o != nil {
		return o
	}
	return &state.Object{}
}

// evaluateConfig evaluates the configuration with final upstream values and fresh leases.
func (ia *instanceApply) evaluateConfig() bool {
	config, ok := ia.evaluate(ia.t, ia.s, ia.in)
	if !ok || ia.Answers.Later && !ia.Review(&ia.prior, ia.Recorded.Private) {
		return false
	}
	if !evaluateVersions(ia.t, ia.in, &ia.objectOp) {
		return false
	}
	evaluateMade(ia.t, &ia.objectOp, ia.s.Opened, ia.in, config.Computed)
	if config.Value, ok = leaveOutUnavailable(ia, config); !ok || !settlesAgain(ia, config) {
		return false
	}
	ia.Withheld.Making = withheld.Making{
		At: ia.walk.opt.Now().UTC().Truncate(time.Second), Created: ia.change.Action != plan.Update,
		To: func(p cty.Path) []addr.ConfigResource { return computed.ConsumersOf(ia.change, p) },
	}
	ia.Withheld.Lost = true // as far as the plan assumes so
	ia.Withheld.Assume = func(p cty.Path) bool {
		return slices.ContainsFunc(ia.change.Withheld, func(w plan.Withheld) bool { return w.Status == plan.WithheldAssumed && w.Path.Equals(p) })
	}
	ia.prior.Value = ia.Withheld.Fill(ia.prior.Value, ia.prior.Object, config.Value)
	ia.config = ia.IgnoreChanges(config, &ia.in.Config().Lifecycle, ia.prior)
	if ia.stays {
		ia.config.Value = ia.Withheld.Hide(ia.config.Value)
	}
	if !ia.config.Value.IsWhollyKnown() {
		ia.Report(diag.Errorf("Configuration contains unknown value", "The configuration of %s is still not wholly known, although everything that it refers to has been applied. This is usually caused by a provider that left an attribute unknown.", ia.Obj))
		return false
	}
	return true
}

// planAgain has the provider plan again, with the values known now. The result must keep every promise of the
// first plan, except for those that it would not have made if all write-only values had been known.
func (ia *instanceApply) planAgain() (planned provider.PlanResponse, ok bool) {
	first, err := ia.change.After.Unmarked()
	if err == nil && !ia.change.After.Type().Equals(ia.Block().Type()) {
		err = errors.New("it does not fit the provider's schema; the provider may have changed since the plan was made")
	}
	if err != nil {
		ia.Report(diag.Errorf("Plan cannot be read", "The planned object of %s cannot be used: %s. Make a new plan.", ia.Obj, err))
		return
	}
	first = ia.Answers.Without(first, contract.Plan)
	if !ia.validate(first) {
		return
	}
	req := object.PlanRequest{
		Prior: ia.prior, Config: ia.config.Value, Meta: ia.meta(ia.in), First: first, Private: ia.change.PlannedPrivate,
	}
	if planned, ok = ia.Plan(req); !ok {
		return planned, false
	}
	if normal, found := ia.Withheld.Normalized(ia.prior.Value, ia.prior.Object, planned.Planned); found {
		ia.prior.Value, req.Prior.Value = normal, normal
		if planned, ok = ia.Plan(req); !ok {
			return planned, false
		}
	}
	return planned, staysUpdate(ia, planned) && staysSeen(ia, planned)
}

// validate has the provider validate the configuration again if it differs from the one it saw while
// planning: ephemeral values may have changed, and unknown values have become known.
func (ia *instanceApply) validate(first cty.Value) bool {
	if slices.ContainsFunc(ia.config.Computed, func(part value.ComputedPart) bool { return part.Of.Past }) {
		return true // it has null in place of a value, and was validated without that
	}
	if !ia.config.Ephemeral && !contract.SaysMore(ia.Block(), ia.config.Value, first) {
		return true
	}
	diags := ia.Provider.ValidateResource(ia.Ctx, addr.Managed, ia.TypeName(), ia.config.Value)
	ia.Report(diags)
	return !diags.HasErrors()
}

// nothingToDo ends an update that, with final values, changes only the state's record of the object.
func (ia *instanceApply) nothingToDo(planned cty.Value) bool {
	entry := ia.a.beginEntry(ia.Obj, "update")
	if entry == nil {
		return false
	}
	o := ia.object(planned, ia.prior.Private, ia.prior.Identity, applied{})
	if o == nil {
		entry.end(true)
		return false
	}
	ok := endDelivered(ia.a, entry, ia.Obj.Instance, ia.changeTo(o))
	self := ia.final(planned, o)
	return ok && ia.in.Postconditions(ia.t, ia.s.Opened, self)
}

// object makes the state's record of v, the object after an apply.
func (ia *instanceApply) object(v cty.Value, private []byte, identity cty.Value, left applied) *state.Object {
	o := ia.StateObject(v, slices.Concat(ia.config.Sensitive, ia.Block().SensitivePaths(v)), private, identity, nil)
	if o != nil {
		sent := ia.config.Value
		if left.failed || ia.stays {
			sent = cty.NilVal // it may not have been taken, or nothing was sent
		}
		o.Withheld = ia.Withheld.Records(v, sent, ia.prior.Object)
		if ia.stays {
			recordRemade(ia, o.Withheld)
		}
		o.Tainted, o.Dependencies, o.CreateBeforeDestroy = left.tainted, stateDeps(ia.change.Deps), ia.change.CreateBeforeDestroy
		o.SkipDestroy = ia.in.Config().Lifecycle.SkipDestroy()
		ia.KeepIdentity(o, ia.prior.Object)
	}
	return o
}

func (ia *instanceApply) changeTo(o *state.Object) state.ObjectChange {
	return state.ObjectChange{Object: ia.Obj, Provider: ia.change.Provider, New: o}
}

// final makes v, which is recorded as o, the instance's value for everything downstream, and returns it as
// references see it.
func (ia *instanceApply) final(v cty.Value, o *state.Object) cty.Value {
	v = ia.Mark(v, ia.config, o.Withheld)
	ia.a.mu.Lock()
	defer ia.a.mu.Unlock()
	ia.a.results[ia.Obj.Instance] = v
	return v
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
	if ia.walk.interrupted() {
		return false
	}
	entry := ia.a.beginEntry(ia.Obj, string(kind))
	if entry == nil {
		return false
	}
	if entry = oweFirst(ia, entry); entry == nil {
		return false
	}
	deposed, ok := ia.depose(entry)
	if !ok {
		return false
	}
	idKey, id := object.Identifying(ia.prior.Value, ia.Block(), ia.config.Sensitive)
	done := ia.walk.events.Begin(kind, ia.Obj, action, idKey, id)
	o, resp, failed := askToApply(ia, planned)
	resp.Identity = ia.acceptIdentity(resp.Identity, failed, &o)
	if resp.Private == nil && o.failed {
		resp.Private = ia.prior.Private // an error answer may leave it out
	}
	resp.Private = ia.acceptPrivate(resp.Private, &o)
	if o.exists && !o.failed && kind == event.OpCreate && len(ia.in.Provisioners()) > 0 {
		entry = ia.provision(entry, &o, resp)
	}
	idKey, id = object.Identifying(o.value, ia.Block(), ia.config.Sensitive)
	if entry == nil {
		done(o.diags, idKey, id)
		return false
	}
	entry.onDurable = func(more diag.List) { done(append(o.diags, more...), idKey, id) }
	entry.task, entry.turn = ia.t, ia.s.Turn()
	return ia.conclude(entry, o, resp, deposed, kind)
}

// acceptPrivate returns the private data of an answer as far as it may be stored.
func (ia *instanceApply) acceptPrivate(private []byte, o *applied) []byte {
	private, leaks := ia.Answers.AcceptPrivate(private, ia.prior.Private, contract.Object)
	ia.fault(o, leaks)
	return private
}

// fault reports errors in an answer besides its object, which is kept.
func (ia *instanceApply) fault(o *applied, diags diag.List) {
	ia.Report(diags)
	o.diags, o.failed = append(o.diags, diags...), o.failed || diags.HasErrors()
}

// acceptIdentity returns the identity after an apply: the one the provider returned, or else the prior one.
// failed reports whether the provider did; its answer may leave the identity unknown then.
func (ia *instanceApply) acceptIdentity(id cty.Value, failed bool, o *applied) cty.Value {
	if failed && id != cty.NilVal && !id.IsWhollyKnown() {
		return ia.prior.Identity
	}
	got, wrong := ia.Answers.AcceptIdentity(id, contract.Object)
	ia.fault(o, wrong)
	if got == cty.NilVal || got.IsNull() {
		return ia.prior.Identity
	}
	ia.LogIdentity("applying", ia.prior.Identity, got)
	return got
}

// provision runs the provisioners of a new object. The object is recorded as tainted first, because it
// exists even if this process dies meanwhile. It returns the journal entry for the final record.
func (ia *instanceApply) provision(entry *journalEntry, o *applied, resp provider.ApplyResponse) *journalEntry {
	tainted := ia.object(o.value, resp.Private, resp.Identity, applied{tainted: true})
	if tainted == nil || !entry.end(false, ia.changeTo(tainted)) {
		return nil
	}
	if entry = ia.a.beginEntry(ia.Obj, string(event.OpProvision)); entry == nil {
		return nil
	}
	pv := provisioning{walk: ia.walk, t: ia.t, s: ia.s, of: ia.in, obj: ia.Obj, action: plan.Create, ctx: ia.Ctx, self: ia.Mark(o.value, ia.config, tainted.Withheld)}
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
	old := ia.a.object(ia.Obj)
	if old == nil {
		return none, true
	}
	key, err := state.NewDeposedKey(func(key addr.Deposed) bool {
		return ia.a.object(addr.Object{Instance: ia.Obj.Instance, Deposed: key}) != nil
	}, rand.Reader)
	if err != nil {
		ia.Report(diag.Errorf("Cannot set the old object aside", "No key for the deposed object of %s: %s.", ia.Obj, err))
		entry.end(true)
		return none, false
	}
	deposed := addr.Object{Instance: ia.Obj.Instance, Deposed: key}
	aside := ia.a.beginEntry(deposed, "depose")
	if aside == nil || !aside.end(false, state.ObjectChange{Object: ia.Obj, Provider: ia.change.Provider}, state.ObjectChange{Object: deposed, Provider: ia.change.Provider, New: old}) {
		entry.end(true)
		return none, false
	}
	ia.a.mu.Lock()
	ia.a.deposedBy[ia.Obj.Instance] = key
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
	obj := ia.object(o.value, resp.Private, resp.Identity, o)
	if obj == nil {
		entry.end(true)
		return false
	}
	ok := true
	if o.failed {
		entry.end(true, ia.changeTo(obj))
	} else {
		ok = endDelivered(ia.a, entry, ia.Obj.Instance, ia.changeTo(obj))
	}
	reportMissed(ia, obj)
	self := ia.final(o.value, obj)
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
	return ia.in.Postconditions(ia.t, ia.s.Opened, self) && ok
}

// undepose puts the old object back in its place after the new one could not be made.
func (ia *instanceApply) undepose(entry *journalEntry, deposed addr.Object) bool {
	old := ia.a.object(deposed)
	entry.end(true, ia.changeTo(old), state.ObjectChange{Object: deposed, Provider: ia.change.Provider})
	return false
}

// applied is the state of an object after an apply call.
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
// other parts of the answer are wrong. Parts that were left out, since they cannot be stored,
// taint nothing, though the operation fails.
func (ia *instanceApply) accept(planned provider.PlanResponse, resp provider.ApplyResponse, diags diag.List) applied {
	o := applied{value: resp.New, failed: diags.HasErrors(), tainted: diags.HasErrors()}
	if resp.New == cty.NilVal || resp.New.IsNull() {
		if !o.failed {
			diags = append(diags, ia.Answers.Violations(contract.Object, fmt.Errorf("%w after it was applied", contract.ErrNull))...)
		}
		return ia.unusable(o, diags)
	}
	_, unstorable := value.Storable(resp.New, ia.Block().Type())
	v, diags := ia.Answers.Accept(resp.New, diags, contract.Object)
	if v == cty.NilVal {
		return ia.unusable(o, diags)
	}
	if errs := schema.AssertWhollyKnown(v); len(errs) > 0 {
		for _, err := range errs {
			diags = append(diags, ia.Answers.Violations(contract.Object, fmt.Errorf("%s: unknown values are not allowed after apply", contract.Text(err, schema.PathString)))...)
		}
		v, o.tainted = contract.NullUnknown(v), true
	} else if !o.failed && len(unstorable) == 0 {
		check := func() []error { return schema.AssertApplyResult(ia.Block(), planned.Planned, v) }
		if planned.LegacyTypes || resp.LegacyTypes {
			ia.LogTolerated(contract.Object, check)
		} else if errs := check(); len(errs) > 0 {
			diags, o.tainted = append(diags, ia.Answers.Violations(contract.Result, errs...)...), true
		}
	}
	o.value, o.exists, o.diags = v, true, diags
	o.failed = diags.HasErrors()
	o.tainted = (o.tainted || ia.Answers.Exposed) && o.failed && ia.prior.Value.IsNull()
	ia.Report(diags)
	return o
}

// unusable returns the result of an answer without an object that can be kept: an object that was there
// before stays as it was.
func (ia *instanceApply) unusable(o applied, diags diag.List) applied {
	ia.Report(diags)
	o.failed, o.diags = true, diags
	if !ia.prior.Value.IsNull() {
		o.value, o.untouched = ia.prior.Value, true
	}
	return o
}
