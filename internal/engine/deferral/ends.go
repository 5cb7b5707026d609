package deferral

import "github.com/mayfly-iac/mayfly/plan"

// ends returns for each node whether its objects may come to an end, if each deferral of the list waits
// for the first of WaitsFor. A deferred object may do so if one of the objects that it waits for does: only
// this one may have been unknown.
func (w *waits) ends(list []*plan.Deferral) []bool {
	for _, d := range list {
		n := w.node(d.Change.Addr)
		w.next[n] = append(w.next[n], w.referred(d.WaitsFor[0])...)
	}
	out, missing := make([]bool, len(w.next)), make([]int, len(w.next))
	pending := func(n int32) bool { return w.kinds[n] != 0 && (w.kinds[n] != group || missing[n] > 0) }
	waiting := make([][]int32, len(w.next)) // the nodes that lead to a node
	var done []int32
	link := func(n int32) {
		for _, to := range w.next[n] {
			if pending(to) {
				waiting[to] = append(waiting[to], n)
				missing[n]++
			}
		}
	}
	for n, k := range w.kinds {
		if k == group {
			link(int32(n))
		}
	}
	for n, k := range w.kinds {
		if k == deferred || k == changing {
			if link(int32(n)); missing[n] == 0 {
				out[n], done = true, append(done, int32(n))
			}
		}
	}
	for len(done) > 0 {
		n := done[len(done)-1]
		done = done[:len(done)-1]
		for _, by := range waiting[n] {
			if missing[by]--; !out[by] && (missing[by] == 0 || w.kinds[by] != changing) {
				out[by], done = true, append(done, by)
			}
		}
	}
	return out
}
