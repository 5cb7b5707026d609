//go:build !mayfly_no_postgres

package postgres_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// theOutput and theCheck are results that the tests give other values.
var (
	theOutput = state.Subject{Kind: state.OneOutput, Addr: "o"}
	theCheck  = state.Subject{Kind: state.OneCheck, Addr: "check.c"}
)

// giveOutput stores a value of the output o by a run that has claimed it; none for "".
func giveOutput(t *testing.T, opt postgres.Options, who, text string) {
	t.Helper()
	r := planned(t, opt, who, []int{0})
	r.scope.Claims.Add(theOutput, state.Exclusive)
	r.begin()
	if text == "" {
		r.PutOutput("o", nil)
	} else {
		r.PutOutput("o", output(t, text))
	}
	r.end()
}

// pushed stores the state with a change as state push does.
func pushed(t *testing.T, opt postgres.Options, change func(*state.State)) {
	t.Helper()
	m := manager(t, open(t, opt))
	f, err := m.Read(t.Context())
	if err == nil {
		change(f.State)
		f.Serial++
		err = m.Write(t.Context(), f)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// textAt returns the value that the output o had; "" for none.
func textAt(t *testing.T, h store.Historian, at store.Moment, of ...state.Subject) string {
	t.Helper()
	past, err := h.At(t.Context(), at, of...)
	if err != nil {
		t.Fatalf("At(%+v): got the error %v, want the content", at, err)
	}
	if past.State.Outputs["o"] == nil {
		return ""
	}
	v, err := past.State.Outputs["o"].Value.Unmarked()
	if err != nil {
		t.Fatal(err)
	}
	return v.AsString()
}

// TestVersionsOfAnOutput shows an output as it was after each run. Runs and pushes that leave it as it is
// write no version.
func TestVersionsOfAnOutput(t *testing.T) {
	opt := stock(t, 2)
	giveOutput(t, opt, "alice", "one")
	between := time.Now()
	giveOutput(t, opt, "bob", "two")
	giveOutput(t, opt, "carol", "two")
	change(t, opt, "dora", 1)
	pushed(t, opt, func(*state.State) {})
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past_results`); got != 1 {
		t.Errorf("got %d former versions, want 1", got)
	}
	giveOutput(t, opt, "erin", "")
	h := historian(t, opt)
	versions, err := h.Versions(t.Context(), theOutput)
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for _, v := range versions {
		by = append(by, v.By.Who)
	}
	if want := []string{"bob", "alice"}; !slices.Equal(by, want) || !versions[0].Last || versions[0].Next.Who != "erin" || versions[0].First || !versions[1].First || versions[1].Last || versions[1].Next.Who != "bob" {
		t.Errorf("got the versions %+v by %v, want those by %v, the first one removed by erin", versions, by, want)
	}
	if versions, err := h.Versions(t.Context(), state.Subject{Kind: state.OneOutput, Addr: "other"}); err != nil || len(versions) > 0 {
		t.Errorf("got the versions %+v and the error %v of an output that there was never, want none", versions, err)
	}
	for _, of := range [][]state.Subject{nil, {theOutput}, {theOutput, state.InstanceSubject(storetest.Address("a", 0).Instance)}} {
		for at, want := range map[store.Moment]string{{Run: "id-alice"}: "one", {Time: between}: "one", {Run: "id-bob"}: "two", {Run: "id-dora"}: "two", {Run: "id-erin"}: "", {Time: between.Add(-time.Hour)}: ""} {
			if got := textAt(t, h, at, of...); got != want {
				t.Errorf("At(%+v, %v): got the output %q, want %q", at, of, got, want)
			}
		}
	}
	if got := textAt(t, h, store.Moment{Run: "id-alice"}, theCheck); got != "" {
		t.Errorf("got the output %q beside a check, want the check alone", got)
	}
}

// TestVersionsOfACheck keeps the results of a check as it does outputs.
func TestVersionsOfACheck(t *testing.T) {
	opt := stock(t, 1)
	for _, status := range []state.CheckStatus{state.CheckPass, state.CheckFail, state.CheckFail} {
		pushed(t, opt, func(s *state.State) {
			s.Checks = []state.CheckResult{{Kind: "check", Config: "check.c", Status: status, Objects: []state.CheckObject{{Addr: "check.c", Status: status}}}}
		})
	}
	h := historian(t, opt)
	versions, err := h.Versions(t.Context(), theCheck)
	if err != nil || len(versions) != 2 {
		t.Fatalf("got the versions %+v and the error %v, want 2", versions, err)
	}
	for i, want := range []state.CheckStatus{state.CheckFail, state.CheckPass} {
		past, err := h.At(t.Context(), store.Moment{Time: versions[i].From}, theCheck)
		if err != nil || len(past.State.Checks) != 1 || past.State.Checks[0].Status != want {
			t.Errorf("At(%v): got %+v and the error %v, want the status %s", versions[i].From, past, err, want)
		}
	}
}

// TestPastResultsAreForgotten removes former versions of outputs after the time that they are kept for.
func TestPastResultsAreForgotten(t *testing.T) {
	opt := stock(t, 2)
	giveOutput(t, opt, "alice", "one")
	first := time.Now()
	giveOutput(t, opt, "bob", "two")
	opt.History = time.Hour
	change(t, opt, "carol", 1)
	if got := textAt(t, historian(t, opt), store.Moment{Time: first}, theOutput); got != "one" {
		t.Errorf("got the output %q within the time that versions are kept for, want it", got)
	}
	opt.History = -1
	change(t, opt, "dora", 1)
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past_results`); got != 0 {
		t.Errorf("got %d former versions, want none", got)
	}
	if _, err := historian(t, opt).At(t.Context(), store.Moment{Time: first}, theOutput); !errors.Is(err, store.ErrForgotten) {
		t.Errorf("got the error %v of a time whose versions were removed, want %v", err, store.ErrForgotten)
	}
}

// TestPastResultsAreEncrypted encrypts former versions of outputs in encrypted states, and those from before
// when a state is encrypted.
func TestPastResultsAreEncrypted(t *testing.T) {
	opt := stock(t, 1)
	giveOutput(t, opt, "alice", "canary-one")
	giveOutput(t, opt, "bob", "canary-two")
	opt.Cipher = lenient{}
	pushed(t, opt, func(*state.State) {})
	giveOutput(t, opt, "carol", "canary-three")
	giveOutput(t, opt, "dora", "")
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past_results`); got != 3 {
		t.Errorf("got %d former versions, want 3", got)
	}
	if got := count(t, opt, `SELECT count(*) FROM mayfly.past_results WHERE NOT sealed OR position('canary' in encode(body, 'escape')) > 0`); got != 0 {
		t.Errorf("got %d former versions that are not encrypted, want none", got)
	}
	for at, want := range map[string]string{"alice": "canary-one", "bob": "canary-two", "carol": "canary-three"} {
		if got := textAt(t, historian(t, opt), store.Moment{Run: "id-" + at}); got != want {
			t.Errorf("got the output %q after the run of %s, want %q", got, at, want)
		}
	}
}

// TestOutputsBeforeTheirHistory does not pretend to know the outputs of times before the tables had versions
// of them. The objects of these times are known.
func TestOutputsBeforeTheirHistory(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	older, err := postgres.Older(opt, postgres.ResultsVersion-1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(older.Close)
	if _, err := older.Workspaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, opt, `INSERT INTO mayfly.workspaces (name) VALUES ('default')`)
	before := time.Now()
	fill(t, opt, 1)
	giveOutput(t, opt, "alice", "one")
	h := historian(t, opt)
	past, err := h.At(t.Context(), store.Moment{Time: before})
	if err != nil || past.Results {
		t.Errorf("got the content %+v and the error %v of a time before, want one whose outputs are not known", past, err)
	}
	if _, err := h.At(t.Context(), store.Moment{Time: before}, theOutput); !errors.Is(err, store.ErrForgotten) || !strings.Contains(err.Error(), "the oldest complete ones are from") {
		t.Errorf("got the error %v of an output at a time before, want %v", err, store.ErrForgotten)
	}
	if past, err = h.At(t.Context(), store.Moment{Run: "id-alice"}); err != nil || !past.Results || past.State.Outputs["o"] == nil {
		t.Errorf("got the content %+v and the error %v of a time after, want the output", past, err)
	}
}
