package order

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// randomSteps returns steps in a random graph, and how long each takes. One of so many is a gate; none if
// gates is 0.
func randomSteps(rng *rand.Rand, gates int) ([]plan.Step, []time.Duration) {
	steps, takes := make([]plan.Step, 2+rng.IntN(40)), []time.Duration{}
	for i := range steps {
		steps[i].Leg = plan.ApplyLeg
		if takes = append(takes, time.Duration(1+rng.Int64N(1e9))); gates > 0 && rng.IntN(gates) == 0 {
			steps[i].Leg, takes[i] = plan.Gate, 0
		}
		for j := range i {
			if rng.IntN(i) < 2 {
				steps[j].Next = append(steps[j].Next, plan.Edge{To: int32(i)})
				steps[i].Needs++
			}
		}
	}
	return steps, takes
}

// simulated returns when each step begins if each free worker takes the ready step with the highest rank.
func simulated(steps []plan.Step, takes []time.Duration, ranks []int64, workers int) []time.Duration {
	begins, needs := make([]time.Duration, len(steps)), make([]int32, len(steps))
	var ready, running []int
	for i := range steps {
		if needs[i] = steps[i].Needs; needs[i] == 0 {
			ready = append(ready, i)
		}
	}
	end := func(i int) time.Duration { return begins[i] + takes[i] }
	for now := time.Duration(0); ; {
		for len(ready) > 0 && len(running) < workers {
			slices.SortStableFunc(ready, func(i, j int) int { return int(ranks[j] - ranks[i]) })
			begins[ready[0]] = now
			running, ready = append(running, ready[0]), ready[1:]
		}
		if len(running) == 0 {
			return begins
		}
		slices.SortStableFunc(running, func(i, j int) int { return int(end(i) - end(j)) })
		done := running[0]
		now, running = end(done), running[1:]
		for _, e := range steps[done].Next {
			if needs[e.To]--; needs[e.To] == 0 {
				ready = append(ready, int(e.To))
			}
		}
	}
}

// TestQueue runs random graphs in virtual time. The end must come within the bound for schedules that
// leave no worker idle without need. Without gates, which begin and end at the same moment as others, each
// step must begin when the longest way first lets it.
func TestQueue(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		gates := int(seed%2) * 8
		steps, takes := randomSteps(rng, gates)
		workers := 1 + rng.IntN(5)
		ranks := make([]int64, len(steps))
		var work, longest, last time.Duration
		for i := len(steps) - 1; i >= 0; i-- {
			for _, e := range steps[i].Next {
				ranks[i] = max(ranks[i], ranks[e.To])
			}
			ranks[i] += int64(takes[i])
			work, longest = work+takes[i], max(longest, time.Duration(ranks[i]))
		}
		weight := func(s *plan.Step) int64 {
			return int64(takes[slices.IndexFunc(steps, func(o plan.Step) bool { return o.Change == s.Change })])
		}
		for i := range steps {
			if steps[i].Leg != plan.Gate {
				steps[i].Change = &plan.Change{}
			}
		}
		if got := plan.Ranks(steps, weight); !slices.Equal(got, ranks) {
			t.Fatalf("seed %d: ranks: got %v, want %v", seed, got, ranks)
		}
		begins := make([]time.Duration, len(steps))
		synctest.Test(t, func(*testing.T) {
			start := time.Now()
			pool := future.NewPool(workers)
			Queue(pool, steps, ranks, func(_ *future.Task, i int32, _ bool) bool {
				begins[i] = time.Since(start)
				time.Sleep(takes[i])
				return true
			})
			pool.Wait()
			last = time.Since(start)
		})
		if want := simulated(steps, takes, ranks, workers); gates == 0 && !slices.Equal(begins, want) {
			t.Fatalf("seed %d: the steps begin at\n%v, want\n%v", seed, begins, want)
		}
		if bound := longest + (work-longest)/time.Duration(workers) + 1; last > bound {
			t.Errorf("seed %d: it takes %s, want %s at most", seed, last, bound)
		}
	}
}

// TestQueueAfterFailures holds which steps are skipped: those that depend on one that failed.
func TestQueueAfterFailures(t *testing.T) {
	steps := []plan.Step{
		{Next: []plan.Edge{{To: 1}, {To: 2}}},
		{Needs: 1, Next: []plan.Edge{{To: 3}}},
		{Needs: 1},
		{Needs: 1},
	}
	skipped := make([]bool, len(steps))
	pool := future.NewPool(2)
	Queue(pool, steps, make([]int64, len(steps)), func(_ *future.Task, i int32, skip bool) bool {
		skipped[i] = skip
		return i != 1 && !skip
	})
	pool.Wait()
	if want := []bool{false, false, false, true}; !slices.Equal(skipped, want) {
		t.Errorf("skipped: got %v, want %v", skipped, want)
	}
}
