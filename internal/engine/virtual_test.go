package engine_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
)

// instant is more than passes in virtual time while anything works: the transcript's events are a nanosecond
// apart.
const instant = time.Millisecond

// inVirtualTime runs a test with a world whose providers are within this process. Time stands still while
// anything works and passes at once while everything waits, so durations in configurations and rules are
// exact, whatever else the machine does. A process that the test starts keeps time from passing.
func inVirtualTime(t *testing.T, text string, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, text)
		w.virtual = true
		test(t, w)
		time.Sleep(48 * time.Hour) // a call that was given up goes on in the provider, for a day at most
	})
}

// within launches providers within this process. No two events of their transcript have the same time, so
// that it shows which came first.
func (w *world) within() provider.Launcher {
	w.t.Helper()
	var mu sync.Mutex
	var last int64
	o := simprovider.Options{Dir: w.cloud, Log: w.log, Clock: func() int64 {
		mu.Lock()
		defer mu.Unlock()
		last = max(last+1, time.Now().UnixNano())
		return last
	}}
	if w.rules != "" {
		var err error
		if o.Rules, err = simprovider.ParseRules([]byte(w.rules)); err != nil {
			w.t.Fatal(err)
		}
	}
	return newNursery(w.t, o)
}
