//go:build !mayfly_no_postgres

package postgres_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// noted returns the marks of a state as "UNIT KIND", without their runs, and its valid records as "UNIT reads
// KEYS", both in order.
func noted(t *testing.T, opt postgres.Options) (marks, records []string) {
	t.Helper()
	db, err := sql.Open("postgres", opt.ConnString)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	read := func(query string) (out []string) {
		rows, err := db.Query(query)
		for err == nil && rows.Next() {
			var text string
			err = rows.Scan(&text)
			out = append(out, strings.TrimSpace(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return out
	}
	return read(`SELECT DISTINCT unit || ' ' || kind FROM mayfly.due`),
		read(`SELECT u.unit || ' reads ' || array_to_string(u.reads, ', ') FROM mayfly.units u JOIN mayfly.objects o ON o.workspace = u.workspace AND o.address = u.unit AND o.deposed = '' AND o.version = u.version`)
}

// expect fails the test unless a state has these marks and valid records, one per line.
func expect(t *testing.T, opt postgres.Options, wantMarks, wantRecords string) {
	t.Helper()
	marks, records := noted(t, opt)
	lines := func(text string) (out []string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, line)
			}
		}
		return out
	}
	if got := marks; !slices.Equal(got, lines(wantMarks)) {
		t.Errorf("got the marks\n%s\nwant\n%s", strings.Join(got, "\n"), wantMarks)
	}
	if got := records; !slices.Equal(got, lines(wantRecords)) {
		t.Errorf("got the records\n%s\nwant\n%s", strings.Join(got, "\n"), wantRecords)
	}
}

// outcome returns the change with which a step ends that gives a[i] a value evaluated from other objects.
func outcome(t *testing.T, i int, value string, settled bool, from ...int) state.ObjectChange {
	t.Helper()
	c := state.ObjectChange{Object: storetest.Address("a", i), Provider: storetest.Provider, New: storetest.Object(t, value), Step: &state.Step{Settled: settled}}
	for _, j := range from {
		c.Step.Reads = append(c.Step.Reads, state.InstanceSubject(storetest.Address("a", j).Instance))
	}
	return c
}

