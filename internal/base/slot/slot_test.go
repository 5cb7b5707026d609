package slot_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/slot"
)

// call calls f with a slot.
func call(t *slot.Turn, f func()) {
	defer t.Call()()
	f()
}

// lend calls f with the slot lent to the parts of the turn.
func lend(t *slot.Turn, f func()) {
	defer t.Lend()()
	f()
}

// TestLend runs parts of one turn: they share its slot, and the turn has it back at the end.
func TestLend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := slot.NewPool(1)
		turn := pool.Begin(0)
		begin := time.Now()
		lend(turn, func() {
			var parts sync.WaitGroup
			for range 3 {
				part := turn
				parts.Go(func() { call(part, func() { time.Sleep(time.Second) }) })
			}
			parts.Wait()
		})
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("three parts with one slot took %s, want 3s", took)
		}
		began := make(chan struct{})
		go func() {
			pool.Begin(0).End()
			close(began)
		}()
		synctest.Wait()
		select {
		case <-began:
			t.Error("another turn began before this one ended")
		default:
		}
		turn.End()
		<-began
	})
}

// TestPartsGoFirst lets a part and a new turn wait for the same slot.
func TestPartsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := slot.NewPool(2)
		turn, other := pool.Begin(0), pool.Begin(0)
		var order []string
		done := make(chan struct{}, 2)
		go func() {
			third := pool.Begin(0)
			order = append(order, "turn")
			third.End()
			done <- struct{}{}
		}()
		synctest.Wait()
		takeBack := turn.Lend()
		end := turn.Call() // with the turn's own slot
		go call(turn, func() {
			order = append(order, "part")
			done <- struct{}{}
		})
		synctest.Wait()
		other.End()
		<-done
		<-done
		if len(order) != 2 || order[0] != "part" {
			t.Errorf("order: %v, want the part first", order)
		}
		end()
		takeBack()
		turn.End()
	})
}

// TestRelease lets another turn begin while this one waits, unless it is kept.
func TestRelease(t *testing.T) {
	for _, kept := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			pool := slot.NewPool(1)
			turn := pool.Begin(0)
			if kept {
				turn.Keep()
			}
			ended := make(chan struct{})
			go func() {
				other := pool.Begin(0)
				time.Sleep(2 * time.Second)
				other.End()
				close(ended)
			}()
			begin := time.Now()
			takeBack := turn.Release()
			time.Sleep(time.Second)
			takeBack()
			want := 2 * time.Second // until the other turn gives the slot back
			if kept {
				want = time.Second
			}
			if took := time.Since(begin); took != want {
				t.Errorf("kept %t: waited for %s, want %s", kept, took, want)
			}
			turn.End()
			<-ended
		})
	}
}

// TestLeave waits for a disk at the end of a turn: another turn has the slot meanwhile, unless the first one
// is kept, and a late call of the first waits for it.
func TestLeave(t *testing.T) {
	for kept, want := range map[bool]time.Duration{false: 3 * time.Second, true: 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			pool := slot.NewPool(1)
			turn := pool.Begin(0)
			if kept {
				turn.Keep()
			}
			ended := make(chan struct{})
			go func() {
				other := pool.Begin(0)
				time.Sleep(2 * time.Second)
				other.End()
				close(ended)
			}()
			begin := time.Now()
			if turn.Leave() == kept {
				t.Errorf("kept %t, but leaves", kept)
			}
			time.Sleep(time.Second)
			call(turn, func() { time.Sleep(time.Second) })
			if took := time.Since(begin); took != want {
				t.Errorf("kept %t: the call ended after %s, want %s", kept, took, want)
			}
			turn.End()
			<-ended
			pool.Begin(0).End()
		})
	}
}

