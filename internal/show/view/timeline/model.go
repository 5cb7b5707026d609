package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/mayfly-iac/mayfly/event"
)

// model is the content of a page, independent of its layout. It is built once from a recorder under its
// lock and never changes, so that writing the page blocks no event. All times are within scale.begin and
// scale.end.
type model struct {
	scale       scale
	phases      []span
	interrupted time.Time
	groups      []group // of ephemeral instances, by their first events
	providers   []row
	objects     []*object
	dense       bool   // there are too many rows to write text in them
	profile     []step // how many instances are open at once
	summary     summary
}

// group is the instances of one ephemeral block, by their first events.
type group struct {
	name string
	rows []row
}

// row is one ephemeral instance, or one provider that was configured from ephemeral values.
type row struct {
	*thing
	windows    []window
	lanes      []int // of each use
	laneCount  int
	open, used time.Duration
}

// window is a time of exposure: from the answer to the opening to the answer to the closing. Only then does
// the program hold the value.
type window struct {
	from, to time.Time
	unclosed bool // it was still open at the last event
}

// step is a change of the number of open instances.
type step struct {
	at time.Time
	n  int
}

// summary is the numbers at the head of the page. open and used are sums over all instances, so they may be
// longer than the run.
type summary struct {
	instances, openings, most int
	open, used, longest       time.Duration
	troubles                  int // failed calls and instances that were not closed
	deferred                  int // instances that were deferred and not opened later
}

// maxLanes bounds the height of a row. Uses beyond it are drawn over each other, where the picture is full
// anyway; the tables have them all.
const maxLanes = 12

// manyRows is the number of instances from which rows are drawn small.
const manyRows = 60

// model builds the content of a page from the events so far. It copies data that later events would change.
// r.mu is held.
func (r *Recorder) model() *model {
	m := &model{phases: slices.Clone(r.phases), interrupted: r.interrupted, scale: newScale(r.begin, r.end, r.phases)}
	lives := r.providerLives()
	at := map[string]int{} // name of a group → its index
	instances := 0
	for _, t := range r.thingOrder {
		ro := r.row(t, lives)
		if t.provider {
			if len(ro.windows) > 0 { // else it was never configured: all its values were deferred
				m.providers = append(m.providers, ro)
			}
			continue
		}
		i, ok := at[t.group]
		if !ok {
			i = len(m.groups)
			at[t.group] = i
			m.groups = append(m.groups, group{name: t.group})
		}
		m.groups[i].rows = append(m.groups[i].rows, ro)
		instances++
	}
	for i := range m.groups {
		slices.SortStableFunc(m.groups[i].rows, func(a, b row) int { return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.name, b.name)) })
	}
	for _, o := range r.objectOrder {
		c := &object{name: o.name, module: o.module, ops: slices.Clone(o.ops)}
		for i := range c.ops {
			c.ops[i].to = r.until(c.ops[i])
		}
		m.objects = append(m.objects, c)
	}
	for i := range m.phases {
		m.phases[i].to = r.until(m.phases[i])
	}
	m.dense = instances > manyRows
	m.summarize()
	return m
}

// until returns the end of a span; a span that is still running ends at the last event. r.mu is held.
func (r *Recorder) until(s span) time.Time {
	if s.outcome == running {
		return r.end
	}
	return s.to
}

// providerLives returns by provider when it was configured. It is derived from their uses of ephemeral
// instances: an instance is held by the provider that it configured until its process ends.
func (r *Recorder) providerLives() map[string][]window {
	lives := map[string][]window{}
	for _, t := range r.thingOrder {
		for _, u := range t.uses {
			if u.op == event.OpConfigure {
				lives[u.user] = append(lives[u.user], window{from: u.from, to: r.until(u.span)})
			}
		}
	}
	for name, list := range lives {
		lives[name] = merged(list)
	}
	return lives
}

// merged joins windows that overlap or touch. It sorts list in place and reuses it.
func merged(list []window) []window {
	slices.SortFunc(list, func(a, b window) int { return a.from.Compare(b.from) })
	out := list[:0]
	for _, w := range list {
		if n := len(out); n > 0 && !w.from.After(out[n-1].to) {
			// A window may lie within another.
			if w.to.After(out[n-1].to) {
				out[n-1].to = w.to
			}
			continue
		}
		out = append(out, w)
	}
	return out
}