// commit carries out one operation that ends with changes.
func (r *run) commit(changes ...state.ObjectChange) {
	r.t.Helper()
	id, err := r.Begin(changes[0].Object, "update")
	if err == nil {
		err = r.Commit(id, changes...)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// settle has a run change objects by steps, each evaluated from the one before.
func settle(t *testing.T, opt postgres.Options, who string, objects ...int) {
	t.Helper()
	r := planned(t, opt, who, objects)
	r.begin()
	for n, i := range objects {
		if n == 0 {
			r.commit(outcome(t, i, who, true))
		} else {
			r.commit(outcome(t, i, who, true, objects[n-1]))
		}
	}
	r.end()
}

// unmarked removes the marks that a preparation has left.
func unmarked(t *testing.T, opt postgres.Options) {
	t.Helper()
	execute(t, opt, `DELETE FROM mayfly.due`)
}

func execute(t *testing.T, opt postgres.Options, statement string) {
	t.Helper()
	db, err := sql.Open("postgres", opt.ConnString)
	if err == nil {
		_, err = db.Exec(statement)
		_ = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// chain stores a state in which a[1] was evaluated from a[0], and a[2] from a[1], and nothing is due. A
// server may have another one from before.
func chain(t *testing.T, opt postgres.Options) postgres.Options {
	t.Helper()
	execute(t, opt, `DROP SCHEMA IF EXISTS mayfly CASCADE`)
	execute(t, opt, `DROP SCHEMA IF EXISTS mayfly_views CASCADE`)
	fill(t, opt, 3)
	settle(t, opt, "first", 0, 1, 2)
	unmarked(t, opt)
	return opt
}

const chained = `test_thing.a[0] reads
	test_thing.a[1] reads 1 test_thing.a[0]
	test_thing.a[2] reads 1 test_thing.a[1]`

// TestMarks has runs change objects, and compares the marks and records that they leave.
func TestMarks(t *testing.T) {
	without := func(records string, units ...string) string {
		var out []string
		for line := range strings.Lines(records) {
			if !slices.Contains(units, strings.Fields(line)[0]) {
				out = append(out, line)
			}
		}
		return strings.Join(out, "")
	}
	zero, one := storetest.Address("a", 0), storetest.Address("a", 1)
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	for name, c := range map[string]struct {
		do             func(t *testing.T, opt postgres.Options)
		marks, records string
	}{
		"a step with another value": {func(t *testing.T, opt postgres.Options) { settle(t, opt, "second", 0) }, "test_thing.a[1] input", chained},
		"a step with the same value": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{0})
			r.begin()
			r.commit(outcome(t, 0, "first", true))
			r.end()
		}, "", chained},
		"steps of all": {func(t *testing.T, opt postgres.Options) { settle(t, opt, "second", 0, 1, 2) }, "", chained},
		"a step that is evaluated from something else": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{2}, 0)
			r.begin()
			r.commit(outcome(t, 2, "first", true, 0))
			r.end()
			settle(t, opt, "third", 0)
		}, "test_thing.a[1] input\ntest_thing.a[2] input", strings.ReplaceAll(chained, "1 test_thing.a[1]", "1 test_thing.a[0]")},
		"steps in one batch": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{0, 1})
			r.begin()
			r.commit(outcome(t, 0, "second", true), outcome(t, 1, "second", true, 0))
			r.end()
		}, "test_thing.a[2] input", chained},
		"a step that is not settled": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1}, 0)
			r.begin()
			r.commit(outcome(t, 1, "second", false, 0))
			r.end()
		}, "test_thing.a[1] object\ntest_thing.a[2] input", chained},
		"a step that is settled at the end": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1}, 0)
			r.begin()
			r.commit(outcome(t, 1, "second", false, 0))
			r.Run.(state.Settler).Settle(one.Instance)
			r.end()
		}, "test_thing.a[2] input", chained},
		"a step that never begins": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{0, 1})
			r.begin()
			r.end()
		}, "test_thing.a[0] object\ntest_thing.a[1] object", chained},
		"a failed step": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1})
			r.begin()
			id, err := r.Begin(one, "update")
			if err == nil {
				err = r.Fail(id, state.ObjectChange{Object: one, Provider: storetest.Provider, New: storetest.Object(t, "half")})
			}
			if err != nil {
				t.Fatal(err)
			}
			r.end()
		}, "test_thing.a[1] object\ntest_thing.a[2] input", without(chained, "test_thing.a[1]")},
		"a change without a step": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{0})
			r.begin()
			r.Put(state.ObjectChange{Object: zero, Provider: storetest.Provider, New: storetest.Object(t, "second")})
			r.end()
		}, "test_thing.a[0] object\ntest_thing.a[1] input", without(chained, "test_thing.a[0]")},
		"an object that goes with its block": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1})
			r.begin()
			r.commit(state.ObjectChange{Object: one, Step: &state.Step{Settled: true}})
			r.end()
		}, "test_thing.a[2] input", without(chained, "test_thing.a[1]")},
		"an object that goes and is declared": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1})
			r.begin()
			r.commit(state.ObjectChange{Object: one})
			r.end()
		}, "test_thing.a[1] object\ntest_thing.a[2] input", without(chained, "test_thing.a[1]")},
		"a deposed object that goes": {func(t *testing.T, opt postgres.Options) {
			aside := addr.Object{Instance: one.Instance, Deposed: "00000001"}
			r := planned(t, opt, "second", []int{1})
			r.begin()
			r.commit(state.ObjectChange{Object: aside, Provider: storetest.Provider, New: storetest.Object(t, "aside")})
			r.end()
			unmarked(t, opt)
			r = planned(t, opt, "third", []int{1})
			r.begin()
			r.commit(outcome(t, 1, "first", true, 0))
			r.commit(state.ObjectChange{Object: aside})
			r.end()
		}, "", chained},
		"a push": {func(t *testing.T, opt postgres.Options) {
			m := manager(t, open(t, opt))
			f, err := m.Read(t.Context())
			if err == nil {
				f.State.SetObject(one, storetest.Object(t, "pushed"), storetest.Provider)
				f.State.SetObject(storetest.Address("a", 2), nil, storetest.Provider)
				f.Serial++
				err = m.Write(t.Context(), f)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "test_thing.a[1] object\ntest_thing.a[2] input\ntest_thing.a[2] object", without(chained, "test_thing.a[1]", "test_thing.a[2]")},
		"encryption anew": {func(t *testing.T, opt postgres.Options) {
			opt.Cipher = lenient{}
			m := manager(t, open(t, opt))
			f, err := m.Read(t.Context())
			if err == nil {
				err = m.Write(t.Context(), f)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "", chained},
		"a damaged state that is replaced": {func(t *testing.T, opt postgres.Options) {
			m := manager(t, open(t, opt))
			f, err := m.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			execute(t, opt, `UPDATE mayfly.objects SET body = 'damaged' WHERE address = 'test_thing.a[1]'`)
			f.State.SetObject(one, nil, storetest.Provider)
			f.Serial++
			if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}, "test_thing.a[0] object\ntest_thing.a[1] object\ntest_thing.a[2] object", ""},
		"a stale plan": {func(t *testing.T, opt postgres.Options) {
			stale := planned(t, opt, "stale", []int{2}, 1)
			settle(t, opt, "second", 1)
			unmarked(t, opt)
			if err := stale.claim(0); err == nil {
				t.Error("got no error, want one about a stale plan")
			}
		}, "", "test_thing.a[0] reads\ntest_thing.a[1] reads\ntest_thing.a[2] reads 1 test_thing.a[1]"},
		"a run that was freed, and a late result": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1})
			r.begin()
			id, err := r.Begin(one, "update")
			if err != nil {
				t.Fatal(err)
			}
			unmarked(t, opt)
			if err := manager(t, open(t, opt)).(store.Recoverer).ForceUnlock(t.Context(), "id-second"); err != nil {
				t.Fatal(err)
			}
			expect(t, opt, "test_thing.a[1] object", without(chained, "test_thing.a[1]"))
			unmarked(t, opt)
			_ = r.Commit(id, outcome(t, 1, "late", true)) // which fails
		}, "test_thing.a[1] object", without(chained, "test_thing.a[1]")},
		"a result after the lease": {func(t *testing.T, opt postgres.Options) {
			r := planned(t, opt, "second", []int{1}, 0)
			r.begin()
			id, err := r.Begin(one, "update")
			if err != nil {
				t.Fatal(err)
			}
			execute(t, opt, `UPDATE mayfly.runs SET lease_until = clock_timestamp() WHERE state = 'claimed'`)
			if err := r.Commit(id, outcome(t, 1, "second", true, 0)); err != nil {
				t.Fatal(err)
			}
		}, "test_thing.a[1] object\ntest_thing.a[2] input", chained},
	} {
		t.Run(name, func(t *testing.T) {
			c.do(t, chain(t, opt))
			expect(t, opt, c.marks, c.records)
		})
	}
}

