package view

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

func TestWaiting(t *testing.T) {
	rows := []struct {
		name  string
		takes map[string]time.Duration // in the order of their names
		want  []string
	}{
		{"all is quick", map[string]time.Duration{"initialize backend": 2 * time.Second, "lock state": 2 * time.Second, "read state": 2900 * time.Millisecond}, nil},
		{"one is slow", map[string]time.Duration{"lock state": time.Second, "read state": 4 * time.Second}, []string{"Reading the state is taking more than 3s..."}},
		{"all is slow", map[string]time.Duration{"lock state": time.Minute, "read state": time.Minute}, []string{"Locking the state is taking more than 3s..."}},
		{"something else is slow", map[string]time.Duration{"plan": time.Minute, "install providers": time.Minute}, nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said []string
				w := NewWaiting(3*time.Second, func(text string) { said = append(said, text) })
				made := 0
				tracer := trace.Tracer{Now: time.Now, Random: rand.Uint64, Began: func(s *trace.Span) { made++; w.Began(s) }, Ended: w.Ended, Wanted: w.Wants}
				ctx, root := tracer.Root(t.Context(), "mayfly plan", trace.Context{}, func(trace.Context) bool { return false })
				for _, name := range slices.Sorted(maps.Keys(row.takes)) {
					_, span := trace.Start(ctx, name)
					time.Sleep(row.takes[name])
					span.Finish(true)
				}
				root.Finish(true)
				time.Sleep(time.Minute)
				if !slices.Equal(said, row.want) {
					t.Errorf("it said %q, want %q", said, row.want)
				}
				if row.name == "something else is slow" && made != 1 {
					t.Errorf("%d spans were made that nothing wants", made-1)
				}
			})
		})
	}
}
