package histories

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
)

// seeds returns a number of histories and the seed of the first, unless the environment gives others.
func seeds(t *testing.T, histories int, first uint64) (int, uint64) {
	t.Helper()
	for name, set := range map[string]func(string) error{
		"MAYFLY_TEST_HISTORIES":    func(text string) (err error) { histories, err = strconv.Atoi(text); return err },
		"MAYFLY_TEST_HISTORY_SEED": func(text string) (err error) { first, err = strconv.ParseUint(text, 10, 64); return err },
	} {
		if text := os.Getenv(name); text != "" {
			if err := set(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return histories, first
}

// TestDue has random runs and commands change a state. After each, everything that a full plan without
// refreshing finds to do is due, or has read something that the plan alters.
func TestDue(t *testing.T) {
	carryOutDues(t, func(d *dues) {
		first := d.one("whole apply", d.branches[0])
		first.whole = true
		d.carryOutActs([]*act{first})
		for range 8 {
			if d.step(); d.t.Failed() {
				break
			}
		}
	})
}

// carryOutDues carries out random histories side by side, each with a state of its own, and logs their sums.
func carryOutDues(t *testing.T, history func(d *dues)) {
	histories, first := seeds(t, 6, 1)
	s := server.Start(t)
	db := opened(t, s)
	sum := map[string]int{}
	var mu sync.Mutex
	t.Run("all", func(t *testing.T) {
		for i := range histories {
			t.Run(fmt.Sprint("seed ", first+uint64(i)), func(t *testing.T) {
				t.Parallel()
				d := newDues(t, s, db, first+uint64(i))
				defer d.end()
				history(d)
				mu.Lock()
				defer mu.Unlock()
				for what, n := range d.sum {
					sum[what] += n
				}
			})
		}
	})
	t.Logf("in %d histories: %v", histories, sum)
}

// end ends the calls of dead runs, and reports a history that has failed.
func (d *dues) end() {
	close(d.w.over)
	d.all.Wait()
	if d.t.Failed() {
		d.t.Log(strings.Join(d.log, "\n"))
		for n, b := range d.branches {
			d.t.Logf("branch %d:\n%s", n, b.files()["main.tf"])
		}
	}
}