// TestMarksOfAll marks the readers of all instances of a resource, and of a block in the modules within one.
func TestMarksOfAll(t *testing.T) {
	opt := stock(t, 4)
	all := func(i int, reads ...state.Subject) state.ObjectChange {
		c := outcome(t, i, "reads", true)
		c.Step.Reads = reads
		return c
	}
	r := planned(t, opt, "first", []int{1, 2, 3})
	r.begin()
	block := storetest.Address("a", 0).Config().String()
	r.commit(all(1, state.Subject{Kind: state.AllInstances, Addr: storetest.Address("a", 0).Abs().String()}))
	r.commit(all(2, state.Subject{Kind: state.AllWithin, Addr: block}))
	r.commit(all(3, state.Subject{Kind: state.AllWithin, Addr: block, Within: "module.m"}))
	r.end()
	unmarked(t, opt)
	settle(t, opt, "second", 0)
	expect(t, opt, "test_thing.a[1] input\ntest_thing.a[2] input", `test_thing.a[0] reads
		test_thing.a[1] reads 1 all test_thing.a
		test_thing.a[2] reads 1 all test_thing.a everywhere
		test_thing.a[3] reads 1 all test_thing.a within module.m`)
}

// TestMarksDoNotPileUp has many runs mark one unit: the end of each removes the marks of those that have
// ended, and none of a run that has not.
func TestMarksDoNotPileUp(t *testing.T) {
	opt := chain(t, postgres.Options{ConnString: server.Start(t).URL(0)})
	for i := range 3 {
		settle(t, opt, fmt.Sprint("run", i), 0)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.due`); got != 1 {
		t.Errorf("got %d marks, want the one of the last run", got)
	}
	open := planned(t, opt, "open", []int{1})
	open.begin()
	r := planned(t, opt, "other", []int{2})
	r.begin()
	r.Put(state.ObjectChange{Object: storetest.Address("a", 2), Provider: storetest.Provider, New: storetest.Object(t, "other")})
	r.end()
	open.end()
	expect(t, opt, "test_thing.a[1] input\ntest_thing.a[1] object\ntest_thing.a[2] object", "test_thing.a[0] reads\ntest_thing.a[1] reads 1 test_thing.a[0]")
}

// TestMarkingWaitsForNothing has two runs mark one reader, while a third holds a lock on a mark of it.
func TestMarkingWaitsForNothing(t *testing.T) {
	opt := stock(t, 3)
	r := planned(t, opt, "first", []int{2})
	r.begin()
	r.commit(outcome(t, 2, "first", true, 0, 1))
	r.end()
	settle(t, opt, "second", 0)
	db, err := sql.Open("postgres", opt.ConnString)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	held, err := db.Begin()
	if err == nil {
		_, err = held.Exec(`SELECT FROM mayfly.due WHERE unit = 'test_thing.a[2]' FOR UPDATE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback() }()
	one, two := planned(t, opt, "one", []int{0}), planned(t, opt, "two", []int{1})
	one.begin()
	two.begin()
	one.commit(outcome(t, 0, "one", true))
	two.commit(outcome(t, 1, "two", true))
	if got := count(t, opt, `SELECT count(*) FROM mayfly.due WHERE unit = 'test_thing.a[2]'`); got != 3 {
		t.Errorf("got %d marks of the reader, want those of three runs", got)
	}
	one.end()
	two.end()
}

