package main

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

func TestPlacesHoldNoValues(t *testing.T) {
	stack := func(secret string) []byte {
		if secret == "" {
			t.Fatal("no secret")
		}
		return debug.Stack()
	}("correct-horse")
	got := places(stack)
	if !strings.Contains(got, "TestPlacesHoldNoValues") || !strings.Contains(got, "unit_test.go:") {
		t.Errorf("the places are missing:\n%s", got)
	}
	for _, bad := range []string{"0x", "correct-horse", "goroutine"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q in:\n%s", bad, got)
		}
	}
}

// TestFloor makes the floor, which starts no collection. After one, the heap may grow as before.
func TestFloor(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC() // so that what follows is not about what other tests have left
	before := figure(t, "/gc/cycles/total:gc-cycles")
	floor := makeFloor()
	if got := figure(t, "/gc/cycles/total:gc-cycles"); got != before {
		t.Errorf("%d collections", got-before)
	}
	for range 100 {
		runtime.GC()
		if figure(t, "/gc/gogc:percent") == 100 {
			break
		}
		runtime.Gosched() // cleanups have a goroutine of their own
	}
	if got := figure(t, "/gc/gogc:percent"); got != 100 {
		t.Errorf("after a collection, the heap may grow by %d percent", got)
	}
	runtime.KeepAlive(floor)
}

// figure returns a figure of the garbage collector.
func figure(t *testing.T, name string) uint64 {
	t.Helper()
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func TestGuarded(t *testing.T) {
	var stderr strings.Builder
	code := guarded(environment{Stderr: &stderr, Stdin: panicking{}, Stdout: &stderr, Notify: func(chan<- os.Signal) func() { return func() {} }}, []string{"state", "push", "-"})
	if code != exitCrash || !strings.Contains(stderr.String(), "this is a bug") {
		t.Errorf("exit status %d\n%s", code, stderr.String())
	}
	if strings.Contains(stderr.String(), "correct-horse") {
		t.Errorf("the panic's value is shown:\n%s", stderr.String())
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("correct-horse") }

func TestAddressLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	filetest.Write(t, name, "\n# x\n a.b \r\nc.d[0]")
	got, err := addressLines(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.b", "c.d[0]"}, got); diff != "" {
		t.Error(diff)
	}
}
