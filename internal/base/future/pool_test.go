package future

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPoolRunsEverythingWithinItsLimit(t *testing.T) {
	for _, limit := range []int{-1, 0, 1, 3} {
		pool := NewPool(limit)
		var now, most, ran atomic.Int32
		var job func(depth int) func(*Task)
		job = func(depth int) func(*Task) {
			return func(*Task) {
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				ran.Add(1)
				if depth > 0 {
					pool.Go(job(depth - 1))
					pool.Go(job(depth - 1))
				}
				now.Add(-1)
			}
		}
		pool.Wait()
		for range 10 {
			pool.Go(job(3))
		}
		pool.Wait()
		if got := ran.Load(); got != 150 {
			t.Errorf("limit %d: ran %d of 150, want 150", limit, got)
		}
		if got := int(most.Load()); got > max(limit, 1) {
			t.Errorf("limit %d: %d ran at once", limit, got)
		}
	}
}

// TestPoolStartsByRank compares the order with a stable sort.
func TestPoolStartsByRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOf(rapid.Int64Range(-3, 3)).Draw(t, "ranks")
		pool := NewPool(1)
		var got, want []int
		pool.Go(func(*Task) {
			for i, rank := range ranks {
				want = append(want, i)
				pool.GoRanked(rank, func(task *Task) {
					got = append(got, i)
					if task.Rank != rank {
						t.Errorf("the task of rank %d has the rank: got %d, want %d", rank, task.Rank, rank)
					}
				})
			}
		})
		pool.Wait()
		slices.SortStableFunc(want, func(i, j int) int { return cmp.Compare(ranks[j], ranks[i]) })
		if !slices.Equal(got, want) {
			t.Fatalf("ranks %v: started in the order: got %v, want %v", ranks, got, want)
		}
	})
}

func TestPoolStartsInOrder(t *testing.T) {
	pool := NewPool(1)
	var got []int
	pool.Go(func(*Task) {
		for i := range 20 {
			pool.Go(func(*Task) { got = append(got, i) })
		}
	})
	pool.Wait()
	for i, v := range got {
		if i != v {
			t.Fatalf("order of starts: got %v, want it ascending", got)
		}
	}
	if len(got) != 20 {
		t.Errorf("ran %d of 20, want 20", len(got))
	}
}

// A waiting worker is replaced: with one worker, what the waiting one waits for can still run elsewhere, and
// so can the rest of the queue.
func TestPoolReplacesWaitingWorkers(t *testing.T) {
	pool := NewPool(1)
	var cell Cell[int]
	begun, release := make(chan struct{}), make(chan struct{})
	outside := make(chan struct{})
	go func() {
		defer close(outside)
		cell.Get(&Task{}, "slow", nil, func() int { close(begun); <-release; return 9 })
	}()
	<-begun
	var sum atomic.Int32
	for range 5 {
		pool.Go(func(task *Task) {
			v, _ := cell.Get(task, "slow", nil, func() int { t.Error("computed again"); return 0 })
			sum.Add(int32(v))
		})
	}
	pool.Go(func(*Task) { close(release) })
	pool.Wait()
	<-outside
	if got := sum.Load(); got != 45 {
		t.Errorf("sum: got %d, want 45", got)
	}
	if pool.running != 0 || pool.parked != 0 || len(pool.queue.heap) != 0 {
		t.Errorf("after Wait: got %d running, %d parked and %d queued, want none", pool.running, pool.parked, len(pool.queue.heap))
	}
}

func TestPoolBoundsParkedWorkers(t *testing.T) {
	pool := NewPool(2)
	var cell Cell[int]
	begun, release := make(chan struct{}), make(chan struct{})
	outside := make(chan struct{})
	go func() {
		defer close(outside)
		cell.Get(&Task{}, "slow", nil, func() int { close(begun); <-release; return 1 })
	}()
	<-begun
	finish := sync.OnceFunc(func() { close(release) })
	var most, ran atomic.Int32
	const jobs = 4 * maxParked
	for range jobs {
		pool.Go(func(task *Task) {
			pool.mu.Lock()
			most.Store(max(most.Load(), int32(pool.parked)))
			full := pool.parked >= maxParked-1
			pool.mu.Unlock()
			if full {
				finish()
			}
			cell.Get(task, "slow", nil, func() int { return 0 })
			ran.Add(1)
		})
	}
	pool.Wait()
	<-outside
	if got := ran.Load(); got != jobs {
		t.Errorf("jobs that ran: got %d, want %d", got, jobs)
	}
	if got := most.Load(); got > maxParked+2 {
		t.Errorf("%d workers were parked", got)
	}
}

func TestPoolDeepChains(t *testing.T) {
	for _, test := range []struct {
		name string
		at   func(i, n int) int
	}{
		{"consumers first", func(i, n int) int { return n - 1 - i }},
		{"producers first", func(i, _ int) int { return i }},
		{"shuffled", func(i, n int) int { return i * 7919 % n }},
	} {
		const n = 20_000
		deps := make([][]int, n)
		for i := 1; i < n; i++ {
			deps[i] = []int{i - 1}
		}
		g := newGraph(deps)
		pool := NewPool(4)
		for i := range n {
			pool.Go(func(task *Task) { g.get(task, -1, test.at(i, n)) })
		}
		pool.Wait()
		if len(g.found) > 0 {
			t.Errorf("%s: a cycle in a chain", test.name)
		}
		if v, _ := g.cells[n-1].Peek(); v != n {
			t.Errorf("%s: the end of the chain: got %d, want %d", test.name, v, n)
		}
	}
}

func TestPoolEndsOnAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "cells")
		deps := make([][]int, n)
		for i := range deps {
			deps[i] = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3).Draw(t, "deps")
		}
		g := newGraph(deps)
		pool := NewPool(rapid.IntRange(1, 4).Draw(t, "limit"))
		for i := range n {
			pool.Go(func(task *Task) { g.get(task, -1, i) })
		}
		pool.Wait()
		if got, want := len(g.found) > 0, g.cyclic(); got != want {
			t.Fatalf("cycle reported: got %t, want %t", got, want)
		}
	})
}
