//go:build !mayfly_no_postgres

package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestRecordsAreReplaced has a step, and then an end, record an object that has a record from before: with
// other reads, another hash of its block and of its configuration, and for another version of its row.
func TestRecordsAreReplaced(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	recorded := func(hash byte, reads int) {
		t.Helper()
		records, err := reader(t, opt).Records(t.Context(), state.RecordQuery{Units: []state.Unit{finding(2).Unit}})
		if err != nil || len(records) != 1 {
			t.Fatalf("got the records %v and the error %v, want one", records, err)
		}
		got, want := records[0], []string{thing(reads).Key()}
		if got.Given != (state.Hash{hash}) || got.Seen != (state.Hash{hash}) || !slices.Equal(got.Reads, want) {
			t.Errorf("got the record %+v, want the hashes %d and the reads %v", got, hash, want)
		}
	}
	steps := func(hashes state.BlockHashes, s *state.Settlement, reads int) {
		t.Helper()
		r := planned(t, opt, "second", []int{2}, reads)
		r.scope.Hashes = hashes
		r.begin()
		if s != nil {
			r.Run.(state.Recorder).Record(*s)
		} else {
			c := outcome(t, 2, "first", true, reads)
			c.Step.Given = state.Hash{'3'}
			r.commit(c)
		}
		r.end()
	}
	third, fourth := hashesOf("resource.test_thing.a 3"), hashesOf("resource.test_thing.a 4")
	steps(third, nil, 0)
	recorded('3', 0)
	r := planned(t, opt, "without", []int{2}) // which makes the record void
	r.begin()
	r.Put(state.ObjectChange{Object: storetest.Address("a", 2), Provider: storetest.Provider, New: storetest.Object(t, "second")})
	r.end()
	base, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := finding(2, 1)
	found.Given = state.Hash{'4'}
	s := settlement(base, momentOf(t, opt), fourth, found)
	steps(fourth, &s, 1)
	recorded('4', 1)
	execute(t, opt, `DELETE FROM mayfly.due`)
	settle(t, opt, "third", 1)
	if got := due(t, opt, fourth); !strings.Contains(got, "test_thing.a[2] input") {
		t.Errorf("got due\n%s\nwant also the reader of the changed object", got)
	}
}

// TestResultsAreGone has a run remove the results of conditions of a resource, and of a check in a module.
// The records and marks of the units of the check go with them, and the records of the objects stay.
func TestResultsAreGone(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	put := func(who string, results ...state.CheckResult) {
		t.Helper()
		r := planned(t, opt, who, nil)
		r.scope.Hashes, r.scope.Results = first, map[state.Subject][]state.Finding{}
		for _, config := range []string{"module.m.check.c", "test_thing.a"} {
			s := state.Subject{Kind: state.OneCheck, Addr: config}
			r.scope.Claims[s], r.scope.Results[s] = state.Exclusive, nil
		}
		r.begin()
		r.PutChecks(results)
		r.end()
	}
	put("first", state.CheckResult{Kind: "resource", Config: "test_thing.a", Status: state.CheckPass}, state.CheckResult{Kind: "check", Config: "module.m.check.c", Status: state.CheckPass})
	execute(t, opt, `INSERT INTO mayfly.units (workspace, unit, kind, block, reads) SELECT id, 'check module.m["x"].check.c', 'check', 'module.m.check.c', '{}' FROM mayfly.workspaces`)
	execute(t, opt, `INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT id, 'check module.m["x"].check.c', 'input', gen_random_uuid() FROM mayfly.workspaces`)
	put("second")
	expect(t, opt, "", chained)
	if got := count(t, opt, `SELECT count(*) FROM mayfly.units WHERE kind = 'check'`); got != 0 {
		t.Errorf("got %d records of checks, want none", got)
	}
}

// TestResultsThatPass has a check pass that has failed before: its row doesn't say any more that it is due.
func TestResultsThatPass(t *testing.T) {
	opt := stock(t, 1)
	for want, status := range []state.CheckStatus{state.CheckPass, state.CheckFail, state.CheckPass} {
		r := planned(t, opt, string(status), nil)
		r.scope.Claims[state.Subject{Kind: state.OneCheck, Addr: "check.c"}] = state.Exclusive
		r.begin()
		r.PutChecks([]state.CheckResult{{Kind: "check", Config: "check.c", Status: status}})
		r.end()
		if got := count(t, opt, `SELECT count(*) FROM mayfly.results WHERE NOT passed`); got != want%2 {
			t.Errorf("got %d results that have not passed after %s, want %d", got, status, want%2)
		}
	}
}

// TestRecordsAfterAnError asks for nothing more when the first query has failed.
func TestRecordsAfterAnError(t *testing.T) {
	opt, proxy := behind(t, 1)
	execute(t, opt, `ALTER TABLE mayfly.units RENAME TO elsewhere`)
	m := manager(t, open(t, opt)).(store.ChangeReader)
	if _, _, err := m.HashKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	trips := func(q state.RecordQuery) int64 {
		before := proxy.Counts().RoundTrips
		if got, err := m.Records(t.Context(), q); err == nil || got != nil {
			t.Errorf("got %v and the error %v, want an error", got, err)
		}
		return proxy.Counts().RoundTrips - before
	}
	q := state.RecordQuery{Units: []state.Unit{finding(0).Unit}}
	one := trips(q)
	q.Blocks, q.Readers = []state.Block{things}, []state.Subject{thing(0)}
	if all := trips(q); all != one {
		t.Errorf("got %d round trips for three queries, want %d as for one", all, one)
	}
}
