package main

import (
	"os"
	"os/exec"
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

// TestShortCommandCollectsNothing runs one that says when it collects garbage.
func TestShortCommandCollectsNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0], "version")
	cmd.Env = append(os.Environ(), "MAYFLY_TEST_MAIN=1", "GODEBUG=gctrace=1", "GOGC=100")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "on ") || strings.Contains(string(out), "gc 1 @") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFloor makes the floor: after a collection, the collector has the limits that it had before.
func TestFloor(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	limit := figure(t, "/gc/gomemlimit:bytes")
	floor := makeFloor()
	if got := figure(t, "/gc/gomemlimit:bytes"); got >= limit {
		t.Errorf("before the first collection, the memory may grow to %d bytes", got)
	}
	for range 100 {
		runtime.GC()
		if figure(t, "/gc/gomemlimit:bytes") == limit {
			break
		}
		runtime.Gosched() // cleanups have a goroutine of their own
	}
	if percent, now := figure(t, "/gc/gogc:percent"), figure(t, "/gc/gomemlimit:bytes"); percent != 100 || now != limit {
		t.Errorf("after a collection: got growth of the heap by %d percent up to %d bytes, want 100 percent up to %d", percent, now, limit)
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
		t.Errorf("exit status: got %d, want %d\n%s", code, exitCrash, stderr.String())
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

func TestGrowth(t *testing.T) {
	tests := []struct {
		percent int
		live    uint64 // MB
		want    int
	}{
		{100, 0, 100},
		{100, 180, 100},
		{100, 240, 75},
		{100, 300, 60},
		{100, 360, 50},
		{100, 5000, 50},
		{200, 90, 200},
		{200, 120, 150},
		{200, 5000, 50},
		{40, 400, 40},
		{40, 450, 40},
		{40, 5000, 40},
		{0, 5000, 0},
	}
	for _, test := range tests {
		if got := growth(test.percent, test.live<<20); got != test.want {
			t.Errorf("a heap with %d MB at %d percent grows by %d percent, want %d", test.live, test.percent, got, test.want)
		}
	}
}

// TestPace fills the heap: collections then come earlier, until it is small again.
func TestPace(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	pace(100, 100)
	large := make([]byte, 400<<20) // never touched
	reaches := func(want uint64) {
		t.Helper()
		for range 100 {
			runtime.GC()
			if figure(t, "/gc/gogc:percent") == want {
				return
			}
			runtime.Gosched()
		}
		t.Errorf("the heap grows by %d percent, want %d", figure(t, "/gc/gogc:percent"), want)
	}
	reaches(50)
	runtime.KeepAlive(large)
	large = nil
	reaches(100)
}
