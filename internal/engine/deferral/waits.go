package deferral

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/component"
	"github.com/mayfly-iac/mayfly/plan"
)

// waits is a graph of everything that deferred objects wait for: each other, and the changes that the plan
// makes. Its nodes are instances, and groups of instances that dependencies refer to as one, which lead to
// their members. So the graph has few more links than there are dependencies.
type waits struct {
	nodes map[any]int32 // by addr.Instance or, for a group, by addr.AbsResource, plan.Span, block or call
	next  [][]int32
	kinds []kind
	seen  []int32  // the last search that has reached a node
	last  int32    // the number of the last search, starting at 1
	whole int32    // the number of the last search for everything that an object waits for
	from  plan.Dep // that object
}

// The groups of instances whose keys are not known, or have module instances around them with unknown keys.
type (
	block addr.ConfigResource
	call  addr.Module // those in it
)

// kind says when a node comes to an end. The zero value has none: the plan leaves the instance as it is.
type kind int8

const (
	deferred kind = iota + 1
	changing      // with all that it depends on
	group
)

// findWaits returns everything that the entries of a set, and changes, wait for.
func findWaits(s *Set, changes map[addr.Object]*plan.Change) *waits {
	w := &waits{nodes: map[any]int32{}}
	for _, d := range s.List() {
		if d.Change.Deposed == addr.Current { // nothing refers to the old object of a replacement
			w.add(d.Change.Addr, deferred, d.WaitsFor)
		}
	}
	for o, c := range changes {
		if o.Deposed == addr.Current && c.Action != plan.NoOp {
			w.add(c.Addr, changing, c.Deps)
		}
	}
	return w
}

func (w *waits) add(a addr.Instance, k kind, deps []plan.Dep) {
	n := w.node(a)
	w.kinds[n] = k
	for _, d := range deps {
		w.next[n] = append(w.next[n], w.referred(d)...)
	}
}

// node returns the node of an instance.
func (w *waits) node(a addr.Instance) int32 {
	n, known := w.get(a)
	if !known {
		for _, g := range groups(a) {
			from, _ := w.get(g)
			w.kinds[from] = group
			w.next[from] = append(w.next[from], n)
		}
	}
	return n
}

// get returns the node with a name, which it adds unless it is known.
func (w *waits) get(name any) (n int32, known bool) {
	if n, known = w.nodes[name]; !known {
		n = int32(len(w.next))
		w.nodes[name] = n
		w.next, w.seen, w.kinds = append(w.next, nil), append(w.seen, 0), append(w.kinds, 0)
	}
	return n, known
}

// groups returns the groups that an instance belongs to.
func groups(a addr.Instance) (out []any) {
	if !a.Unkeyed() {
		out = append(out, a.Abs())
		for _, s := range plan.Spans(a) {
			out = append(out, s)
		}
		return out
	}
	out = append(out, block(a.Config()), call(addr.RootModule))
	for m := a.Module.Module(); !m.IsRoot(); m, _ = m.Parent() {
		out = append(out, call(m))
	}
	return out
}

// referred returns the nodes that a dependency refers to.
func (w *waits) referred(d plan.Dep) []int32 {
	if d.Resource.Resource == (addr.Resource{}) {
		n, _ := w.get(call(d.Resource.Module.Module()))
		return []int32{n}
	}
	unkeyed, _ := w.get(block(d.Resource.Config()))
	var n int32
	switch {
	case d.Modules:
		n, _ = w.get(d.Span())
	case d.All:
		n, _ = w.get(d.Resource)
	default:
		n = w.node(d.Resource.Instance(d.Key))
	}
	return []int32{n, unkeyed}
}

// search follows links from an object, until done returns true for a node that it reaches. It stays among the
// nodes for which within returns true.
func (w *waits) search(next [][]int32, from plan.Dep, within, done func(int32) bool) bool {
	w.last++
	left := slices.DeleteFunc(w.referred(from), func(n int32) bool { return !within(n) })
	for len(left) > 0 {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		for _, to := range next[n] {
			if w.seen[to] == w.last || !within(to) {
				continue
			}
			if w.seen[to] = w.last; done(to) {
				return true
			}
			left = append(left, to)
		}
	}
	return false
}

// leadTo reports whether an object waits for another one, directly or through others. As long as it is asked
// about the same object, it searches once.
func (w *waits) leadTo(from plan.Dep, to addr.Instance) bool {
	if w.whole == 0 || w.whole != w.last || w.from != from {
		w.referred(from) // whose nodes are in next from now on
		w.search(w.next, from, func(int32) bool { return true }, func(int32) bool { return false })
		w.whole, w.from = w.last, from
	}
	return w.seen[w.node(to)] == w.whole
}

// closing returns for each deferral the index in WaitsFor of the first object that itself waits for the
// deferred one, directly or through others, including deferrals of the list; -1 if there is none. Two such
// objects are in one component of the graph that has all these deferrals, so only components with several
// nodes are searched. Usually there are none.
func (w *waits) closing(list []*plan.Deferral) []int {
	links := make([][]int32, len(list))
	for i, d := range list {
		w.node(d.Change.Addr)
		for _, on := range d.WaitsFor {
			links[i] = append(links[i], w.referred(on)...)
		}
	}
	next := slices.Clone(w.next)
	for i, d := range list {
		n := w.node(d.Change.Addr)
		next[n] = slices.Concat(next[n], links[i])
	}
	_, number := component.Find(next, func(to int32) int32 { return to })
	out := make([]int, len(list))
	for i, d := range list {
		n := w.node(d.Change.Addr)
		ends := []int32{n}
		for _, g := range groups(d.Change.Addr) {
			ends = append(ends, w.nodes[g])
		}
		within := func(to int32) bool { return number[to] == number[n] }
		out[i] = slices.IndexFunc(d.WaitsFor, func(on plan.Dep) bool {
			return w.search(next, on, within, func(to int32) bool { return slices.Contains(ends, to) })
		})
	}
	return out
}
