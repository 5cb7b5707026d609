package view

import (
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// TestActivity checks what is shown while spans begin and end.
func TestActivity(t *testing.T) {
	a := NewActivity()
	now, n := time.Unix(0, 0), uint64(0)
	tracer := trace.Tracer{
		Now: func() time.Time { return now }, Random: func() uint64 { n++; return n }, Began: a.Began, Ended: a.Ended,
	}
	wait := func(d time.Duration, want string) {
		t.Helper()
		now = now.Add(d)
		if got := a.text(now); got != want {
			t.Errorf("after %s: got %q, want %q", now.Sub(time.Unix(0, 0)), got, want)
		}
	}
	ctx, root := tracer.Root(t.Context(), "mayfly plan", trace.Context{}, func(trace.Context) bool { return false })
	wait(time.Minute, "")
	_, lock := trace.Start(ctx, "lock state")
	wait(500*time.Millisecond, "")
	wait(time.Second, "Locking the state, 1s elapsed")
	lock.Finish(true)
	wait(time.Second, "")
	plan, whole := trace.Start(ctx, "plan")
	_, quick := trace.Start(plan, "read")
	quick.Finish(true)
	step, object := trace.Start(plan, "plan object")
	object.Set(trace.Address, "a.x\x1b[2J")
	wait(2*time.Second, "Planning: 1 done, 1 running, 2s elapsed")
	_, call := trace.Start(step, "ReadResource")
	call.Set(trace.Provider, "example.com/a/b")
	wait(9*time.Second, "Planning: 1 done, 1 running, 11s elapsed")
	wait(2*time.Second, `Planning: 1 done, 1 running, 13s elapsed; a.x\x1b[2J: reading for 11s`)
	call.Finish(true)
	object.Finish(true)
	_, start := trace.Start(plan, "start provider")
	wait(500*time.Millisecond, "Planning: 2 done, 13s elapsed")
	wait(time.Second, "Starting providers, 1s elapsed")
	start.Finish(true)
	_, configure := trace.Start(plan, "Configure")
	configure.Set(trace.Provider, "example.com/a/b")
	wait(time.Minute, "Planning: 2 done, 1m14s elapsed; example.com/a/b: configuring for 1m0s")
	configure.Finish(true)
	whole.Finish(true)
	_, module := trace.Start(ctx, "install module")
	wait(time.Minute, "")
	module.Finish(true)
	root.Finish(true)
	if len(a.active) > 0 {
		t.Errorf("%d spans are still active", len(a.active))
	}
}
