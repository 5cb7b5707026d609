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

// deferralsOf returns the deferrals of an instance, of the instances of a block if the key is missing, or the
// one that has exactly this address. The address may be as the plan shows it, with "*" for an unknown key.
func deferralsOf(e *Explainer, a addr.Instance) (out []*plan.Deferral) {
	for _, d := range e.deferrals[a.Config()] {
		if d.Change.Addr == a {
			return []*plan.Deferral{d}
		}
		if covers(d.Change.Addr, a) {
			out = append(out, d)
		}
	}
	return out
}

// covers reports whether a deferred address, whose keys may be unknown, stands for an instance.
func covers(deferred, a addr.Instance) bool {
	if deferred.Config() != a.Config() || !fits(deferred.Key, a.Key) {
		return false
	}
	path, want := deferred.Module.Path(), a.Module.Path()
	for i := range path {
		_, _, key := path[i].Parent()
		_, _, other := want[i].Parent()
		if !fits(key, other) {
			return false
		}
	}
	return true
}

func fits(deferred, key addr.Key) bool {
	return deferred == addr.AnyKey || key == addr.NoKey || deferred == key
}

// deferredHappens explains why the subject is deferred. changes has its other instances.
func deferredHappens(e *Explainer, out *Answer, s subject, deferrals []*plan.Deferral, changes []*plan.Change) {
	// An object of a block with unknown keys has no change because it waits, not because it is as wanted.
	waiting := s.instance.Key != addr.NoKey || slices.ContainsFunc(deferrals, func(d *plan.Deferral) bool { return d.Change.Addr.Unkeyed() })
	changes = slices.DeleteFunc(slices.Clone(changes), func(c *plan.Change) bool { return waiting && c.Action == plan.NoOp })
	if len(deferrals) == 1 && len(changes) == 0 {
		d := deferrals[0]
		out.Action, out.Headline, out.Why = "defer", deferredHeadline, whyDeferred(e, d)
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
		out.Why = append(out.Why, Point{Kind: "defer", Address: name, Text: name + " " + deferredHeadline + ": " + p.Text, Place: p.Place})
	}
}

// whyDeferred returns the reason for a deferral, the objects that it waits for, and the change as far as it
// is known.
func whyDeferred(e *Explainer, d *plan.Deferral) []Point {
	b := e.block(d.Change.Addr)
	why := Point{Kind: string(d.Reason), Text: d.Why()}
	if d.Reason == plan.DeferredCountUnknown && b != nil && b.Repeat.Repeated() && d.Change.Addr.Key == addr.AnyKey {
		why.Text = b.Repeat.Argument() + " is known only after an apply, and so are its instances"
		why.Place, why.Chain = placeOf(b.Repeat.Expr().Range()), firstChain(b, blocks.ForRepetition)
	}
	out := []Point{why}
	for i, dep := range d.WaitsFor {
		if i == maxListed {
			out = append(out, Point{Kind: "waits_for", Text: fmt.Sprintf("it waits for %d others too", len(d.WaitsFor)-i)})
			break
		}
		p := Point{Kind: "waits_for", Address: dep.String(), Text: "it waits for " + dep.String()}
		if list := e.awaited(dep); len(list) > 0 {
			p.Text += ", which " + headlines[list[0].Action]
		} else if isDeferred(e, dep) {
			p.Text += ", which is deferred too"
		} else if dep.Resource.Resource.Mode == addr.Ephemeral {
			p.Text += ", whose provider cannot open it yet"
		}
		if b != nil {
			p.Place, p.Chain = e.wayTo(b, dep.Resource.Instance(dep.Key))
		}
		out = append(out, p)
	}
	switch a := d.Change.Action; {
	case d.Change.Importing != nil:
		out = append(out, Point{Kind: "as_far_as_known", Text: "as far as it is known, it will be imported"})
	case a != plan.NoOp:
		out = append(out, Point{Kind: "as_far_as_known", Text: "as far as it is known, it " + headlines[a]})
	}
	if d.Change.Moved() {
		out = append(out, wasMoved(d.Change))
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

// deferredIn counts the deferrals in the instances of a module.
func deferredIn(e *Explainer, call *blocks.Call) (n int) {
	for _, d := range e.plan.Deferrals {
		if call.Child != nil && slices.ContainsFunc(d.Change.Addr.Module.Path(), func(m addr.ModuleInstance) bool { return m.Module() == call.Child.Config.Path }) {
			n++
		}
	}
	return n
}
