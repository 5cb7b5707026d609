package event

import (
	"context"
	"sync"

	"github.com/mayfly-iac/mayfly/diag"
)

// eventRoom is how many events may wait for the observer before nothing new is begun, a long line of output
// counting as several.
const eventRoom = 4096

// eventLine is the length of a line of output that counts as an event more.
const eventLine = 256

// queue hands events to the observer, one at a time and in order, on a goroutine of its own. Observers write,
// so they wait whenever the receiver of their output is busy, and nothing that is under way may wait with
// them: neither renewals and closings nor results and interrupts.
//
// Instead, new work waits: a slot is not used while there is no room. So the number of events is bounded by
// room and by the work under way then, but for renewals and progress, which go on while something waits;
// those are left out.
type queue struct {
	observer Observer
	details  DetailObserver // nil if the observer does not ask for details

	mu     sync.Mutex
	events []queued
	spare  []queued      // the space of the last batch: one is filled while the other is delivered
	weight int           // of events that the observer has not received
	freed  chan struct{} // closed when there is room again; nil if nothing waits for it
	idle   chan struct{} // closed when nothing is left to deliver; nil while that is so
	bugs   diag.List
}

// queued is an event and who it is for.
type queued struct {
	Event
	detail bool
}

func (q *queued) weight() int { return 1 + len(q.Line)/eventLine }

func newQueue(o Observer) *queue {
	q := &queue{observer: o}
	q.details, _ = o.(DetailObserver)
	return q
}

// add passes an event on, to a DetailObserver only if it is a detail. It never waits.
func (q *queue) add(ev Event, detail bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = append(q.events, queued{ev, detail})
	q.weight += q.events[len(q.events)-1].weight()
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.deliver()
	}
}

// full reports whether dispensable events should be left out.
func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.weight >= eventRoom
}

// await waits until there is room, or one of the contexts ends.
func (q *queue) await(hard, soft context.Context) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.weight >= eventRoom {
		if q.freed == nil {
			q.freed = make(chan struct{})
		}
		freed := q.freed
		q.mu.Unlock()
		select {
		case <-freed:
		case <-soft.Done():
			q.mu.Lock()
			return
		case <-hard.Done():
			q.mu.Lock()
			return
		}
		q.mu.Lock()
	}
}

// deliver calls the observer until there are no more events.
func (q *queue) deliver() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.events) > 0 {
		batch := q.events
		q.events, q.spare = q.spare[:0], nil
		for i := range batch {
			q.mu.Unlock()
			bugs := q.observe(&batch[i])
			q.mu.Lock()
			q.bugs = append(q.bugs, bugs...)
			q.weight -= batch[i].weight()
			batch[i] = queued{}
			if q.freed != nil && q.weight <= eventRoom/2 {
				close(q.freed)
				q.freed = nil
			}
		}
		q.spare = batch
	}
	if cap(q.events)+cap(q.spare) > eventRoom/4 { // after a burst
		q.events, q.spare = nil, nil
	}
	close(q.idle)
	q.idle = nil
}

// observe calls the observer, whose panic must not end work under way.
func (q *queue) observe(ev *queued) (bugs diag.List) {
	defer func() {
		if r := recover(); r != nil {
			bugs = diag.Bug("an event of "+ev.Object.String(), r)
		}
	}()
	if ev.detail {
		q.details.Detail(ev.Event)
	} else {
		q.observer.Event(ev.Event)
	}
	return nil
}

// flush waits until the observer has received every event so far, and returns its panics since the last time.
func (q *queue) flush() diag.List {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.idle != nil {
		idle := q.idle
		q.mu.Unlock()
		<-idle
		q.mu.Lock()
	}
	bugs := q.bugs
	q.bugs = nil
	return bugs
}
