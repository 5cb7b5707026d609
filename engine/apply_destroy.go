package engine

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/provider"
	"github.com/mayfly-iac/mayfly/state"
)

// destroyStep destroys the current, replaced or deposed object of a change.
func (a *applier) destroyStep(t *future.Task, c *plan.Change) bool {
	obj := c.Object()
	if c.Action == plan.CreateThenDelete {
		a.mu.Lock()
		key, ok := a.deposedBy[c.Addr]
		a.mu.Unlock()
		if !ok {
			return true // there was nothing to set aside
		}
		obj.Deposed = key
	}
	stored := a.object(obj)
	if stored == nil {
		return true
	}
	po, diags := a.before.run.ProviderByAddr(t, c.Provider)
	if diags.HasErrors() {
		a.run.Report(diags.WithAddress(c.Addr.String()))
		return false
	}
	sch, diags := a.providers.Resource(c.Provider.Provider, addr.Managed, c.Addr.Resource.Type)
	if sch == nil {
		if !diags.HasErrors() {
			diags = missingType(&orphan{obj: obj, provider: c.Provider})
		}
		a.run.Report(diags)
		return false
	}
	po.Prepare(t)
	hold := a.prepareHold(t, a.before.run, obj.Instance)
	a.pool.Drained() // what earlier steps used may live in the object: a tunnel is closed before its host goes
	ok := false
	a.inSlot(func() {
		s := eval.NewSession()
		defer s.End()
		d := subject{walk: a.before, obj: obj, schema: sch, source: c.Provider.Provider, p: a.before.configured(t, s, po)}
		if d.p != nil && hold(s) {
			ok = a.destroyObject(&d, c, stored)
		}
	})
	return ok
}

func (a *applier) destroyObject(d *subject, c *plan.Change, stored *state.Object) bool {
	pr, ok := d.upgraded(stored)
	if !ok {
		return false
	}
	op := a.begin(d.obj, string(OpDelete))
	if op == nil {
		return false
	}
	null := cty.NullVal(d.block().Type())
	idKey, id := identifying(pr.value, d.block(), stored.Sensitive)
	done := d.started(OpDelete, d.obj, plan.Delete, idKey, id)
	resp, diags := d.p.ApplyResource(d.ctx, provider.ApplyRequest{
		Type: d.typeName(), Prior: pr.value, Planned: null, Config: null, PlannedPrivate: deletePrivate(c, pr), Identity: pr.identity,
	})
	left := resp.New
	gone := left == cty.NilVal || left.IsNull()
	if gone && diags.HasErrors() && left == cty.NilVal {
		gone = false // no word about the object: it must be taken to exist
		left = pr.value
	}
	if !gone && !diags.HasErrors() {
		diags = append(diags, d.violation("object", fmt.Errorf("%w, after it was destroyed", errNotNull)))
	}
	d.report(diags)
	op.told = func(more diag.List) { done(append(diags, more...), idKey, id) }
	if gone {
		if !diags.HasErrors() && c.Action == plan.Delete && d.obj.Deposed == addr.Current || c.Action.IsReplace() || d.obj.Deposed != addr.Current {
			a.count(func(n *plan.Counts) { n.Destroy++ })
		}
		return op.end(diags.HasErrors(), state.ObjectChange{Object: d.obj, Provider: c.Provider}) && !diags.HasErrors()
	}
	op.end(true, a.remaining(d, left, stored, resp, c)...)
	return false
}

// remaining returns the record of an object that its destruction left behind.
func (a *applier) remaining(d *subject, left cty.Value, stored *state.Object, resp provider.ApplyResponse, c *plan.Change) []state.ObjectChange {
	v, diags := d.accept(left, nil, "object", true)
	d.report(diags)
	if v == cty.NilVal {
		return nil
	}
	private := resp.Private
	if private == nil {
		private = stored.Private
	}
	o := d.stored(v, append(d.block().SensitivePaths(v), stored.Sensitive...), private, resp.Identity, stored)
	if o == nil {
		return nil
	}
	if len(o.Identity) == 0 {
		o.Identity, o.IdentityVersion = stored.Identity, stored.IdentityVersion
	}
	return []state.ObjectChange{{Object: d.obj, Provider: c.Provider, New: o}}
}

// deletePrivate returns the private data for a destruction: planned for a plain one, the object's own for the old half of a replacement.
func deletePrivate(c *plan.Change, pr prior) []byte {
	if c.Action == plan.Delete && c.PlannedPrivate != nil {
		return c.PlannedPrivate
	}
	return pr.private
}

// forgetStep drops an object from the state.
func (a *applier) forgetStep(c *plan.Change) bool {
	op := a.begin(c.Object(), string(OpForget))
	if op == nil {
		return false
	}
	a.count(func(n *plan.Counts) { n.Forget++ })
	return op.end(false, state.ObjectChange{Object: c.Object(), Provider: c.Provider})
}

// readStep reads a data source that planning put off.
func (a *applier) readStep(t *future.Task, c *plan.Change) bool {
	in := a.instance(c.Addr)
	if in == nil {
		a.run.Report(diag.Errorf("Configuration doesn't match the plan", "The plan reads %s, which the configuration does not declare. Make a new plan.", c.Addr))
		return false
	}
	in.Prepare(t)
	ok := false
	a.inSlot(func() {
		s := eval.NewSession()
		defer s.End()
		d := dataRead{in: in, t: t, s: s}
		d.subject = subject{walk: a.walk, obj: addr.Object{Instance: c.Addr}, schema: in.Resource.Block.Schema, source: c.Provider.Provider}
		ok = in.Preconditions(t, s) && d.evaluate() && a.readData(&d, c)
	})
	return ok
}

func (a *applier) readData(d *dataRead, c *plan.Change) bool {
	if !d.config.IsWhollyKnown() {
		d.report(diag.Errorf("Configuration contains unknown value", "The configuration of %s is still not wholly known, although everything that it refers to has been applied.", d.obj))
		return false
	}
	op := a.begin(d.obj, string(OpRead))
	if op == nil {
		return false
	}
	v, ok := d.read()
	if !ok {
		op.end(true)
		return false
	}
	o := d.object(v)
	if o == nil {
		op.end(true)
		return false
	}
	o.Dependencies = stateDeps(c.Deps)
	a.mu.Lock()
	a.results[c.Addr] = v
	a.mu.Unlock()
	return op.end(false, state.ObjectChange{Object: d.obj, Provider: c.Provider, New: o}) && d.in.Postconditions(d.t, d.s, v)
}
