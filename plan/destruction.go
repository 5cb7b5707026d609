package plan

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
)

// timing decides which destructions are early and which are late. An early one comes before anything
// related to the object is created or updated, a late one after it.
//
// Early are the old objects of replacements, so that their successors can take their places, and deletions,
// so that attachments are removed before an object is changed. Late are objects with create_before_destroy,
// deposed objects, and deletions of objects whose users are updated to use them no longer. Whatever a late
// object depends on is deleted late too.
//
// In any case, a deletion has to be early if the object depends on one that is destroyed before it is
// created anew, or if its provider or provisioners are configured from objects that change, because they
// need the old values.
func (b *stepBuilder) timing() {
	var altered Instances
	for i, c := range b.changes {
		if b.managed(int32(i)) >= 0 {
			altered.Add(c.Addr)
		}
	}
	var released, obliged []int32
	for i, c := range b.changes {
		switch c.Action {
		case Update, CreateThenDelete:
			released = append(released, int32(i))
		case DeleteThenCreate:
			obliged = append(obliged, int32(i))
		case Delete:
			if c.CreateBeforeDestroy || c.Deposed != addr.Current {
				released = append(released, int32(i))
			}
			if slices.ContainsFunc(c.Deps, altered.Touched) {
				obliged = append(obliged, int32(i))
			}
		}
	}
	late := reach(b.uses, released, func(l link) bool { return l.recorded })
	early := reach(b.users, obliged, func(link) bool { return true })
	for i, c := range b.changes {
		b.late[i] = c.Action == CreateThenDelete || c.Action == Delete && late[i] && !early[i]
	}
}

// reach returns the nodes reachable from the given ones, including these, through links that follow
// accepts. It takes linear time.
func reach(next [][]link, from []int32, follow func(link) bool) []bool {
	reached := make([]bool, len(next))
	for _, v := range from {
		reached[v] = true
	}
	for queue := from; len(queue) > 0; {
		v := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, l := range next[v] {
			if !reached[l.to] && follow(l) {
				reached[l.to] = true
				queue = append(queue, l.to)
			}
		}
	}
	return reached
}

// The steps of a node, -1 for none: groups have none.

// destroyed returns the step that destroys the node's object, or -1: if there is none, if its time is not
// the given one, or for a group.
func (b *stepBuilder) destroyed(v int32, late bool) int32 {
	if int(v) >= len(b.changes) || b.late[v] != late {
		return -1
	}
	return b.destroy[v]
}

// destroyedEarly returns the step of an early destruction, or -1.
func (b *stepBuilder) destroyedEarly(v int32) int32 { return b.destroyed(v, false) }

// destroyedLate returns the step of a late destruction, or -1.
func (b *stepBuilder) destroyedLate(v int32) int32 { return b.destroyed(v, true) }

// applied returns the step that creates, updates or reads the node's object; others may depend on a read.
func (b *stepBuilder) applied(v int32) int32 {
	if int(v) >= len(b.changes) || b.changes[v].Action == NoOp {
		return -1
	}
	return b.apply[v]
}

// managed is applied without reads.
func (b *stepBuilder) managed(v int32) int32 {
	if int(v) < len(b.changes) && b.changes[v].Addr.Resource.Mode != addr.Managed {
		return -1
	}
	return b.applied(v)
}

// first returns the first step that exists.
func first(steps ...int32) int32 {
	for _, s := range steps {
		if s >= 0 {
			return s
		}
	}
	return -1
}

// destruction orders the destroy legs: among each other, dependents first, and relative to the apply legs
// of related objects, according to timing.
func (b *stepBuilder) destruction() {
	for i, c := range b.changes {
		b.orderDeposed(i, c)
	}
	upwards := make([]int32, len(b.order)) // dependencies first
	for i, v := range b.order {
		upwards[len(upwards)-1-i] = v
	}
	b.run(flow{
		rule: ruleDependents, name: " (dependents destroyed)", order: b.order, next: b.uses,
		from: b.destroyedEarly, to: func(v int32) int32 { return first(b.destroyedEarly(v), b.managed(v)) },
	})
	b.run(flow{
		rule: ruleDependencies, name: " (dependencies destroyed)", order: upwards, next: b.users,
		from: b.destroyedEarly, to: b.managed,
	})
	b.run(flow{
		rule: ruleUpdates, name: " (dependents updated)", order: b.order, next: b.uses,
		from: func(v int32) int32 { return first(b.destroyedLate(v), b.applied(v), b.destroyedEarly(v)) }, to: b.destroyedLate,
	})
	b.run(flow{
		rule: ruleSettled, name: " (dependencies updated)", order: upwards, next: b.users, recorded: true,
		from: b.managed, to: b.destroyedLate,
	})
}

// orderDeposed orders the destruction of a deposed object and the change of the current one.
func (b *stepBuilder) orderDeposed(i int, c *Change) {
	j, ok := b.current[c.Addr]
	switch {
	case c.Deposed == addr.Current || !ok:
	case b.late[i]:
		b.edge(b.applied(int32(j)), b.destroy[i], ruleCreateFirst)
	default:
		b.edge(b.destroy[i], b.applied(int32(j)), ruleDestroyFirst)
	}
}
