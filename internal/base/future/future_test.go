package future

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestGetComputesOnceUnderContention(t *testing.T) {
	for range 200 {
		var cell Cell[int]
		var calls atomic.Int32
		var wg sync.WaitGroup
		start := make(chan struct{})
		for range 8 {
			wg.Go(func() {
				<-start
				v, cycle := cell.Get(&Task{}, "c", nil, func() int {
					runtime.Gosched()
					return int(calls.Add(1)) + 41
				})
				if v != 42 || cycle != nil {
					t.Errorf("Get: got %d, %v, want 42 and no cycle", v, cycle)
				}
			})
		}
		close(start)
		wg.Wait()
		if n := calls.Load(); n != 1 {
			t.Fatalf("computed %d times, want 1", n)
		}
	}
}

func TestPeekAndSet(t *testing.T) {
	var cell Cell[string]
	if v, ok := cell.Peek(); ok || v != "" || cell.Done() {
		t.Errorf("Peek of an empty cell: got %q, %t, want no value", v, ok)
	}
	cell.Get(&Task{}, nil, nil, func() string {
		if _, ok := cell.Peek(); ok || cell.Done() {
			t.Error("a cell has a value while it is being computed")
		}
		return "v"
	})
	if v, ok := cell.Peek(); !ok || v != "v" || !cell.Done() {
		t.Errorf("Peek after Get: got %q, %t, want \"v\"", v, ok)
	}
	var set Cell[int]
	set.Set(7)
	if v, _ := set.Get(&Task{}, nil, nil, func() int { t.Error("computed although set"); return 0 }); v != 7 {
		t.Errorf("after Set: got %d, want 7", v)
	}
}

// graph is a set of cells, each of which demands others in order.
type graph struct {
	deps  [][]int
	cells []Cell[int]
	mu    sync.Mutex
	found []*Cycle
}

func newGraph(deps [][]int) *graph { return &graph{deps: deps, cells: make([]Cell[int], len(deps))} }

// hop is the origin of a demand.
type hop struct{ from, to int }

const placeholder = 1 << 20

func (g *graph) get(t *Task, from, to int) int {
	v, cycle := g.cells[to].Get(t, to, hop{from, to}, func() int {
		sum := 1
		for _, d := range g.deps[to] {
			runtime.Gosched()
			sum += g.get(t, to, d) % placeholder
		}
		return sum % placeholder
	})
	if cycle != nil {
		g.mu.Lock()
		g.found = append(g.found, cycle)
		g.mu.Unlock()
		return placeholder
	}
	return v
}

// run lets each worker demand its share of the cells.
func (g *graph) run(workers int) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			t := &Task{}
			for i := w; i < len(g.deps); i += workers {
				g.get(t, -1, i)
			}
		})
	}
	wg.Wait()
}

// cyclic is the oracle: it peels off cells whose demands can all be met.
func (g *graph) cyclic() bool {
	met := make([]bool, len(g.deps))
	for again := true; again; {
		again = false
		for i, deps := range g.deps {
			if !met[i] && !slices.ContainsFunc(deps, func(d int) bool { return !met[d] }) {
				met[i], again = true, true
			}
		}
	}
	return slices.Contains(met, false)
}

// checkCycle holds the report of a cycle against the graph: a closed chain of distinct cells along demands,
// each with the origin of its demand.
func (g *graph) checkCycle(t interface{ Fatalf(string, ...any) }, c *Cycle) {
	n := len(c.Frames)
	if n == 0 {
		t.Fatalf("a cycle without frames")
	}
	seen := map[any]bool{}
	for i, f := range c.Frames {
		before := c.Frames[(i+n-1)%n].Label.(int)
		at := f.Label.(int)
		if !slices.Contains(g.deps[before], at) || seen[at] {
			t.Fatalf("not a chain of demands: %v", labels(c))
		}
		if f.Via != (hop{before, at}) {
			t.Fatalf("frame %d of %v came from %v, want %v", i, labels(c), f.Via, (hop{before, at}))
		}
		seen[at] = true
	}
}

func labels(c *Cycle) []any {
	var l []any
	for _, f := range c.Frames {
		l = append(l, f.Label)
	}
	return l
}

func TestCycleWithinOneTask(t *testing.T) {
	tests := []struct {
		name string
		deps [][]int
		want [][]any
	}{
		{"itself", [][]int{{0}}, [][]any{{0}}},
		{"pair", [][]int{{1}, {0}}, [][]any{{0, 1}}},
		{"entered from outside", [][]int{{1}, {2}, {3}, {1}}, [][]any{{1, 2, 3}}},
		{"two through one cell", [][]int{{1, 2}, {0}, {0}}, [][]any{{0, 1}, {0, 2}}},
		{"diamond", [][]int{{1, 2}, {3}, {3}, {}}, nil},
	}
	for _, test := range tests {
		g := newGraph(test.deps)
		g.run(1)
		var got [][]any
		for _, c := range g.found {
			g.checkCycle(t, c)
			got = append(got, labels(c))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.name, diff)
		}
	}
}

