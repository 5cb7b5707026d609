package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// dataApplier reads data sources during an apply.
type dataApplier struct {
	*walk
	applier *applier
}

// step reads a data source that planning put off.
func (da *dataApplier) step(t *future.Task, c *plan.Change) bool {
	in := da.applier.prepareInstance(t, c, "reads")
	if in == nil {
		return false
	}
	ok := false
	da.inSession(t, in, event.OpRead, func(s *ephemeral.Session) {
		d := dataRead{objectOp: da.instanceOp(in), in: in, t: t, s: s}
		d.Recorded = da.applier.recorded(c)
		end := d.StartSpan(string(event.OpRead), c.Action)
		defer func() { end(ok) }()
		ok = in.Preconditions(t, s.Opened) && d.prepare() && da.read(&d, c)
	})
	return ok
}

// read reads the data source within a journal entry and makes the result the instance's value. The value
// is published before the postconditions run, because they and their messages may refer to it.
func (da *dataApplier) read(d *dataRead, c *plan.Change) bool {
	if !d.config.Value.IsWhollyKnown() {
		d.fault(diag.Errorf("Configuration contains unknown value", "The configuration of %s is still not wholly known, although everything that it refers to has been applied.", d.Obj))
		return false
	}
	entry := da.applier.journal.Begin(d.Obj, string(event.OpRead))
	if entry == nil {
		return false
	}
	v, ok := d.read()
	if !ok {
		entry.End(true, da.applier.checks.unreadable(d)...)
		return false
	}
	o := d.object(v)
	if o == nil {
		entry.End(true)
		return false
	}
	o.Dependencies = scope.Dependencies(c.Deps)
	da.applier.mu.Lock()
	da.applier.results[c.Addr] = d.in.Resource.Kept(v)
	da.applier.mu.Unlock()
	return entry.End(false, state.ObjectChange{Object: d.Obj, Provider: c.Provider, New: o}) && d.in.Postconditions(d.t, d.s.Opened, v)
}

// dropReads removes from st the data that a plan to destroy has read. Provider configurations take it
// from the plan, and nothing else needs it.
func (da *dataApplier) dropReads(st *state.State) {
	if da.applier.req.Plan.Mode != plan.Destroy {
		return
	}
	for i := range st.AllInstances() {
		if i.Resource.Mode == addr.Data && (da.applier.selection.Selects(i) || da.applier.req.Plan.Base.Instance(i) == nil) {
			st.RemoveInstance(i)
		}
	}
}
