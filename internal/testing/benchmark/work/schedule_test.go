package work_test

import (
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/benchmark/work"
)

func TestBound(t *testing.T) {
	for _, c := range []struct {
		name        string
		s           work.Schedule
		parallelism int
		want        time.Duration
	}{
		{"the chain is longest", work.Chain(120), 10, 3000 * time.Millisecond},
		{"there is more work than the chain", work.Chain(120), 5, 5400 * time.Millisecond},
		{"nothing waits", work.Chain(120).Independent(), 10, 2700 * time.Millisecond},
		{"one after the other", work.Chain(120), 1, 27 * time.Second},
	} {
		if got := c.s.Bound(c.parallelism); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if a, b := work.Graph(120), work.Graph(120); a.Files()["main.tf"] != b.Files()["main.tf"] || a.Bound(10) != b.Bound(10) {
		t.Error("the graph is not the same each time")
	}
}
