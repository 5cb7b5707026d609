//go:build !mayfly_no_postgres

package postgres_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
)

// readersOfAll yields values that were evaluated from all things, and calls between after the first thousand.
func readersOfAll(n int, between func()) iter.Seq[state.Finding] {
	return func(yield func(state.Finding) bool) {
		for i := range n {
			if i == 1000 {
				between()
			}
			u := state.Finding{Unit: state.Unit{Kind: state.ValuesUnit, Addr: fmt.Sprintf("module.m[%04d]", i)}, Block: state.Block{Name: "values"}, Reads: []state.Subject{all}}
			if !yield(u) {
				return
			}
		}
	}
}

// TestCostOfSets records units that were all evaluated from all of many objects: their rows are compared
// once, and not for each thousand of units.
func TestCostOfSets(t *testing.T) {
	opt, proxy := behind(t, 3000)
	cost := func(units int) int64 {
		r := planned(t, opt, "one", nil)
		r.begin()
		s := settlement(r.base, 0, first)
		s.Found = readersOfAll(units, func() {})
		r.Run.(state.Recorder).Record(s)
		before := proxy.Counts()
		r.end()
		bytes, _ := passed(before, proxy.Counts())
		return bytes
	}
	one, three := cost(1000), cost(3000)
	t.Logf("bytes from the server: %d for 1000 units, %d for 3000", one, three)
	if three > one+one/4 {
		t.Errorf("bytes for 3000 units: got %d, want about the %d for 1000", three, one)
	}
}

// TestSetsChange has another run make an object while units are recorded: those that are recorded later were
// evaluated from other objects than there are.
func TestSetsChange(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	moment := momentOf(t, opt)
	r := planned(t, opt, "one", nil)
	r.scope.Hashes = first
	r.begin()
	s := settlement(r.base, moment, first)
	s.Found = readersOfAll(1002, func() {
		other := planned(t, opt, "other", []int{5})
		other.scope.Hashes = first
		other.begin()
		other.commit(outcome(t, 5, "other", true))
		other.end()
	})
	r.Run.(state.Recorder).Record(s)
	r.end()
	if got, want := strings.Count(due(t, opt, first), "values module.m[000"), 10; got != want {
		t.Errorf("values of the first thousand that are due: got %d, want %d, by the object that came", got, want)
	}
	if got, want := strings.Count(due(t, opt, first), "values module.m[1001] object (void)"), 1; got != want {
		t.Errorf("values that were recorded later and are due: got %d, want %d", got, want)
	}
}

// TestOpen marks a unit that was evaluated and may have something left to do, unless it has a record.
func TestOpen(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	unknown, known := state.Finding{Unit: state.Unit{Kind: state.CheckUnit, Addr: "check.c"}, Block: state.Block{Name: "check.c"}, Open: true}, repetition
	known.Open = true
	for range 2 {
		moment := momentOf(t, opt)
		r := planned(t, opt, "one", nil)
		r.scope.Hashes = first
		r.begin()
		r.Run.(state.Recorder).Record(settlement(r.base, moment, first, unknown, known))
		r.end()
	}
	if got, want := due(t, opt, first), "check check.c object (void)"; got != want {
		t.Errorf("got due\n%s\nwant\n%s", got, want)
	}
	execute(t, opt, `CREATE UNIQUE INDEX ON mayfly.due (unit)`) // which fails if both runs have left a mark
}