// TestHighestRankGoesFirst lets turns of several ranks wait for one slot.
func TestHighestRankGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := slot.NewPool(1)
		turn := pool.Begin(0)
		var order []int64
		var turns sync.WaitGroup
		for _, rank := range []int64{1, 3, 2, 3} {
			turns.Go(func() {
				turn := pool.Begin(rank)
				order = append(order, rank)
				turn.End()
			})
			synctest.Wait()
		}
		turn.End()
		turns.Wait()
		if want := []int64{3, 3, 2, 1}; !slices.Equal(order, want) {
			t.Errorf("order: got %v, want %v", order, want)
		}
	})
}

// TestRandomTurns runs turns whose parts wait for each other's results, with as few slots as possible. Every
// turn must end, and no more operations may run at once than there are slots.
func TestRandomTurns(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			slots := 1 + rng.IntN(3)
			pool := slot.NewPool(slots)
			var running atomic.Int32
			work := func(d time.Duration) {
				if n := running.Add(1); int(n) > slots {
					t.Errorf("seed %d: %d operations with %d slots", seed, n, slots)
				}
				time.Sleep(d)
				running.Add(-1)
			}
			// things[i] is opened by the first turn that needs it, and needs some of things[:i].
			things := make([]thing, 8)
			for i := range things {
				for j := range i {
					if rng.IntN(3) == 0 {
						things[i].needs = append(things[i].needs, &things[j])
					}
				}
				things[i].open = make(chan struct{})
				things[i].takes = time.Duration(1+rng.IntN(9)) * time.Second
			}
			var turns sync.WaitGroup
			for range 12 {
				a, b := &things[rng.IntN(len(things))], &things[rng.IntN(len(things))]
				c, leaves := &things[rng.IntN(len(things))], rng.IntN(2) == 0
				turns.Go(func() {
					turn := pool.Begin(0)
					defer turn.End()
					lend(turn, func() { openAll(turn, work, a, b) })
					call(turn, func() { work(time.Second) })
					if leaves {
						turn.Leave()
						lend(turn, func() { openAll(turn, work, c) })
						call(turn, func() { work(time.Second) })
					}
				})
			}
			turns.Wait()
			for range slots { // all slots are back
				pool.Begin(0)
			}
		})
	}
}

type thing struct {
	begun atomic.Bool
	open  chan struct{} // closed when it is open
	needs []*thing
	takes time.Duration
}

// openAll opens things at once, as parts of a turn.
func openAll(turn *slot.Turn, work func(time.Duration), things ...*thing) {
	var parts sync.WaitGroup
	for _, th := range things {
		part := turn
		parts.Go(func() {
			if th.begun.Swap(true) {
				takeBack := part.Release()
				<-th.open
				takeBack()
				return
			}
			part.Keep()
			openAll(part, work, th.needs...)
			call(part, func() { work(th.takes) })
			close(th.open)
		})
	}
	parts.Wait()
}

// TestOwnSlot has two turns with several parts each. One of them needs little time, and ends as if it had its
// slot to itself, however long the parts of the other take.
func TestOwnSlot(t *testing.T) {
	for seed := range 20 {
		synctest.Test(t, func(t *testing.T) {
			pool := slot.NewPool(2)
			begin := time.Now()
			run := func(turn *slot.Turn, n int, takes time.Duration) time.Duration {
				lend(turn, func() {
					var parts sync.WaitGroup
					for range n {
						part := turn
						parts.Go(func() { call(part, func() { time.Sleep(takes) }) })
					}
					parts.Wait()
				})
				turn.End()
				return time.Since(begin)
			}
			short, long := pool.Begin(0), pool.Begin(0)
			ended := make(chan time.Duration)
			go func() { ended <- run(long, 3, time.Minute) }()
			if took := run(short, 4, time.Second); took > 4*time.Second {
				t.Errorf("run %d: the short turn took %s, want 4s at most", seed, took)
			}
			if took := <-ended; took > 2*time.Minute+4*time.Second {
				t.Errorf("run %d: the long turn took %s, want two minutes: the short one's slot is free soon", seed, took)
			}
		})
	}
}
