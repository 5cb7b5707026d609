package settle

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Applied is a plan at the end of its apply.
type Applied struct {
	Plan     *plan.Plan
	Run      state.Run
	Outcomes *scope.Outcomes
	Blocked  *plan.Instances     // whose step has failed, or was not reached
	Checks   []state.CheckResult // of the plan and the apply
	Failed   bool                // there were errors
}

// Record has the run record the reads of the plan, and the units that the apply has found right. Those that
// were evaluated from an object that is not as it was planned stay open.
func (a Applied) Record() {
	if n, notes := a.Run.(state.ReadNoter); notes && a.Plan.Reads != nil {
		n.NoteReads(*a.Plan.Reads)
	}
	r, is := a.Run.(state.Recorder)
	s := a.Plan.Settling
	if s == nil || !is {
		return
	}
	j := &judge{Applied: a, altered: a.Plan.Altered(), other: map[state.Subject]bool{}, unwritten: map[string]bool{}, status: map[string]state.CheckStatus{}}
	j.findOther()
	for _, c := range a.Checks {
		for _, o := range c.Objects {
			j.status[o.Addr] = o.Status
		}
	}
	out := state.Settlement{Found: j.findings, Relied: s.Relied, Hashes: s.Hashes, Moment: s.Moment, Full: s.Full}
	for _, m := range s.Hashes {
		for _, b := range m.Blocks {
			out.Covered = append(out.Covered, state.Block{Module: m.Module, Name: b.Name})
		}
	}
	r.Record(out)
}

// judge tells which units were found right.
type judge struct {
	Applied
	altered *plan.Instances
	other   map[state.Subject]bool // subjects with an instance that is not stored as it was planned
	status  map[string]state.CheckStatus
	// unwritten are the instances whose rows are not as the plan has them.
	unwritten map[string]bool
}

// findOther finds the instances that are not stored as it was planned.
func (j *judge) findOther() {
	note := func(a addr.Instance) bool {
		for _, s := range state.Around(a) {
			j.other[s] = true
		}
		return true
	}
	j.Blocked.Each(note)
	j.Outcomes.Unrecorded().Each(note)
	for a := range j.Outcomes.Unwritten().Each {
		j.unwritten[a.String()] = true
	}
	for _, c := range j.Plan.Changes {
		if c.Action != plan.NoOp && !j.asPlanned(c) {
			note(c.Addr)
		}
	}
}

// asPlanned reports whether the stored object is the one that was planned.
func (j *judge) asPlanned(c *plan.Change) bool {
	o, _ := j.Run.Object(c.Object())
	if c.Action == plan.Delete || c.Action == plan.Forget {
		return o == nil
	}
	want, err := c.After.Unmarked()
	if err != nil || o == nil {
		return false
	}
	got, err := o.DecodeUnmarked(want.Type())
	return err == nil && got.RawEquals(want)
}

// findings yields the units that the plan has evaluated, results last.
func (j *judge) findings(yield func(state.Finding) bool) {
	for _, c := range j.Plan.Changes {
		at := plan.Dep{Resource: c.Addr.Abs(), Key: c.Addr.Key}
		if c.Deposed != addr.Current || j.altered.Touched(at) {
			continue // it has had a step, or has a mark
		}
		u := state.Finding{Unit: state.UnitOf(c.Addr), Block: state.BlockOf(c.Addr.Config()), Reads: plan.Subjects(c.Deps), Given: c.Given}
		u.Open = j.unwritten[u.Unit.Addr] || j.open(u.Reads, u.Unit.Addr)
		if !yield(u) {
			return
		}
	}
	for _, o := range j.Plan.Outputs {
		if o.After.IsZero() {
			continue // it is gone, or so it is planned
		}
		u := state.Finding{Unit: state.Unit{Kind: state.OutputUnit, Addr: o.Name}, Block: state.Block{Name: "output." + o.Name}, Reads: plan.Subjects(o.Deps)}
		u.Open = j.open(u.Reads, "output."+o.Name) || !known(o) || j.Failed && (o.Action != plan.NoOp || slices.ContainsFunc(o.Deps, j.altered.Touched))
		if !yield(u) {
			return
		}
	}
	for _, u := range j.Plan.Settling.Units {
		u.Open = !u.Gone && (j.unwritten[u.Unit.Addr] || u.Unit.Kind == state.CheckUnit && j.status[u.Unit.Addr] != state.CheckPass || j.open(u.Reads, u.Unit.Addr))
		if !yield(u) {
			return
		}
	}
}

func known(o *plan.OutputChange) bool {
	v, err := o.After.Unmarked()
	return err == nil && v.IsWhollyKnown()
}

// open reports whether something that a unit was evaluated from is not stored as it was planned, or one of
// its conditions has not passed.
func (j *judge) open(reads []state.Subject, address string) bool {
	status, has := j.status[address]
	return has && status != state.CheckPass || slices.ContainsFunc(reads, func(s state.Subject) bool { return j.other[s] })
}
