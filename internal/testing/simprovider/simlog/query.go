package simlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Hash returns the form of a secret in a transcript: the first 12 hexadecimal digits of its SHA-256.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])[:12]
}

// Call is one RPC: its begin entry, and its end entry unless the process died before.
type Call struct {
	Begin Entry
	End   *Entry
}

// Aborted reports that no end was written: the process was killed, crashed, or is still in the call.
func (c Call) Aborted() bool { return c.End == nil }

// Failed reports whether the call returned an error or was aborted.
func (c Call) Failed() bool { return c.End == nil || c.End.Err != "" }

// Duration returns how long the call took, 0 if it was aborted.
func (c Call) Duration() time.Duration {
	if c.End == nil {
		return 0
	}
	return time.Duration(c.End.T - c.Begin.T)
}

// Filter selects calls; an empty field matches everything.
type Filter struct {
	RPC, Type, Name, Action string
}

func (f Filter) match(e Entry) bool {
	return (f.RPC == "" || f.RPC == e.RPC) && (f.Type == "" || f.Type == e.Type) &&
		(f.Name == "" || f.Name == e.Name) && (f.Action == "" || f.Action == e.Action)
}

// Calls pairs the entries of the calls that match, in the order of their begins.
func (l Log) Calls(f Filter) []Call {
	type key struct{ pid, seq int }
	at := map[key]int{}
	var calls []Call
	for _, e := range l {
		k := key{e.PID, e.Seq}
		switch e.Phase {
		case Begin:
			if f.match(e) {
				at[k] = len(calls)
				calls = append(calls, Call{Begin: e})
			}
		case End:
			if i, ok := at[k]; ok {
				calls[i].End = &e
				delete(at, k) // process ids are reused in long transcripts
			}
		}
	}
	return calls
}

// Count returns the number of matching calls.
func (l Log) Count(f Filter) int { return len(l.Calls(f)) }

// Counts returns the number of calls per RPC name.
func (l Log) Counts() map[string]int {
	counts := map[string]int{}
	for _, e := range l {
		if e.Phase == Begin {
			counts[e.RPC]++
		}
	}
	return counts
}

// MaxConcurrency returns the largest number of matching calls that ran at the same time. It ignores aborted
// calls, whose end is unknown.
func (l Log) MaxConcurrency(f Filter) int {
	var spans []span
	for _, c := range l.Calls(f) {
		if c.End != nil {
			spans = append(spans, span{c.Begin.T, c.End.T})
		}
	}
	return maxOverlap(spans)
}

// Window is the life of one open ephemeral instance, as seen by its provider.
type Window struct {
	Type, Name string
	PID        int
	Lease      string // which opening it was; unique per opening
	Open       Call
	Renewals   []Call
	Closes     []Call // exactly one in a correct run
}

// Closed reports whether the instance was closed exactly once and without an error.
func (w Window) Closed() bool { return len(w.Closes) == 1 && !w.Closes[0].Failed() }

// Span returns the time from the end of the opening to the begin of the first close, in monotonic
// nanoseconds; end is -1 for a window that was never closed.
func (w Window) Span() (start, end int64) {
	if len(w.Closes) == 0 {
		return w.Open.End.T, -1
	}
	return w.Open.End.T, w.Closes[0].Begin.T
}

// Length returns the duration of Span, 0 if the window was never closed.
func (w Window) Length() time.Duration {
	start, end := w.Span()
	if end < 0 {
		return 0
	}
	return time.Duration(end - start)
}

// Covers reports whether the whole call lies within the window.
func (w Window) Covers(c Call) bool {
	start, end := w.Span()
	return c.End != nil && c.Begin.T >= start && (end < 0 || c.End.T <= end)
}

// Windows lists the openings that returned private data, in order, with their renewals and closes, which
// are assigned by the lease in their private data.
func (l Log) Windows() []Window {
	at := map[string]int{}
	var windows []Window
	for _, c := range l.Calls(Filter{RPC: "OpenEphemeralResource"}) {
		if c.End == nil || len(c.End.Private) == 0 {
			continue
		}
		lease := LeaseOf(c.End.Private)
		at[lease] = len(windows)
		windows = append(windows, Window{Type: c.Begin.Type, Name: c.Begin.Name, PID: c.Begin.PID, Lease: lease, Open: c})
	}
	for _, c := range l.Calls(Filter{}) {
		i, ok := at[LeaseOf(c.Begin.Private)]
		switch {
		case ok && c.Begin.RPC == "RenewEphemeralResource":
			windows[i].Renewals = append(windows[i].Renewals, c)
		case ok && c.Begin.RPC == "CloseEphemeralResource":
			windows[i].Closes = append(windows[i].Closes, c)
		}
	}
	return windows
}

// MaxOpen returns the largest number of ephemeral windows that were open at the same time.
func (l Log) MaxOpen() int {
	var spans []span
	for _, w := range l.Windows() {
		start, end := w.Span()
		if end < 0 {
			end = int64(^uint64(0) >> 1)
		}
		spans = append(spans, span{start, end})
	}
	return maxOverlap(spans)
}

// Unclosed names the windows that were not closed exactly once, as "type.name: n closes".
func (l Log) Unclosed() []string {
	var out []string
	for _, w := range l.Windows() {
		if len(w.Closes) != 1 {
			out = append(out, fmt.Sprintf("%s.%s: %d closes", w.Type, w.Name, len(w.Closes)))
		}
	}
	return out
}

// LeaseOf extracts the lease id from the private data of an ephemeral resource; "" if it has none.
func LeaseOf(private []byte) string {
	var p struct {
		Lease string `json:"lease"`
	}
	if json.Unmarshal(private, &p) != nil {
		return ""
	}
	return p.Lease
}

type span struct{ start, end int64 }

// maxOverlap returns the largest number of overlapping spans. A span that ends where another starts does
// not overlap it.
func maxOverlap(spans []span) int {
	type edge struct {
		t     int64
		delta int
	}
	var edges []edge
	for _, s := range spans {
		edges = append(edges, edge{s.start, 1}, edge{s.end, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		switch {
		case a.t != b.t && a.t < b.t:
			return -1
		case a.t != b.t:
			return 1
		}
		return a.delta - b.delta
	})
	best, now := 0, 0
	for _, e := range edges {
		now += e.delta
		best = max(best, now)
	}
	return best
}
