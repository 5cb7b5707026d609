package engine

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/slot"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/journal"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// destroyer destroys and forgets objects.
type destroyer struct {
	*walk
	applier *applier
}

// step destroys the current, replaced or deposed object of a change.
func (de *destroyer) step(t *future.Task, c *plan.Change) bool {
	obj := c.Object()
	if c.Action == plan.CreateThenDelete {
		de.applier.mu.Lock()
		key, ok := de.applier.deposedBy[c.Addr]
		de.applier.mu.Unlock()
		if !ok {
			return true // there was nothing to set aside
		}
		obj.Deposed = key
	}
	stored := de.applier.object(obj)
	if stored == nil {
		return true
	}
	po, diags := de.applier.preApply.run.Providers.ByAddr(t, c.Provider)
	if diags.HasErrors() {
		de.run.Report(diags.WithAddress(c.Addr.String()))
		return false
	}
	op, ok := de.applier.preApply.managedOp(obj, c.Provider.Provider)
	if !ok {
		return false
	}
	po.Prepare(t)
	departure := de.departure(c)
	if departure != nil {
		departure.Prepare(t)
	}
	held := ephemeral.PrepareHeld(t, de.applier.preApply.run, obj.Instance)
	de.awaitUses(t, de.applier.destroyUses(t, c))
	de.awaitClosings(t, obj.Instance)
	ok = false
	de.applier.preApply.inSession(t, obj, event.OpDelete, func(s *ephemeral.Session) {
		end := op.StartSpan(string(event.OpDelete), c.Action)
		defer func() { end(ok) }()
		if !op.Use(s.Provider(t, po, obj.Instance, held...), po.Addr) {
			return
		}
		op.Recorded = de.applier.recorded(c)
		op.PublishImporting(c.Importing)
		destroying := destruction{a: de.applier, objectOp: op, t: t, turn: s.Turn(), change: c, object: stored}
		destroying.config = func() (cty.Value, bool) {
			cfg, ok := earlierConfig(de.applier.preApply.run, t, s, obj)
			return destroying.Answers.Given(cfg), ok
		}
		if departure != nil {
			destroying.first = &provisioning{walk: de.applier.preApply, t: t, s: s, of: departure, obj: obj, action: plan.Delete, ctx: op.Ctx}
		}
		ok = destroying.run()
	})
	return ok
}

// awaitClosings waits for closings in progress if an instance being closed may live in the object to be
// destroyed: a tunnel is closed before its host goes. Otherwise it only gives way to destructions with more
// work behind them, which become ready at the same moment.
func (de *destroyer) awaitClosings(t *future.Task, i addr.Instance) {
	in := de.applier.instance(i)
	needed := in != nil && de.applier.neededOpen()[in.Resource.Block]
	defer t.Idle()()
	if needed {
		de.pool.Drained()
	}
}

// destruction is the destruction of one object.
type destruction struct {
	objectOp
	a      *applier
	t      *future.Task
	turn   *slot.Turn
	change *plan.Change
	object *state.Object            // as the state has it
	first  *provisioning            // the destroy-time provisioners, nil if there are none
	config func() (cty.Value, bool) // of the object, without marks, for the values that the state does not have
}

// run upgrades the object, runs its destroy-time provisioners and has the provider destroy it. The journal
// entry begins only after the provisioners: until then nothing has happened to the object that a later run
// would have to clear up.
func (d *destruction) run() bool {
	pr, ok := d.Upgrade(d.object)
	if !ok {
		return false
	}
	idKey, id := object.Identifying(pr.Value, d.Block(), d.object.Sensitive)
	done := d.walk.events.Begin(event.OpDelete, d.Obj, plan.Delete, idKey, id)
	failed := func() bool {
		done(diag.List{{Summary: "Destruction failed"}}, idKey, id) // for the event; the reason was reported
		return false
	}
	if !d.provision(pr) {
		return failed()
	}
	entry := d.a.journal.Begin(d.Obj, string(event.OpDelete))
	if entry == nil {
		return failed()
	}
	resp, diags := d.destroy(pr)
	entry.OnDurable = func(more diag.List) { done(append(diags, more...), idKey, id) }
	entry.Task, entry.Turn = d.t, d.turn
	return d.conclude(entry, pr, resp, &diags)
}

// destroy has the provider destroy the object. A provider that fails although the object still exists may
// need a value that the state does not have: it is asked once more, with those that the configuration has
// (E95).
func (d *destruction) destroy(pr object.Prior) (provider.ApplyResponse, diag.List) {
	ask := func(v cty.Value) (provider.ApplyResponse, diag.List) {
		return applyChange(trace.With(d.a.changing, trace.Of(d.Ctx)), d.Provider, provider.ApplyRequest{
			Type: d.TypeName(), Prior: v, Planned: cty.NullVal(d.Block().Type()), Config: cty.NullVal(d.Block().Type()),
			PlannedPrivate: pr.PrivateToDelete(d.change), Identity: pr.Identity, ProviderMeta: d.metaOfModule(),
		})
	}
	resp, diags := ask(pr.Value)
	lacks := len(withheld.Missing(pr.Value, pr.Object))
	gone := resp.New != cty.NilVal && resp.New.IsNull()
	if !diags.HasErrors() || gone || lacks == 0 || d.walk.interrupted() {
		return resp, diags
	}
	full := pr.Value
	if cfg, ok := d.config(); ok {
		full = d.Withheld.Fill(pr.Value, pr.Object, cfg)
	}
	read, more := d.Provider.ReadResource(d.Ctx, provider.ReadRequest{
		Type: d.TypeName(), Prior: full, Private: pr.Private, Identity: pr.Identity, ProviderMeta: d.metaOfModule(),
	})
	switch {
	case more.HasErrors():
	case read.New.IsNull(): // the plan could not know
		return provider.ApplyResponse{New: read.New}, diags.AsWarnings()
	case len(withheld.Missing(full, pr.Object)) < lacks:
		return ask(full)
	}
	return resp, diags
}

