package timeline

import (
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
)

// Recorder records the events of a run. It is an event.DetailObserver and safe for concurrent use. Its memory
// is linear in the number of operations, independent of their duration. Nothing that it keeps can contain a
// value: an event's identifiers, lines and diagnostics are not looked at.
type Recorder struct {
	mu         sync.Mutex
	begin, end time.Time // of the first and last event

	phases      []span
	interrupted time.Time // zero if it was not
	things      map[thingKey]*thing
	thingOrder  []*thing // in the order of their first events
	objects     map[addr.Object]*object
	objectOrder []*object
}

// New returns a recorder without events.
func New() *Recorder {
	return &Recorder{things: map[thingKey]*thing{}, objects: map[addr.Object]*object{}}
}

// outcome is the result of an operation, as far as events have reported it.
type outcome uint8

const (
	running outcome = iota // no event has reported its end
	done
	failed
	putOff // by the provider
)

// bad reports whether an operation has failed or not ended.
func (o outcome) bad() bool { return o == running || o == failed }

// span is one operation from its start to its end.
type span struct {
	op       event.Op
	from, to time.Time // to is zero while it is running
	outcome  outcome
	provider string // of a provisioner: its type
}

// thingKey identifies an ephemeral instance or a configured provider; the other field is empty.
type thingKey struct {
	object   addr.Object
	provider string
}

// thing is an ephemeral instance, or a provider that was configured from ephemeral values.
type thing struct {
	name     string // its address
	module   string // the module instance's part of name, with the dot after it
	group    string // the address of its block
	provider bool
	first    time.Time
	calls    []span      // open, renew and close
	deferred []time.Time // when opening it was deferred
	waiting  bool        // the latest opening was deferred
	uses     []use
	open     map[useKey][]int // indices of the uses that have not ended
}

// useKey finds the use that an event ends. A user may hold the same thing several times at once, so there may
// be several uses of one key; which of them ends makes no difference to the picture.
type useKey struct {
	user string
	op   event.Op
}

// use is the time during which a lease was held, by the user's address.
type use struct {
	user string
	span
}

// object is a resource instance, or one of its deposed objects, with the operations on it.
type object struct {
	name, module string // as in a thing
	ops          []span
}

// prefix returns the part of an object's address about its module instance, with the dot after it; "" in the
// root module.
func prefix(o addr.Object) string {
	if o.Module.IsRoot() {
		return ""
	}
	return o.Module.String() + "."
}

// Event implements event.Observer. Output and progress are ignored: they may contain anything.
func (r *Recorder) Event(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.see(e.Time)
	switch {
	case e.Kind == event.Progress || e.Kind == event.Output:
	case e.Object.Resource.Mode == addr.Ephemeral:
		r.thing(e).call(e)
	default:
		r.objectEvent(e)
	}
}

// Detail implements event.DetailObserver: phases, interrupts, uses of ephemeral instances, and operations
// that other observers don't see, such as planning an object.
func (r *Recorder) Detail(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.see(e.Time)
	switch e.Op {
	case event.OpPlanning, event.OpApplying:
		r.phases = note(r.phases, e)
	case event.OpInterrupt:
		if r.interrupted.IsZero() {
			r.interrupted = e.Time
		}
	case event.OpUse:
		r.thing(e).use(e)
	default:
		r.objectEvent(e)
	}
}

// see extends the time of the run to an event, which may be older than one that arrived before it. r.mu is
// held.
func (r *Recorder) see(t time.Time) {
	if r.begin.IsZero() || t.Before(r.begin) {
		r.begin = t
	}
	if t.After(r.end) {
		r.end = t
	}
}

// thing returns the record of the ephemeral instance or provider that an event is about, creating it at its
// first event. r.mu is held.
func (r *Recorder) thing(e event.Event) *thing {
	k := thingKey{e.Object, e.Provider}
	t := r.things[k]
	if t == nil {
		t = &thing{first: e.Time, open: map[useKey][]int{}}
		if e.Provider != "" {
			t.name, t.group, t.provider = e.Provider, e.Provider, true
		} else {
			t.name, t.module, t.group = e.Object.String(), prefix(e.Object), e.Object.Config().String()
		}
		r.things[k] = t
		r.thingOrder = append(r.thingOrder, t)
	}
	return t
}

// call records a call to open, renew or close the instance. The recorder's lock is held.
func (t *thing) call(e event.Event) {
	later := e.Kind == event.Deferred || e.Kind == event.PutOff
	if later {
		t.deferred = append(t.deferred, e.Time)
	}
	if e.Op == event.OpOpen { // one that is put off may be closed all the same
		t.waiting = later
	}
	if e.Kind == event.Deferred {
		return
	}
	t.calls = note(t.calls, e)
}

// use records the start or end of a use. Uses that start while the instance is deferred are ignored: it is
// not open, so nothing is exposed.
func (t *thing) use(e event.Event) {
	k := useKey{e.User, e.UserOp}
	if e.Kind == event.Started {
		if !t.waiting {
			t.open[k] = append(t.open[k], len(t.uses))
			t.uses = append(t.uses, use{e.User, span{op: e.UserOp, from: e.Time}})
		}
		return
	}
	open := t.open[k]
	// It began while the instance was deferred, and was ignored.
	if len(open) == 0 {
		return
	}
	last := len(open) - 1
	u := &t.uses[open[last]]
	u.to, u.outcome = e.Time, done
	if t.open[k] = open[:last]; last == 0 {
		delete(t.open, k)
	}
}

// objectEvent records the start or end of an operation on a resource. r.mu is held.
func (r *Recorder) objectEvent(e event.Event) {
	o := r.objects[e.Object]
	if o == nil {
		o = &object{name: e.Object.String(), module: prefix(e.Object)}
		r.objects[e.Object] = o
		r.objectOrder = append(r.objectOrder, o)
	}
	o.ops = note(o.ops, e)
}

// note adds an operation at its start, or ends the newest one of its kind that is still running. An end
// without a start adds an operation that began as long ago as the event reports.
func note(list []span, e event.Event) []span {
	if e.Kind == event.Started {
		return append(list, span{op: e.Op, from: e.Time, provider: e.Provisioner})
	}
	end := done
	switch e.Kind {
	case event.Failed:
		end = failed
	case event.PutOff:
		end = putOff
	}
	for i := len(list) - 1; i >= 0; i-- {
		if s := &list[i]; s.op == e.Op && s.outcome == running {
			s.to, s.outcome = e.Time, end
			return list
		}
	}
	return append(list, span{op: e.Op, from: e.Time.Add(-e.Elapsed), to: e.Time, outcome: end, provider: e.Provisioner})
}
