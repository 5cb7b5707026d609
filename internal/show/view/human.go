package view

import (
	"io"

	"github.com/mayfly-iac/mayfly/event"
)

// HumanObserver writes a line per event, for people to follow a run. It is safe for concurrent use: the
// engine reports events from many goroutines.
type HumanObserver struct {
	following
	w io.Writer
	o Options
}

// NewHumanObserver returns an observer that writes to w. With Options.Concise it only counts. With
// Options.StatusLine it leaves out work that is still under way.
func NewHumanObserver(w io.Writer, o Options) *HumanObserver { return &HumanObserver{w: w, o: o} }

// Event implements event.Observer.
func (h *HumanObserver) Event(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tally.add(e)
	if h.o.Concise || h.o.StatusLine && e.Kind == event.Progress {
		return
	}
	if e.Kind == event.Output {
		line := e.Line
		if e.Op == event.OpInvoke {
			h.print(h.o.paint(bold, e.Object.String()+":") + " " + tamePlain(line))
			return
		}
		// A provisioner's output keeps its colours, and nothing that could move the cursor.
		if h.o.Color {
			line = tame(line)
		} else {
			line = tamePlain(line)
		}
		h.print(h.o.paint(bold, e.Object.String()+" ("+visible(e.Provisioner)+"):") + " " + line)
		return
	}
	if text := phrase(e); text != "" {
		h.print(h.o.paint(bold, e.Object.String()+": "+text))
	}
}

// print writes a line and keeps the first error: a run does not end because its reader has gone. h.mu is
// held.
func (h *HumanObserver) print(line string) {
	if _, err := io.WriteString(h.w, line+"\n"); err != nil && h.err == nil {
		h.err = err
	}
}
