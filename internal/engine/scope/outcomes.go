package scope

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Outcomes tells a store of the outcomes of the steps of an apply, and which of them leave nothing to do.
// Recordable comes before the first step; after that, it is safe for concurrent use.
type Outcomes struct {
	run        state.Run
	unrecorded plan.Instances // have values, found while planning, that the run may not write
	unwritten  plan.Instances // the same, and instances whose record it may not bring up to date
	undeclared *plan.Instances
}

// Recordable returns the changes that planning has made by itself and that a run may write: all of them if
// writes is nil. Steps that are evaluated from the others are not settled.
func (o *Outcomes) Recordable(run state.Run, p *plan.Plan, writes func(addr.Instance) bool, changes []state.ObjectChange) []state.ObjectChange {
	o.run, o.undeclared = run, p.Undeclared()
	return slices.DeleteFunc(changes, func(c state.ObjectChange) bool {
		if writes == nil || writes(c.Object.Instance) {
			return false
		}
		if old := p.Base.Object(c.Object); old == nil || c.New == nil || !old.Equal(c.New) || p.Base.Instance(c.Object.Instance).Provider != c.Provider {
			o.unwritten.Add(c.Object.Instance)
		} // else data was read again, and is the same
		if !p.Base.Object(c.Object).SameValue(c.New) {
			o.unrecorded.Add(c.Object.Instance)
		}
		return true
	})
}

// Unrecorded returns the instances whose values were found while planning, and could not be recorded.
func (o *Outcomes) Unrecorded() *plan.Instances { return &o.unrecorded }

// Unwritten returns the instances whose rows are not as the plan has them.
func (o *Outcomes) Unwritten() *plan.Instances { return &o.unwritten }

// Applied returns the change with which the step of an instance ends that has created or updated its object.
// given is the hash of its configuration, zero for none.
func (o *Outcomes) Applied(c *plan.Change, in *eval.Instance, given state.Hash, change state.ObjectChange) state.ObjectChange {
	change.Step = &state.Step{Settled: len(in.Resource.Block.Postconditions) == 0 && o.recorded(c), Reads: plan.Subjects(c.Deps), Given: given}
	return change
}

// recorded reports whether a change was evaluated from all stored objects that it reads, and from nothing
// else. An undeclared object may stay, and be declared again.
func (o *Outcomes) recorded(c *plan.Change) bool {
	return !slices.ContainsFunc(c.Deps, func(d plan.Dep) bool { return o.unrecorded.Touched(d) || o.undeclared.Touched(d) })
}

// Passed settles an instance whose postconditions were evaluated after its step, if they have passed, which
// it returns.
func (o *Outcomes) Passed(c *plan.Change, in *eval.Instance, passed bool) bool {
	if s, is := o.run.(state.Settler); is && passed && len(in.Resource.Block.Postconditions) > 0 && o.recorded(c) {
		s.Settle(c.Addr)
	}
	return passed
}

// Removed returns the change with which the step of an object ends that is gone. Something is left to do if
// that has failed, or if the configuration has the instance: it is then to be created.
func (o *Outcomes) Removed(c *plan.Change, obj addr.Object, failed bool) state.ObjectChange {
	change := state.ObjectChange{Object: obj, Provider: c.Provider}
	if !failed && obj.Deposed == addr.Current && strings.HasPrefix(string(c.Reason), "delete_because_") {
		change.Step = &state.Step{Settled: true}
	}
	return change
}
