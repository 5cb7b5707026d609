package detach_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
)

// within runs f in virtual time and returns how long it took. What f leaves behind may take a day.
func within(t *testing.T, f func(t *testing.T)) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		f(t)
		took = time.Since(begun)
		time.Sleep(24 * time.Hour)
	})
	return took
}

// stopAfter returns a channel that is closed after that time.
func stopAfter(d time.Duration) <-chan struct{} {
	stop := make(chan struct{})
	time.AfterFunc(d, func() { close(stop) })
	return stop
}

func TestRunReturnsResults(t *testing.T) {
	for name, stop := range map[string]<-chan struct{}{"never": nil, "before": stopAfter(0)} {
		if got, ok := detach.Run(nil, stop, func() int { return 7 }); got != 7 || !ok {
			t.Errorf("%s: got %d, %v, want 7, true", name, got, ok)
		}
	}
}

// TestRunIsPatient lets work end that needs a little longer than the caller has.
func TestRunIsPatient(t *testing.T) {
	took := within(t, func(t *testing.T) {
		got, ok := detach.Run(nil, stopAfter(time.Minute), func() int {
			time.Sleep(time.Minute + detach.Patience/2)
			return 7
		})
		if got != 7 || !ok {
			t.Errorf("got %d, %v, want 7, true", got, ok)
		}
	})
	if took != time.Minute+detach.Patience/2 {
		t.Errorf("it took %s, want %s", took, time.Minute+detach.Patience/2)
	}
}

// TestRunLeavesBehind has work that does not end in time, and errands that come too late.
func TestRunLeavesBehind(t *testing.T) {
	took := within(t, func(t *testing.T) {
		c, errands := &detach.Caller{}, 0
		got, ok := detach.Run(c, stopAfter(time.Minute), func() int {
			c.Do(func() { errands++ })
			time.Sleep(time.Hour)
			c.Do(func() { t.Error("an errand after the caller had left") })
			t.Error("the work went on after that")
			return 7
		})
		if got != 0 || ok || errands != 1 {
			t.Errorf("got %d, %v, and %d errands, want 0, false, and one errand", got, ok, errands)
		}
	})
	if took != time.Minute+detach.Patience {
		t.Errorf("it took %s, want %s", took, time.Minute+detach.Patience)
	}
}

func TestRunPassesPanicsOn(t *testing.T) {
	for name, work := range map[string]func(c *detach.Caller) int{
		"work":   func(*detach.Caller) int { var none []int; return none[len(none)] },
		"errand": func(c *detach.Caller) int { c.Do(func() { var none []int; _ = none[len(none)] }); return 0 },
	} {
		c := &detach.Caller{}
		err := bug.Call(func() { detach.Run(c, nil, func() int { return work(c) }) })
		found, ok := errors.AsType[*bug.Error](err)
		if !ok || !strings.Contains(found.Reason, "index out of range") || !strings.Contains(found.Place, "detach_test.TestRunPassesPanicsOn") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDoWithNothingDetached(t *testing.T) {
	done := false
	c := &detach.Caller{}
	detach.Run(c, nil, func() int { return 0 })
	c.Do(func() { done = true })
	if !done {
		t.Error("nothing was done")
	}
}

func BenchmarkRun(b *testing.B) {
	stop := make(chan struct{})
	for b.Loop() {
		detach.Run(nil, stop, func() int { return 7 })
	}
}
