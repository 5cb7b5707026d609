package explain

import (
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
)

// deferralsOf returns the deferrals of an instance, or of the instances of a block if the key is missing.
func deferralsOf(e *Explainer, a addr.Instance) (out []*plan.Deferral) {
	for _, d := range e.plan.Deferrals {
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

// explainDeferred fills in why the plan leaves a subject to a later one, which it does with all in the list.
func explainDeferred(e *Explainer, out *Answer, list []*plan.Deferral) {
	if len(list) == 1 {
		out.Why = append(out.Why, whyDeferred(e, list[0])...)
		return
	}
	for _, d := range list {
		p := whyDeferred(e, d)[0]
		p.Address, p.Text = d.Change.Object().String(), d.Change.Object().String()+": "+p.Text
		out.Why = append(out.Why, p)
	}
}

// whyDeferred returns the reason for a deferral, then the objects that it waits for.
func whyDeferred(e *Explainer, d *plan.Deferral) []Point {
	b := e.block(d.Change.Addr)
	reason := Point{Kind: string(d.Reason), Text: d.Reason.Text()}
	if d.Reason == plan.DeferredCountUnknown && b != nil && b.Repeat.Repeated() && d.Change.Addr.Key == addr.AnyKey {
		reason.Text = b.Repeat.Argument() + " is known only after an apply, and so are its instances"
		reason.Place, reason.Chain = placeOf(b.Repeat.Expr().Range()), e.firstChain(b, blocks.ForRepetition)
	}
	out := []Point{reason}
	for i, dep := range d.WaitsFor {
		if i == maxListed {
			return append(out, Point{Kind: "waits_for", Text: fmt.Sprintf("it waits for %d others too", len(d.WaitsFor)-i)})
		}
		up := dep.Resource.Instance(dep.Key)
		p := Point{Kind: "waits_for", Address: dep.String(), Text: "it waits for " + dep.String()}
		if changes := e.awaited(dep); len(changes) > 0 {
			p.Text += ", which " + headlines[changes[0].Action]
		} else if slices.ContainsFunc(e.plan.Deferrals, func(d *plan.Deferral) bool { return dep.MayRefer(d.Change.Addr) }) {
			p.Text += ", which is deferred too"
		}
		if b != nil {
			p.Place, p.Chain = e.wayTo(b, up)
		}
		out = append(out, p)
	}
	return out
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
