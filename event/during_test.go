package event_test

import (
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/event"
)

// threeEvents is a run with three events. It counts how often it came to its end.
func threeEvents(ended *int) func(event.Observer) {
	return func(o event.Observer) {
		for _, op := range []event.Op{event.OpOpen, event.OpCreate, event.OpClose} {
			o.Event(event.Event{Op: op})
		}
		*ended++
	}
}

func TestDuringYieldsEveryEvent(t *testing.T) {
	ended := 0
	events := event.During(threeEvents(&ended))
	for round := 1; round <= 2; round++ {
		var ops []event.Op
		for e := range events {
			ops = append(ops, e.Op)
		}
		if want := []event.Op{event.OpOpen, event.OpCreate, event.OpClose}; !slices.Equal(ops, want) {
			t.Errorf("got %v, want %v", ops, want)
		}
		if ended != round {
			t.Errorf("after %d loops, %d runs have ended, want %d", round, ended, round)
		}
	}
}

func TestDuringWaitsForTheRunAfterBreak(t *testing.T) {
	ended := 0
	for range event.During(threeEvents(&ended)) {
		break
	}
	if ended != 1 {
		t.Error("the loop was left before the run had ended")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of the loop's body was lost")
			}
		}()
		for range event.During(threeEvents(&ended)) {
			panic("in the body")
		}
	}()
	if ended != 2 {
		t.Error("a panic left the loop before the run had ended")
	}
}

// TestDuringDropsLateEvents sends an event after the run, which must not block.
func TestDuringDropsLateEvents(t *testing.T) {
	var observer event.Observer
	for range event.During(func(o event.Observer) { observer = o }) {
		t.Error("an event that nobody sent")
	}
	observer.Event(event.Event{})
}