// earlierConfig returns the configuration of an object as it was before the apply; false if there is none, or
// if it cannot be evaluated.
func earlierConfig(run *eval.Run, t *future.Task, s *ephemeral.Session, obj addr.Object) (cty.Value, bool) {
	m := run.Module(obj.Module)
	if m == nil || m.Resource(obj.Resource) == nil || !run.Declared(obj.Instance) {
		return cty.NilVal, false
	}
	cfg, diags := m.Resource(obj.Resource).Instance(obj.Key).EvalBody(t, s.Opened)
	return cfg, !diags.HasErrors() && !s.Failed()
}

// provision runs the destroy-time provisioners. After a failure the object stays in the state as it is.
func (d *destruction) provision(pr object.Prior) bool {
	if d.first == nil {
		return true
	}
	entry := d.a.journal.Begin(d.Obj, state.ProvisionAction)
	if entry == nil {
		return false
	}
	d.first.self = d.Mark(pr.Value, object.Config{Sensitive: d.object.Sensitive}, d.object.Withheld)
	ok := d.first.run("was not destroyed")
	return entry.End(!ok) && ok
}

// conclude records the outcome. diags are the provider's diagnostics; conclude appends any other errors to
// them.
func (d *destruction) conclude(entry *journal.Entry, pr object.Prior, resp provider.ApplyResponse, diags *diag.List) bool {
	left := resp.New
	gone := left == cty.NilVal || left.IsNull()
	if gone && diags.HasErrors() && left == cty.NilVal {
		gone = false // no word about the object: it must be taken to exist
		left = pr.Value
	}
	if !gone && !diags.HasErrors() {
		*diags = append(*diags, d.Answers.Violations(contract.Object, fmt.Errorf("%w, after it was destroyed", contract.ErrNotNull))...)
	}
	d.Report(*diags)
	c := d.change
	if gone {
		if !diags.HasErrors() && c.Action == plan.Delete && d.Obj.Deposed == addr.Current || c.Action.IsReplace() || d.Obj.Deposed != addr.Current {
			d.a.count(func(n *plan.Counts) { n.Destroy++ })
		}
		return entry.End(diags.HasErrors(), d.a.outcomes.Removed(c, d.Obj, diags.HasErrors())) && !diags.HasErrors()
	}
	entry.End(true, d.remainder(left, resp)...)
	return false
}

// remainder returns the record of an object that its destruction left behind.
func (d *destruction) remainder(left cty.Value, resp provider.ApplyResponse) []state.ObjectChange {
	stored := d.object
	v, diags := d.Answers.AcceptKnown(left, nil, contract.Object)
	if resp.Identity != cty.NilVal && !resp.Identity.IsWhollyKnown() {
		resp.Identity = cty.NilVal // the earlier one stands
	}
	identity, wrong := d.Answers.AcceptIdentity(resp.Identity, contract.Object)
	private, leaks := d.Answers.AcceptPrivate(resp.Private, stored.Private, contract.Object)
	d.Report(slices.Concat(diags, wrong, leaks))
	if v == cty.NilVal {
		return nil
	}
	if private == nil {
		private = stored.Private
	}
	o := d.StateObject(v, append(d.Block().SensitivePaths(v), stored.Sensitive...), private, identity, stored)
	if o == nil {
		return nil
	}
	d.KeepIdentity(o, stored)
	return []state.ObjectChange{{Object: d.Obj, Provider: d.change.Provider, New: o}}
}

// forget drops an object from the state.
func (de *destroyer) forget(c *plan.Change) bool {
	entry := de.applier.journal.Begin(c.Object(), string(event.OpForget))
	if entry == nil {
		return false
	}
	de.applier.count(func(n *plan.Counts) { n.Forget++ })
	return entry.End(false, de.applier.outcomes.Removed(c, c.Object(), false))
}

// departure returns the provisioners to run before the object of a change is destroyed, nil if there are
// none. An object whose creation never completed, or that was deposed by its replacement, gets no
// destroy-time provisioners.
func (de *destroyer) departure(c *plan.Change) *eval.DestroyProvisioners {
	if c.Action == plan.CreateThenDelete || c.Deposed != addr.Current {
		return nil
	}
	if o := de.applier.object(c.Object()); o == nil || o.Tainted {
		return nil
	}
	return de.applier.preApply.run.DestroyProvisioners(c.Addr)
}
