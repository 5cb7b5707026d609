package engine

import (
	"crypto/rand"
	"errors"
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
	"github.com/mayfly-iac/mayfly/internal/engine/journal"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
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
	given  state.Hash // of the configuration
	stays  bool       // only its record changes: values that it is made of exist no more
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
		end := ia.StartSpan(string(kind), c.Action)
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
	if ia.prior, ok = ia.Upgrade(o); ok && slices.ContainsFunc(ia.change.Withheld, withheld.IsImported) {
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
	ia.given = hashGiven(&ia.objectOp, ia.a.given, ia.t, ia.in, config)
	evaluateMade(ia.t, &ia.objectOp, ia.s.Opened, ia.in, config.Computed)
	if config.Value, ok = leaveOutUnavailable(ia, config); !ok || !settlesAgain(ia, config) {
		return false
	}
	ia.Withheld.Making = withheld.Making{
		At: ia.walk.opt.Now().UTC().Truncate(time.Second), Created: ia.change.Action != plan.Update,
		To: func(p cty.Path) []addr.ConfigResource { return computed.BlocksOf(withheld.ConsumersOf(ia.change, p)) },
	}
	if ia.change.Action == plan.Update {
		ia.Withheld.Making.Prior = ia.prior.Value
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
	if !schema.WhollyKnown(ia.config.Value) {
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
	if takesPart(ia) {
		o := ia.object(planned, ia.prior.Private, ia.prior.Identity, object.Applied{})
		if o == nil {
			return false
		}
		ia.a.takingOut.add(ia, o)
		return ia.in.Postconditions(ia.t, ia.s.Opened, ia.final(planned, o))
	}
	entry := ia.a.journal.Begin(ia.Obj, "update")
	if entry == nil {
		return false
	}
	o := ia.object(planned, ia.prior.Private, ia.prior.Identity, object.Applied{})
	if o == nil {
		entry.End(true)
		return false
	}
	ok := endDelivered(ia.a, entry, ia.Obj.Instance, ia.a.outcomes.Applied(ia.change, ia.in, ia.given, ia.changeTo(o)))
	self := ia.final(planned, o)
	return ia.a.outcomes.Passed(ia.change, ia.in, ok && ia.in.Postconditions(ia.t, ia.s.Opened, self))
}

// object makes the state's record of v, the object after an apply.
func (ia *instanceApply) object(v cty.Value, private []byte, identity cty.Value, left object.Applied) *state.Object {
	o := ia.StateObject(v, slices.Concat(ia.config.Sensitive, ia.Block().SensitivePaths(v)), private, identity, nil)
	if o != nil {
		sent := ia.config.Value
		if left.Failed || ia.stays {
			sent = cty.NilVal // it may not have been taken, or nothing was sent
		}
		o.Withheld = ia.Withheld.Records(v, sent, ia.prior.Object)
		if ia.stays {
			recordRemade(ia, o.Withheld)
		}
		o.Tainted, o.Dependencies, o.CreateBeforeDestroy = left.Tainted, scope.Dependencies(ia.change.Deps), ia.change.CreateBeforeDestroy
		o.SkipDestroy = ia.in.Config().Lifecycle.SkipDestroy()
		ia.KeepIdentity(o, ia.prior.Object)
	}
	return o
}

func (ia *instanceApply) changeTo(o *state.Object) state.ObjectChange {
	return state.ObjectChange{Object: ia.Obj, Provider: ia.change.Provider, New: o}
}

// final makes v, which is recorded as o, the instance's value for everything downstream, and returns it as
// references see it. Computed values that are not stored are lent to those who may read them.
func (ia *instanceApply) final(v cty.Value, o *state.Object) cty.Value {
	keepForLater(ia, v)
	v = ia.Mark(v, ia.config, o.Withheld)
	blank, lends := value.Blank(v)
	if lends {
		ia.s.Lend(ia.in, v)
	}
	ia.a.mu.Lock()
	defer ia.a.mu.Unlock()
	ia.a.results[ia.Obj.Instance] = ia.in.Resource.Kept(blank)
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
	entry := ia.a.journal.Begin(ia.Obj, string(kind))
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
	answer := askToApply(ia, planned)
	answer.AcceptRest()
	o, resp := answer.Applied, answer.Resp
	if o.Exists && !o.Failed && kind == event.OpCreate && len(ia.in.Provisioners()) > 0 {
		entry = ia.provision(entry, &o, resp)
	}
	idKey, id = object.Identifying(o.Value, ia.Block(), ia.config.Sensitive)
	if entry == nil {
		done(o.Diags, idKey, id)
		return false
	}
	entry.OnDurable = func(more diag.List) { done(append(o.Diags, more...), idKey, id) }
	entry.Task, entry.Turn = ia.t, ia.s.Turn()
	return ia.conclude(entry, o, resp, deposed, kind)
}

// provision runs the provisioners of a new object. The object is recorded as tainted first, because it
// exists even if this process dies meanwhile. It returns the journal entry for the final record.
func (ia *instanceApply) provision(entry *journal.Entry, o *object.Applied, resp provider.ApplyResponse) *journal.Entry {
	tainted := ia.object(o.Value, resp.Private, resp.Identity, object.Applied{Tainted: true})
	if tainted == nil || !entry.End(false, ia.changeTo(tainted)) {
		return nil
	}
	if entry = ia.a.journal.Begin(ia.Obj, state.ProvisionAction); entry == nil {
		return nil
	}
	pv := provisioning{walk: ia.walk, t: ia.t, s: ia.s, of: ia.in, obj: ia.Obj, action: plan.Create, ctx: ia.Ctx, self: ia.Mark(o.Value, ia.config, tainted.Withheld)}
	if !pv.run("is tainted and will be replaced") {
		o.Failed, o.Tainted = true, true
		o.Diags = append(o.Diags, diag.Diagnostic{Summary: "Provisioner failed"}) // for the event; the reason was reported
	}
	return entry
}

// depose sets the current object aside for a replacement that creates first.
func (ia *instanceApply) depose(entry *journal.Entry) (addr.Object, bool) {
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
		entry.End(true)
		return none, false
	}
	deposed := addr.Object{Instance: ia.Obj.Instance, Deposed: key}
	aside := ia.a.journal.Begin(deposed, "depose")
	if aside == nil || !aside.End(false, state.ObjectChange{Object: ia.Obj, Provider: ia.change.Provider}, state.ObjectChange{Object: deposed, Provider: ia.change.Provider, New: old}) {
		entry.End(true)
		return none, false
	}
	ia.a.mu.Lock()
	ia.a.deposedBy[ia.Obj.Instance] = key
	ia.a.mu.Unlock()
	if ia.a.req.Memory.Seen(ia.Obj) {
		ia.a.req.Memory.See(deposed)
	}
	return deposed, true
}

// conclude records the outcome.
func (ia *instanceApply) conclude(entry *journal.Entry, o object.Applied, resp provider.ApplyResponse, deposed addr.Object, kind event.Op) bool {
	if o.Untouched {
		entry.End(true)
		return false
	}
	if !o.Exists {
		if deposed.Deposed != addr.Current {
			return ia.undepose(entry, deposed)
		}
		entry.End(true)
		return false
	}
	obj := ia.object(o.Value, resp.Private, resp.Identity, o)
	if obj == nil {
		entry.End(true)
		return false
	}
	ok, stored := true, stillStored(ia, obj, o, resp)
	if o.Failed {
		entry.End(true, ia.changeTo(stored))
	} else {
		ok = endDelivered(ia.a, entry, ia.Obj.Instance, ia.a.outcomes.Applied(ia.change, ia.in, ia.given, ia.changeTo(stored)))
	}
	reportMissed(ia, obj)
	self := ia.final(o.Value, obj)
	if o.Failed {
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
	return ia.a.outcomes.Passed(ia.change, ia.in, ia.in.Postconditions(ia.t, ia.s.Opened, self) && ok)
}

// undepose puts the old object back in its place after the new one could not be made.
func (ia *instanceApply) undepose(entry *journal.Entry, deposed addr.Object) bool {
	old := ia.a.object(deposed)
	entry.End(true, ia.changeTo(old), state.ObjectChange{Object: deposed, Provider: ia.change.Provider})
	return false
}
