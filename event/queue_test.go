package event

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// gate is an observer that takes an event for each that it is allowed to take.
type gate struct {
	allowed chan struct{}
	got     []string
	details []string
}

func newGate() *gate { return &gate{allowed: make(chan struct{}, 1<<20)} }

func (g *gate) allow(n int) {
	for range n {
		g.allowed <- struct{}{}
	}
	synctest.Wait()
}

func (g *gate) Event(e Event) {
	<-g.allowed
	g.got = append(g.got, e.Line)
}

func (g *gate) Detail(e Event) {
	<-g.allowed
	g.details = append(g.details, e.User)
}

// TestEventsAgainstModel has an observer that takes events when it pleases, and adds events of any size
// whether or not there is room.
func TestEventsAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOf(rapid.IntRange(-eventRoom, eventRoom)).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			q := newQueue(g)
			var added []string
			var weights []int
			taken, allowed := 0, 0
			for i, n := range steps {
				if n > 0 {
					line := strings.Repeat("x", n*eventLine/8) + string(rune('a'+i%26))
					q.add(Event{Line: line}, false)
					added, weights = append(added, line), append(weights, 1+len(line)/eventLine)
				} else {
					g.allow(-n % 4)
					allowed += -n % 4
				}
				synctest.Wait()
				taken = min(allowed, len(added))
				left := 0
				for _, w := range weights[taken:] {
					left += w
				}
				if len(g.got) != taken || q.full() != (left >= eventRoom) {
					t.Errorf("after step %d: got %d events, full %t with a weight of %d, want %d events, full from a weight of %d", i, len(g.got), q.full(), left, taken, eventRoom)
				}
			}
			g.allow(len(added))
			if bugs := q.flush(); bugs != nil || !slices.Equal(g.got, added) || q.weight != 0 {
				t.Errorf("got %d events, weight %d, %v, want all %d in order, weight 0", len(g.got), q.weight, bugs, len(added))
			}
		})
	})
}

// TestEventsHoldBackWhatHasNotBegun lets only what asks for room wait.
func TestEventsHoldBackWhatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := NewReporter(g, time.Now, nil)
		q := r.queue
		soft, interrupt := context.WithCancel(t.Context())
		hard, insist := context.WithCancel(t.Context())
		r.Await(t.Context(), soft) // there is room
		for range 3 * eventRoom {
			q.add(Event{}, false)
		}
		var begun atomic.Int64
		for _, ctx := range []context.Context{soft, soft, t.Context()} {
			go func() {
				r.Await(t.Context(), ctx)
				begun.Add(1)
			}()
		}
		wants := func(when string, want int64) {
			t.Helper()
			synctest.Wait()
			if got := begun.Load(); got != want {
				t.Errorf("%s: %d have begun, want %d", when, got, want)
			}
		}
		go func() {
			r.Await(hard, t.Context())
			begun.Add(1)
		}()
		wants("while the observer blocks", 0)
		g.allow(2 * eventRoom)
		wants("with one too many", 0)
		interrupt()
		wants("after an interrupt", 2)
		insist()
		wants("after another interrupt", 3)
		g.allow(eventRoom)
		wants("when it has caught up", 4)
		q.flush()
	})
}

// TestEventsAreBounded renews and waits while the observer blocks: endless events are dropped then.
func TestEventsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := NewReporter(g, time.Now, nil)
		renewed := func(n int) {
			for range n {
				e.Begin(OpRenew, Event{}.Object, 0, "", "")(nil, "", "")
			}
		}
		renewed(3 * eventRoom)
		done := e.Begin(OpCreate, Event{}.Object, 0, "", "")
		time.Sleep(time.Hour + time.Second) // between two reports of progress
		done(nil, "", "")
		g.allow(3 * eventRoom)
		renewed(1)
		e.Flush()
		if want := eventRoom + 2 + 2; len(g.got) != want {
			t.Errorf("got %d events, want %d", len(g.got), want)
		}
	})
}

// broken panics at some events.
type broken struct{ got int }

func (b *broken) Event(e Event) {
	if e.Kind == Failed {
		panic("a secret value")
	}
	b.got++
}

func TestPanicOfAnObserver(t *testing.T) {
	b := &broken{}
	q := newQueue(b)
	for _, kind := range []Kind{Started, Failed, Completed} {
		q.add(Event{Kind: kind}, false)
	}
	bugs := q.flush()
	if b.got != 2 || len(bugs) != 1 || bugs[0].Summary != "Bug in Mayfly" || strings.Contains(bugs.Err().Error(), "secret") {
		t.Errorf("got %d events, %v, want 2, and one bug without the value", b.got, bugs)
	}
	if bugs := q.flush(); bugs != nil {
		t.Errorf("reported again: %v", bugs)
	}
}

// TestDetailsInOrder delivers details among the other events.
func TestDetailsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		e := NewReporter(g, time.Now, nil)
		e.Detail(Event{User: "first"})
		e.Report(Event{Line: "second"})
		e.Detail(Event{User: "third"})
		g.allow(2)
		if !slices.Equal(g.details, []string{"first"}) || !slices.Equal(g.got, []string{"second"}) {
			t.Errorf("got details %q, events %q, want \"first\", \"second\"", g.details, g.got)
		}
		g.allow(1)
		e.Flush()
	})
}
