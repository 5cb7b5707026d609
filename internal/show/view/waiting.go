package view

import (
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// Waiting says once, where no status line does, that the service that has the state is slow to answer. It is
// safe for concurrent use.
type Waiting struct {
	after time.Duration
	say   func(text string)

	once   sync.Once
	mu     sync.Mutex
	timers map[trace.ID]*time.Timer
}

// NewWaiting returns a Waiting that calls say if something takes longer than after.
func NewWaiting(after time.Duration, say func(text string)) *Waiting {
	return &Waiting{after: after, say: say, timers: map[trace.ID]*time.Timer{}}
}

// Wants implements telemetry.Watcher.
func (w *Waiting) Wants(name string) bool { return waitText(name) != "" }

// waitText returns the text of a phase that waits for the service that has the state; "" for other phases.
func waitText(name string) string {
	for _, p := range phases {
		if p.ofState && p.name == name {
			return p.text
		}
	}
	return ""
}

// Began implements telemetry.Watcher.
func (w *Waiting) Began(s *trace.Span) {
	text := waitText(s.Name)
	if text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timers[s.Context.Span] = time.AfterFunc(w.after, func() {
		w.once.Do(func() { w.say(text + " is taking more than " + seconds(w.after) + "...") })
	})
}

// Ended implements telemetry.Watcher.
func (w *Waiting) Ended(s *trace.Span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.timers[s.Context.Span]; t != nil {
		t.Stop()
		delete(w.timers, s.Context.Span)
	}
}
