package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Guarded returns the variables and outputs of the module that have conditions, ordered by name.
func (m *Module) Guarded() []*Value {
	var out []*Value
	for _, group := range []map[string]*Value{m.variables, m.outputs} {
		for _, v := range diag.InOrder(group) {
			if v.guard != nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// Holds evaluates the conditions of a variable or output and reports failures, once in a run. It returns
// false if a condition failed; an undecided condition counts as holding. Because it demands the objects that
// the conditions need, the task must not be in a slot.
func (v *Value) Holds(t *future.Task) bool {
	if v.guard == nil {
		return true
	}
	got, cycle := v.guard.holds.Get(t, v, v.rangePtr(), func() bool {
		ok := true
		for _, c := range v.block.Conditions {
			ok = v.check(t, c) && ok
		}
		return ok
	})
	if cycle != nil {
		v.module.run.ReportCycle(cycle)
		return true
	}
	return got
}

// Unmet reports whether the conditions were evaluated and one of them failed.
func (v *Value) Unmet() bool {
	if v.guard == nil {
		return false
	}
	holds, known := v.guard.holds.Peek()
	return known && !holds
}

// CheckVariables evaluates the validation conditions of the module's variables. If due is not nil, it limits
// them to the variables for which it returns true.
func (m *Module) CheckVariables(t *future.Task, due func(*Value) bool) {
	for _, v := range diag.InOrder(m.variables) {
		if v.guard != nil && (due == nil || due(v)) {
			v.Holds(t)
		}
	}
}

// OutputPreconditions evaluates the preconditions of the module's outputs. If due is not nil, it limits them
// to the outputs for which it returns true. It returns the outputs whose preconditions have errors, which
// were reported.
func (m *Module) OutputPreconditions(t *future.Task, due func(*Value) bool) []*Value {
	var unmet []*Value
	for _, v := range diag.InOrder(m.outputs) {
		if v.guard != nil && (due == nil || due(v)) && !v.Holds(t) {
			unmet = append(unmet, v)
		}
	}
	return unmet
}

// CheckVariablesEarly evaluates the validation conditions of the root module's variables that depend on no
// object, before anything else runs. It returns false if one failed.
func (m *Module) CheckVariablesEarly(t *future.Task) bool {
	ok := true
	for _, v := range diag.InOrder(m.variables) {
		if !v.block.ConditionsLeadToObjects() {
			ok = v.Holds(t) && ok
		}
	}
	return ok
}

// CheckVariablesClosed evaluates the validation conditions of the module's variables that open nothing.
func (m *Module) CheckVariablesClosed(t *future.Task) {
	for _, v := range diag.InOrder(m.variables) {
		for _, c := range v.block.Conditions {
			if m.block.OpensOf(c.Expr, c.Message).Empty() {
				v.check(t, c)
			}
		}
	}
}

// check evaluates one condition and records its result.
func (v *Value) check(t *future.Task, c blocks.Condition) bool {
	m := v.module
	if v.block.Kind == blocks.OutputValue {
		got := m.condition(t, v, c, v, "Module output value precondition failed")
		m.run.soften(got.failure)
		m.run.Report(got.all())
		m.run.Checks.Add("output", v.block.Address(), v.Addr(), got.status, got.message)
		return !got.all().HasErrors()
	}
	got := m.condition(t, v, c, nil, "Invalid value for variable")
	for i := range got.failure {
		d := &got.failure[i]
		d.Context, d.Subject, d.Extra = d.Subject, v.block.Range.Ptr(), diag.Unmet{Object: v.Addr()}
		if v.block.Expr != nil {
			d.Subject = v.block.Expr.Range().Ptr()
		}
		d.Detail += "\n\nThis was checked by the validation rule at " + diag.Place(c.Config.Range) + "."
	}
	m.run.Report(got.all())
	if m.run.opt.Phase != Validating {
		m.run.Checks.Add("var", v.block.Address(), v.Addr(), got.status, got.message)
	}
	return got.holds()
}

// condition evaluates a condition of a variable or an output. If it may open something, it does so in
// an operation of its own. of has the address for diagnostics, nil for none.
func (m *Module) condition(t *future.Task, v *Value, c blocks.Condition, of fmt.Stringer, failed string) (out verdict) {
	sc := &scope{m: m, t: t, of: of}
	if m.run.opt.Phase == Validating {
		sc.tested = v
		return m.run.condition(sc, c, failed)
	}
	needs := &reads{}
	needs.addExprs(sc, c.Expr, c.Message)
	prepare(t, needs)
	if m.block.OpensOf(c.Expr, c.Message).Empty() && len(Borrowed(m.run, blocks.BorrowsOf(m.block, c.Expr, c.Message))) == 0 {
		return m.run.condition(sc, c, failed)
	}
	m.run.opt.Host.WithOpened(t, v, func(o *Opened) {
		sc.opened = o
		out = m.run.condition(sc, c, failed)
	})
	return out
}

// InputsHold reports whether the conditions hold of all variables and outputs that the instance uses through
// values, ephemeral resources and its provider's configuration. A failure is reported once. The task must
// not be in a slot.
func (in *Instance) InputsHold(t *future.Task) bool {
	return !in.Run().cfg.HasGuards || in.inputsHold(t)
}

func (in *Instance) inputsHold(t *future.Task) bool {
	ok := in.readSet(t).hold(t)
	return in.Resource.objectReads(t).hold(t) && ok
}

// RepetitionHolds reports whether the conditions hold of the variables and outputs that say which instances
// the resource has. The task must not be in a slot.
func (r *Resource) RepetitionHolds(t *future.Task) bool { return r.Module.repetitionHolds(t, r.repeat) }

// RepetitionHolds is Resource.RepetitionHolds for a called module.
func (c *Call) RepetitionHolds(t *future.Task) bool { return c.module.repetitionHolds(t, c.repeat) }

func (m *Module) repetitionHolds(t *future.Task, r blocks.Repetition) bool {
	if !m.run.cfg.HasGuards {
		return true
	}
	all := &reads{}
	all.addExprs(m.scope(t), r.Expr())
	return all.hold(t)
}

// InputsHold reports whether the conditions hold of the variables and outputs that the value comes from.
func (v *Value) InputsHold(t *future.Task) bool {
	return !v.module.run.cfg.HasGuards || v.readSet(t).hold(t)
}

// InputsHold reports whether the conditions hold of the variables and outputs that the assertions refer to.
func (c *Check) InputsHold(t *future.Task) bool {
	return !c.Module.run.cfg.HasGuards || c.readSet(t).hold(t)
}

// once calls hold at most once in a run for each object in the graph of reads, however many references lead
// to it. It ignores cycles, which are reported where values are demanded.
func (r *Run) once(t *future.Task, what any, via *hcl.Range, hold func() bool) bool {
	cell, _ := r.held.LoadOrStore(what, &future.Cell[bool]{})
	got, cycle := cell.(*future.Cell[bool]).Get(t, what, via, hold)
	return got || cycle != nil
}

// hold checks everything in the read-set and does not stop at the first failure, so that one run reports all
// failures.
func (r *reads) hold(t *future.Task) bool {
	ok := true
	for _, v := range r.values {
		ok = v.module.run.once(t, v.Value, v.via, func() bool {
			inputs := v.readSet(t).hold(t)
			return v.Holds(t) && inputs
		}) && ok
	}
	for _, p := range r.providers {
		ok = p.module.run.once(t, p, nil, func() bool { return p.readSet(t).hold(t) }) && ok
	}
	for _, mr := range r.modules {
		ok = mr.call.module.run.once(t, mr, nil, func() bool {
			all := &reads{}
			all.addOneByOne(t, mr.call, mr.sel)
			return all.hold(t)
		}) && ok
	}
	for _, rr := range r.resources {
		ok = rr.hold(t) && ok
	}
	return ok
}

// hold checks ephemeral resources only. Other resources check their own inputs when they are planned or
// applied.
func (rr resourceRead) hold(t *future.Task) bool {
	if !rr.res.ephemeral {
		return true
	}
	rr.via = nil
	return rr.res.Module.run.once(t, rr, nil, func() bool {
		if !rr.all {
			return rr.res.Instance(rr.key).inputsHold(t)
		}
		ok := true
		instances, _ := rr.res.Instances(t)
		for _, in := range instances {
			ok = in.inputsHold(t) && ok
		}
		return ok
	})
}
