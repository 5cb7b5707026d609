package view

import (
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// withheldValue is written in place of a value that is kept out of the plan and the state (E90).
type withheldValue struct{ status plan.WithheldStatus }

// withheldNotes are the notes on such a value, in addition to the symbol before it.
var withheldNotes = map[plan.WithheldStatus]string{
	plan.WithheldChanged:      ", changed",
	plan.WithheldUnknown:      ", known after apply",
	plan.WithheldIncomparable: ", cannot be compared",
	plan.WithheldAssumed:      ", assumed to be unchanged",
	plan.WithheldVersion:      ", another version",
	plan.WithheldStored:       ", no longer stored",
	plan.WithheldReleased:     ", stored from now on",
	plan.WithheldImported:     ", imported",
}

// write implements body.
func (b withheldValue) write(w *writer, n *node, _ int, nulls bool) {
	if b.status == invokedEphemeral {
		w.WriteString("(ephemeral value)")
		return
	}
	w.WriteString("(ephemeral attribute" + withheldNotes[b.status] + ")")
	w.gone(n, nulls)
	w.forced(n)
}

// storedPaths returns the tree of the attributes that the state withholds of an object.
func storedPaths(o *state.Object) *paths {
	c := plan.Change{}
	for _, w := range o.Withheld {
		c.Withheld = append(c.Withheld, plan.Withheld{Path: w.Path, Status: plan.WithheldSame})
	}
	return newPaths(&c)
}

// withheldNode returns the node of such a value. created is set if it is in an object that is new.
func withheldNode(status plan.WithheldStatus, why *paths, created bool) *node {
	n := &node{effect: changed, body: withheldValue{status}, forces: why.here()}
	switch {
	case status == plan.WithheldSame || status == invokedEphemeral:
		n.effect = same
	case status == plan.WithheldNew || created:
		n.effect = added
	case status == plan.WithheldRemoved:
		n.effect = removed
	}
	return n
}
