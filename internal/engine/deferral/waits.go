package deferral

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// waits has everything that deferred objects wait for: each other, and the changes that the plan makes.
type waits struct {
	at      map[addr.Instance][]*waiting
	of      map[addr.ConfigResource][]*waiting
	generic []*waiting // blocks whose instances are unknown
}

// waiting is a deferred instance or block, or a change.
type waiting struct {
	addr.Instance
	itself plan.Instances
	deps   []plan.Dep
}

// findWaits returns everything that the entries of a set, and changes, wait for.
func findWaits(s *Set, changes map[addr.Object]*plan.Change) *waits {
	w := &waits{at: map[addr.Instance][]*waiting{}, of: map[addr.ConfigResource][]*waiting{}}
	for _, d := range s.List() {
		if d.Change.Deposed == addr.Current { // nothing refers to the old object of a replacement
			w.add(d.Change.Addr, d.WaitsFor)
		}
	}
	for o, c := range changes {
		if o.Deposed == addr.Current && c.Action != plan.NoOp {
			w.add(c.Addr, c.Deps)
		}
	}
	return w
}

func (w *waits) add(a addr.Instance, deps []plan.Dep) {
	n := &waiting{Instance: a, deps: deps}
	n.itself.Add(a)
	if a.Unkeyed() {
		w.generic = append(w.generic, n)
		return
	}
	w.at[a] = append(w.at[a], n)
	w.of[a.Config()] = append(w.of[a.Config()], n)
}

// leadTo reports whether an object waits for another one, directly or through others.
func (w *waits) leadTo(from, to addr.Instance) bool {
	var target plan.Instances
	target.Add(to)
	seen, known := map[*waiting]struct{}{}, map[plan.Dep]struct{}{}
	queue := w.at[from]
	for _, n := range w.generic {
		if n.Config() == from.Config() {
			queue = append(slices.Clip(queue), n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if _, again := seen[n]; again {
			continue
		}
		seen[n] = struct{}{}
		for _, d := range n.deps {
			if target.Touched(d) {
				return true
			}
			if _, again := known[d]; !again {
				known[d] = struct{}{}
				queue = append(slices.Clip(queue), w.referred(d)...)
			}
		}
	}
	return false
}

// referred returns the objects that a dependency refers to.
func (w *waits) referred(d plan.Dep) (out []*waiting) {
	for _, n := range w.generic {
		if d.MayRefer(n.Instance) {
			out = append(out, n)
		}
	}
	if !d.All && !d.Modules {
		return append(out, w.at[d.Resource.Instance(d.Key)]...)
	}
	for _, n := range w.of[d.Resource.Config()] {
		if n.itself.Touched(d) {
			out = append(out, n)
		}
	}
	return out
}