// A ring whose cells are all begun before any demand is made can only be seen by the last task to wait.
func TestCycleThroughEnter(t *testing.T) {
	var cell Cell[int]
	task := &Task{}
	var cycle *Cycle
	cell.Get(task, "cell", nil, func() int {
		leave := task.Enter("inner", "cell to inner")
		_, cycle = cell.Get(task, "cell", "inner to cell", func() int { return 0 })
		leave()
		if len(task.stack) != 1 {
			t.Errorf("%d frames are left, want 1", len(task.stack))
		}
		return 1
	})
	if cycle == nil {
		t.Fatal("no cycle")
	}
	want := []Frame{{Label: "cell", Via: "inner to cell"}, {Label: "inner", Via: "cell to inner"}}
	if d := cmp.Diff(want, cycle.Frames, cmp.Comparer(func(a, b Frame) bool { return a.Label == b.Label && a.Via == b.Via })); d != "" {
		t.Error(d)
	}
}

func TestCycleAcrossTasksIsReportedOnce(t *testing.T) {
	for size := 2; size <= 6; size++ {
		for range 50 {
			deps := make([][]int, size)
			for i := range deps {
				deps[i] = []int{(i + 1) % size}
			}
			g := newGraph(deps)
			var begun, ended sync.WaitGroup
			begun.Add(size)
			for i := range size {
				ended.Go(func() {
					task := &Task{}
					g.cells[i].Get(task, i, hop{-1, i}, func() int {
						begun.Done()
						begun.Wait()
						return g.get(task, i, (i+1)%size)
					})
				})
			}
			ended.Wait()
			if len(g.found) != 1 || len(g.found[0].Frames) != size {
				t.Fatalf("ring of %d: got %d reports, want one of the whole ring", size, len(g.found))
			}
			g.checkCycle(t, g.found[0])
		}
	}
}

func TestCyclesAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "cells")
		deps := make([][]int, n)
		for i := range deps {
			deps[i] = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, fmt.Sprint("deps of ", i))
		}
		workers := rapid.IntRange(1, 6).Draw(t, "workers")
		for range 5 {
			g := newGraph(deps)
			g.run(workers)
			if got, want := len(g.found) > 0, g.cyclic(); got != want {
				t.Fatalf("cycle reported: got %t, want %t", got, want)
			}
			for _, c := range g.found {
				g.checkCycle(t, c)
			}
			for i := range g.cells {
				if !g.cells[i].Done() {
					t.Fatalf("cell %d was never finished", i)
				}
			}
		}
	})
}

// Chains that come and go all the time must never look like a cycle.
func TestNoFalseCycles(t *testing.T) {
	for round := range 60 {
		const n = 60
		deps := make([][]int, n)
		for i := range deps {
			for _, step := range []int{1, 3, 7, 13 + round%5} {
				if i >= step {
					deps[i] = append(deps[i], i-step)
				}
			}
		}
		g := newGraph(deps)
		g.run(8)
		if len(g.found) > 0 {
			t.Fatalf("a cycle in an acyclic graph: %v", labels(g.found[0]))
		}
	}
}

func TestPanicLeavesZeroValueToOthers(t *testing.T) {
	var cell Cell[int]
	computing := make(chan struct{})
	waiting := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		task := &Task{}
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered: got %v, want %v", r, "boom")
			}
			if len(task.stack) != 0 {
				t.Error("the task's stack was not unwound")
			}
			var next Cell[int]
			if v, cycle := next.Get(task, "next", nil, func() int { return 3 }); v != 3 || cycle != nil {
				t.Errorf("Get by a task after a panic: got %d, %v, want 3 and no cycle", v, cycle)
			}
		}()
		cell.Get(task, "c", nil, func() int {
			close(computing)
			<-waiting
			panic("boom")
		})
	})
	park := sync.OnceFunc(func() { close(waiting) })
	for range 3 {
		wg.Go(func() {
			<-computing
			v, cycle := cell.Get(&Task{Park: park}, "c", nil, func() int { t.Error("computed again"); return 1 })
			if v != 0 || cycle != nil {
				t.Errorf("Get after a panic: got %d, %v, want 0 and no cycle", v, cycle)
			}
		})
	}
	wg.Wait()
	if v, ok := cell.Peek(); v != 0 || !ok {
		t.Errorf("Peek after a panic: got %d, %t, want 0, true", v, ok)
	}
}

func BenchmarkCells(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		cells := make([]Cell[int], n)
		pool := NewPool(2)
		for part := range 100 {
			pool.Go(func(t *Task) {
				for i := part; i < n; i += 100 {
					var get func(i int) int
					get = func(i int) int {
						v, _ := cells[i].Get(t, nil, nil, func() int {
							if i%10 == 0 {
								return 1
							}
							return get(i-1) + get(i-i%10)
						})
						return v
					}
					get(i)
				}
			})
		}
		pool.Wait()
	}
}
