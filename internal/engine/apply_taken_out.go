package engine

import (
	"slices"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// takingOut has the records of objects that change with the values which an apply takes out of the state: of
// the objects that have these values, and of those with attributes that are made of them (E97). They are
// written together, once the last is there. If the apply fails or dies before that, the state still has the
// values, and the next one can compare with them.
type takingOut struct {
	mu      sync.Mutex
	changes []state.ObjectChange
	from    plan.Instances // those that have the values
}

// takesPart reports whether the record of an object, of which nothing else changes, is one for takingOut.
func takesPart(ia *instanceApply) bool {
	if delivers(ia) {
		return false
	}
	return slices.ContainsFunc(ia.change.Withheld, withheld.IsTakenOut) || slices.ContainsFunc(ia.config.Computed, func(part value.ComputedPart) bool {
		return ia.walk.computed.TakenOut(part.Of)
	})
}

// delivers reports whether the record of an object is written along with others, since one is owed a value by
// the other.
func delivers(ia *instanceApply) bool {
	return ia.a.deliveries.Concern(ia.Obj.Instance)
}

// stillStored returns the record of an object that its provider was to update, with the values that the state
// has until takingOut takes them out. record is the one without them; takingOut gets it unless the update has
// failed. If there are no such values, stillStored returns record.
func stillStored(ia *instanceApply, record *state.Object, o object.Applied, resp provider.ApplyResponse) *state.Object {
	w := &ia.Withheld
	names, versions := w.Names, w.Versions
	var fewer schema.Patterns
	var theirs []cty.Value
	for i := range names {
		if staysStored(ia, o.Value, names[i:i+1]) {
			continue
		}
		if fewer = append(fewer, names[i]); len(versions) > 0 {
			theirs = append(theirs, versions[i])
		}
	}
	if len(fewer) == len(names) || delivers(ia) {
		return record
	}
	w.Names, w.Versions = fewer, theirs
	defer func() { w.Names, w.Versions = names, versions }()
	stored := ia.object(o.Value, resp.Private, resp.Identity, o)
	if stored == nil {
		return record
	}
	if !o.Failed {
		ia.a.takingOut.add(ia, record)
	}
	return stored
}

// staysStored reports whether a withheld attribute of an object after an update has the values that the state
// still has.
func staysStored(ia *instanceApply, after cty.Value, name schema.Patterns) bool {
	stays := false
	for _, w := range ia.change.Withheld {
		if name.Matches(w.Path) {
			if !w.Computed || w.Status != plan.WithheldStored || !withheld.SameAt(ia.prior.Value, after, w.Path) {
				return false
			}
			stays = true
		}
	}
	return stays
}

// add adds the record of an object that takes part.
func (o *takingOut) add(ia *instanceApply, record *state.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changes = append(o.changes, ia.changeTo(record))
	if slices.ContainsFunc(ia.change.Withheld, withheld.IsTakenOut) {
		o.from.Add(ia.Obj.Instance)
	}
}

// writeTakenOut writes the records of takingOut when no change is under way any more. If a change that may
// use one of the values was not made, nothing is written: it will need the value.
func writeTakenOut(a *applier) {
	o := &a.takingOut
	if len(o.changes) == 0 {
		return
	}
	missed := func(c *plan.Change) bool {
		return c.Action != plan.NoOp && c.Deposed == addr.Current && slices.ContainsFunc(c.Deps, o.from.Touched) &&
			a.blocked.Touched(plan.Dep{Resource: c.Addr.Abs(), Key: c.Addr.Key})
	}
	if slices.ContainsFunc(a.req.Plan.Changes, missed) {
		return
	}
	if entry := a.journal.Begin(o.changes[0].Object, "update"); entry != nil {
		entry.End(false, o.changes...)
	}
}