// row copies a thing, ends the spans that are still running, and computes when it was exposed and used. lives
// has the windows of providers. r.mu is held.
func (r *Recorder) row(t *thing, lives map[string][]window) row {
	c := *t
	c.open, c.deferred = nil, slices.Clone(t.deferred)
	c.calls, c.uses = slices.Clone(t.calls), slices.Clone(t.uses)
	for i := range c.calls {
		c.calls[i].to = r.until(c.calls[i])
	}
	for i := range c.uses {
		c.uses[i].to = r.until(c.uses[i].span)
	}
	out := row{thing: &c, windows: lives[t.name]}
	if !t.provider {
		out.windows = windows(c.calls, r.end)
	}
	// A provider that waits for deferred instances is used for planning meanwhile. Nothing ephemeral is in it
	// then, so these uses are left out.
	if t.provider {
		c.uses = slices.DeleteFunc(c.uses, func(u use) bool {
			return !slices.ContainsFunc(out.windows, func(w window) bool { return !u.from.After(w.to) && !u.to.Before(w.from) })
		})
	}
	out.open = union(len(out.windows), func(i int) (time.Time, time.Time) { return out.windows[i].from, out.windows[i].to })
	out.used = union(len(c.uses), func(i int) (time.Time, time.Time) { return c.uses[i].from, c.uses[i].to })
	out.lanes, out.laneCount = pack(len(c.uses), maxLanes, func(i int) (time.Time, time.Time) { return c.uses[i].from, c.uses[i].to })
	return out
}

// windows pairs each opening with the closing that follows it. An opening that failed counts only if it is
// closed nevertheless: only then was something open.
func windows(calls []span, end time.Time) []window {
	var out []window
	var opened *span
	for i := range calls {
		switch c := &calls[i]; {
		// An opening that has not ended may have exposed nothing yet.
		case c.op == event.OpOpen && c.outcome != running:
			if opened != nil && opened.outcome == done {
				out = append(out, window{from: opened.to, to: c.from, unclosed: true})
			}
			opened = c
		case c.op == event.OpClose && opened != nil:
			out = append(out, window{from: opened.to, to: c.to, unclosed: c.outcome == running})
			opened = nil
		}
	}
	if opened != nil && opened.outcome == done {
		out = append(out, window{from: opened.to, to: end, unclosed: true})
	}
	return out
}

// union returns the length of time that n intervals cover together; overlaps count once.
func union(n int, at func(int) (from, to time.Time)) time.Duration {
	var total time.Duration
	var until time.Time
	for _, i := range byStart(n, at) {
		from, to := at(i)
		if from.Before(until) {
			from = until
		}
		if to.After(from) {
			total += to.Sub(from)
			until = to
		}
	}
	return total
}

// byStart returns the indices of n intervals, sorted by their start. The intervals stay where they are, since
// callers keep other data by the same indices.
func byStart(n int, at func(int) (from, to time.Time)) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, _ := at(a)
		y, _ := at(b)
		return x.Compare(y)
	})
	return order
}

// pack assigns n intervals to lanes so that those in one lane do not overlap, as long as most lanes suffice;
// the rest share the last lane. Because the lanes are bounded, the cost is the cost of sorting.
func pack(n, most int, at func(int) (from, to time.Time)) (lanes []int, count int) {
	lanes = make([]int, n)
	var ends []time.Time
	for _, i := range byStart(n, at) {
		from, to := at(i)
		lane := slices.IndexFunc(ends, func(end time.Time) bool { return !end.After(from) })
		switch {
		case lane >= 0:
		case len(ends) < most:
			ends = append(ends, to)
			lane = len(ends) - 1
		default:
			lane = most - 1
		}
		if to.After(ends[lane]) {
			ends[lane] = to
		}
		lanes[i] = lane
	}
	return lanes, len(ends)
}

// summarize computes the numbers at the head of the page and the profile of open instances, from the openings
// and closings in order of time. Providers are left out: they are exposed through the instances that
// configure them.
func (m *model) summarize() {
	s := &m.summary
	var edges []step
	for _, g := range m.groups {
		s.instances += len(g.rows)
		for _, ro := range g.rows {
			s.open += ro.open
			s.used += ro.used
			if len(ro.windows) == 0 && len(ro.deferred) > 0 {
				s.deferred++
			}
			for _, w := range ro.windows {
				s.openings++
				s.longest = max(s.longest, w.to.Sub(w.from))
				edges = append(edges, step{w.from, 1}, step{w.to, -1})
				if w.unclosed {
					s.troubles++
				}
			}
			for _, c := range ro.calls {
				if c.outcome == failed {
					s.troubles++
				}
			}
		}
	}
	// At the same time, closings come before openings, so that a replacement doesn't count as two instances.
	slices.SortStableFunc(edges, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
	n := 0
	for _, e := range edges {
		n += e.n
		s.most = max(s.most, n)
		m.profile = append(m.profile, step{e.at, n})
	}
}
