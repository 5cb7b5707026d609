package rounds

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// Stuck returns an error if carrying out the plan of the next round would not bring its deferrals any
// further. It names all of them, with the reasons. A plan that is complete or has errors is not stuck. It is
// called once for each plan.
func (m *Memory) Stuck(p *plan.Plan) diag.List {
	if p.Complete() || p.Errored {
		return nil
	}
	m.mu.Lock()
	last := m.last
	onward := m.progressed(p)
	m.mu.Unlock()
	if onward {
		return nil
	}
	var text strings.Builder
	if last == nil {
		text.WriteString("This plan changes nothing, so that a later one could not plan these objects either:\n")
	} else {
		text.WriteString("The last round has brought nothing that these objects wait for, so that a further one would not either:\n")
	}
	for _, d := range p.Deferrals {
		fmt.Fprintf(&text, "\n  - %s: %s", d.Change.Object(), d.Why())
		if waits := strings.Join(d.Awaited(), ", "); waits != "" {
			fmt.Fprintf(&text, ". It waits for %s", waits)
		}
		text.WriteString(".")
	}
	text.WriteString("\n\n")
	if last != nil && !p.Changed() {
		text.WriteString("Everything else has been applied. ")
	}
	text.WriteString(wayOn(p.Deferrals))
	return diag.Errorf("No progress", "%s", text.String())
}

// wayOn gives advice about deferrals that no further plan brings to an end.
func wayOn(deferrals []*plan.Deferral) string {
	changes, answered := false, false
	for _, d := range deferrals {
		answered = answered || len(d.WaitsFor) == 0
		for _, w := range d.WaitsFor {
			if w.Resource.Resource.Mode == addr.Ephemeral { // its provider has put off opening it
				answered = true
				continue
			}
			itself := slices.ContainsFunc(deferrals, func(o *plan.Deferral) bool { return w.MayRefer(o.Change.Addr) })
			changes = changes || !itself
		}
	}
	text := "Use values that are known in advance."
	if changes {
		text = "If an object that others wait for changes in every plan, such as one with an argument that is never the same, make it stay as it is. Otherwise use values that are known in advance."
	}
	if answered {
		text = "An object that waits for nothing is put off by its provider, and so is an ephemeral resource that others wait for: see its documentation for what has to exist, or to be known, before. " + text
	}
	return text
}

// Stalled reports whether carrying out a plan would not bring its deferrals any further. It notes nothing, so
// that it may be called at any time. Without a memory, a plan that changes nothing is stalled.
func (m *Memory) Stalled(p *plan.Plan) bool {
	if m == nil {
		return !p.Changed()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, onward := m.compare(p)
	return !onward
}

// progressed notes the gain of a plan, and reports whether it is nearer to a complete one than the plans
// before it. The caller holds m.mu.
func (m *Memory) progressed(p *plan.Plan) bool {
	known, onward := m.compare(p)
	for _, w := range known {
		m.known[w] = struct{}{}
	}
	if onward {
		m.least = remaining(p)
	}
	return onward
}

// compare reports whether a plan is nearer to a complete one than the plans before it: something that a
// deferred object waited for has become known, for the first time in this run, or it defers less than any
// plan since that happened last. Other changes do not count, since an object may change in every plan. So a
// run has no more rounds than there are things to wait for and deferrals. known lists the values that have
// become known. The caller holds m.mu.
func (m *Memory) compare(p *plan.Plan) (known []plan.Dep, onward bool) {
	if m.last == nil {
		return nil, p.Changed()
	}
	was, is := pendingOf(m.last), pendingOf(p)
	for _, d := range m.last.Deferrals {
		for _, w := range d.WaitsFor {
			if _, before := m.known[w]; !before && was.touched(w) && !is.touched(w) {
				known = append(known, w)
			}
		}
	}
	left := remaining(p)
	return known, len(known) > 0 || slices.Compare(left[:], m.least[:]) < 0
}

// remaining returns how many objects a plan defers that the configuration declares, and how many
// destructions. The first counts for more: when the instances of a block become known, the destruction of its
// old ones may have to wait in turn.
func remaining(p *plan.Plan) (n [2]int) {
	for _, d := range p.Deferrals {
		if destroysOnly(d.Change) {
			n[1]++
		} else {
			n[0]++
		}
	}
	return n
}

// destroysOnly reports whether a change leaves no object that anything could refer to.
func destroysOnly(c *plan.Change) bool {
	return c.Deposed != addr.Current || c.Action == plan.Delete || c.Action == plan.Forget
}

// pending has the objects that are not known before a plan is applied.
type pending struct {
	altered  plan.Instances
	deferred []addr.Instance
}

func pendingOf(p *plan.Plan) *pending {
	out := &pending{}
	for _, c := range p.Changes {
		if !destroysOnly(c) && c.Action != plan.NoOp {
			out.altered.Add(c.Addr)
		}
	}
	for _, d := range p.Deferrals {
		if destroysOnly(d.Change) {
			continue
		}
		out.altered.Add(d.Change.Addr)
		if d.Change.Addr.Unkeyed() {
			out.deferred = append(out.deferred, d.Change.Addr)
		}
	}
	return out
}

// touched reports whether a dependency refers to anything that is pending.
func (p *pending) touched(d plan.Dep) bool {
	return p.altered.Touched(d) || slices.ContainsFunc(p.deferred, func(a addr.Instance) bool { return d.MayRefer(a) })
}
