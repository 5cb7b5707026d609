package explain

import (
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
)

// deferredHeadline is the headline of an object that the plan leaves to a later one.
const deferredHeadline = "is deferred to a later plan"

// deferralsOf returns the deferrals of the instances that a subject names. Its address may be as the plan
// shows it, with "*" for a key that is not known yet.
func deferralsOf(e *Explainer, s subject) []*plan.Deferral {
	var out []*plan.Deferral
	for _, d := range e.deferrals[s.instance.Config()] {
		a := d.Change.Addr
		if a == s.instance {
			return []*plan.Deferral{d}
		}
		if s.instance.Key == addr.NoKey && a.Abs() == s.instance.Abs() || a.Unkeyed() || a.String() == s.instance.String() {
			out = append(out, d)
		}
	}
	return out
}

// deferredHappens explains why the subject is deferred. changes has its other instances.
func deferredHappens(e *Explainer, out *Answer, s subject, deferrals []*plan.Deferral, changes []*plan.Change) {
	// An object of a block with unknown keys has no change because it waits, not because it is as wanted.
	waiting := s.instance.Key != addr.NoKey || slices.ContainsFunc(deferrals, func(d *plan.Deferral) bool { return d.Change.Addr.Unkeyed() })
	changes = slices.DeleteFunc(slices.Clone(changes), func(c *plan.Change) bool { return waiting && c.Action == plan.NoOp })
	if len(deferrals) == 1 && len(changes) == 0 {
		d := deferrals[0]
		out.Action, out.Headline, out.Why = "deferred", deferredHeadline, whyDeferred(e, d)
		if len(s.path) > 0 {
			out.Headline = "is an attribute of " + d.Change.Object().String() + ", which " + deferredHeadline
		}
		return
	}
	severalHappen(e, out, s, changes)
	out.Headline = fmt.Sprintf("has %d objects in the plan", len(deferrals)+len(changes))
	for _, d := range deferrals {
		name := d.Change.Object().String()
		p := whyDeferred(e, d)[0]
		out.Why = append(out.Why, Point{Kind: "deferred", Address: name, Text: name + " " + deferredHeadline + ": " + p.Text, Place: p.Place})
	}
}

// whyDeferred returns the reason for a deferral, all that it waits for, and the change as far as it is known.
func whyDeferred(e *Explainer, d *plan.Deferral) []Point {
	why := Point{Kind: string(d.Reason), Text: d.Reason.Text()}
	if b := e.block(d.Change.Addr); b != nil && d.Reason == plan.DeferredCountUnknown && b.Repeat.Repeated() {
		why.Place, why.Chain = placeOf(b.Repeat.Expr().Range()), firstChain(b, blocks.ForRepetition)
	}
	out := []Point{why}
	for _, w := range d.WaitsFor {
		p := Point{Kind: "waits_for", Address: w.String(), Text: "it waits for " + w.String()}
		if list := e.awaited(w); len(list) > 0 {
			p.Text += ", which " + headlines[list[0].Action]
		} else if isDeferred(e, w) {
			p.Text += ", which " + deferredHeadline + ", too"
		}
		out = append(out, p)
	}
	if a := d.Change.Action; a != plan.NoOp {
		out = append(out, Point{Kind: "as_far_as_known", Text: "as far as it is known, it " + headlines[a]})
	}
	return out
}

// isDeferred reports whether something that a dependency refers to is deferred.
func isDeferred(e *Explainer, dep plan.Dep) bool {
	for _, d := range e.plan.Deferrals {
		if dep.MayRefer(d.Change.Addr) {
			return true
		}
	}
	return false
}