// TestRowsSayWhatIsDue finds tainted and deposed objects, and results that have not passed, by their rows.
func TestRowsSayWhatIsDue(t *testing.T) {
	opt := stock(t, 3)
	r := planned(t, opt, "first", []int{0, 1})
	r.scope.Claims[state.Subject{Kind: state.OneCheck, Addr: "check.fails"}] = state.Exclusive
	r.scope.Claims[state.Subject{Kind: state.OneCheck, Addr: "check.passes"}] = state.Exclusive
	r.begin()
	tainted, owing := storetest.Object(t, "tainted").Clone(), storetest.Object(t, "owing").Clone()
	tainted.Tainted = true
	owing.Withheld = []state.Withheld{{Computed: true, Owed: []addr.ConfigResource{storetest.Address("a", 0).Config()}}}
	r.commit(state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: tainted})
	r.commit(state.ObjectChange{Object: storetest.Address("a", 1), Provider: storetest.Provider, New: owing})
	r.PutChecks([]state.CheckResult{{Kind: "check", Config: "check.fails", Status: state.CheckFail}, {Kind: "check", Config: "check.passes", Status: state.CheckPass}})
	r.end()
	for statement, want := range map[string]int{
		`SELECT count(*) FROM mayfly.objects WHERE tainted AND address = 'test_thing.a[0]'`:  1,
		`SELECT count(*) FROM mayfly.objects WHERE owes AND address = 'test_thing.a[1]'`:     1,
		`SELECT count(*) FROM mayfly.objects WHERE tainted OR owes`:                          2,
		`SELECT count(*) FROM mayfly.results WHERE NOT passed AND key = 'check check.fails'`: 1,
		`SELECT count(*) FROM mayfly.results WHERE NOT passed`:                               1,
		`SELECT count(*) FROM mayfly.due WHERE unit = 'check check.fails'`:                   1,
	} {
		if got := count(t, opt, statement); got != want {
			t.Errorf("%s: got %d, want %d", statement, got, want)
		}
	}
}

// TestMarksOfPlans marks the units that a plan changes when it is claimed, and none that it reads.
func TestMarksOfPlans(t *testing.T) {
	opt := chain(t, postgres.Options{ConnString: server.Start(t).URL(0)})
	r := planned(t, opt, "second", []int{1}, 0)
	r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}] = state.Exclusive
	if err := r.claim(0); err != nil {
		t.Fatal(err)
	}
	expect(t, opt, "output o object\ntest_thing.a[1] object", chained)
}

// TestMarksOfKilledRuns has a run that changes three objects stop after each of its calls. The objects that
// it has not changed are marked, and those that were evaluated from changed ones.
func TestMarksOfKilledRuns(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	claimed := "test_thing.a[0] object\ntest_thing.a[1] object\ntest_thing.a[2] object"
	first := "test_thing.a[1] input\ntest_thing.a[1] object\ntest_thing.a[2] object"
	second := "test_thing.a[2] input\ntest_thing.a[2] object"
	for calls, want := range []string{claimed, claimed, first, first, second, second, "", ""} {
		chain(t, opt)
		r := planned(t, opt, "killed", []int{0, 1, 2})
		r.begin()
		var id uint64
		var err error
		for n := range calls {
			switch i := n / 2; {
			case n == 6:
				_, err = r.End(t.Context())
			case n%2 == 0:
				id, err = r.Begin(storetest.Address("a", i), "update")
			default:
				var from []int
				if i > 0 {
					from = []int{i - 1}
				}
				err = r.Commit(id, outcome(t, i, "killed", true, from...))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if marks, _ := noted(t, opt); strings.Join(marks, "\n") != want {
			t.Errorf("got after %d calls the marks\n%s\nwant\n%s", calls, strings.Join(marks, "\n"), want)
		}
	}
}
