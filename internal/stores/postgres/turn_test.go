//go:build !mayfly_no_postgres

package postgres_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// takeTurn has a run store an output that is made of the objects a[0] and a[1]. It calls between, if that is
// not nil, after each evaluation, and returns how many there were.
func (r *run) takeTurn(between func()) (evaluations int) {
	r.t.Helper()
	subjects := []state.Subject{state.InstanceSubject(storetest.Address("a", 0).Instance)}
	err := r.Run.(state.Turner).TakeTurn(r.t.Context(), subjects, func(st *state.State) state.Evaluated {
		second := st.Object(storetest.Address("a", 1))
		if second == nil {
			return state.Evaluated{Missing: []state.Subject{state.InstanceSubject(storetest.Address("a", 1).Instance)}}
		}
		if n := len(st.Managed()); n != 2 {
			r.t.Errorf("got %d objects, want the 2 that were asked for", n)
		}
		evaluations++
		joined := string(st.Object(storetest.Address("a", 0)).JSON()) + string(second.JSON())
		if between != nil {
			between()
		}
		return state.Evaluated{
			Outputs: map[string]*state.Output{"joined": output(r.t, joined)},
			Checks:  []state.CheckResult{{Kind: "check", Config: "check.c", Status: state.CheckPass, Objects: []state.CheckObject{{Addr: "check.c", Status: state.CheckPass, Failures: []string{joined}}}}},
		}
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return evaluations
}

// joined returns the stored output, and the result of the check, which has the same text.
func joined(t *testing.T, opt postgres.Options) string {
	t.Helper()
	f, err := manager(t, open(t, opt)).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := f.State.Outputs["joined"]
	if o == nil || len(f.State.Checks) != 1 {
		t.Fatalf("got the outputs %v and the checks %v, want one of each", f.State.Outputs, f.State.Checks)
	}
	v, err := o.Value.Unmarked()
	if err != nil {
		t.Fatal(err)
	}
	if got := f.State.Checks[0].Objects[0].Failures[0]; got != v.AsString() {
		t.Errorf("got the text %q in the check, want %q", got, v.AsString())
	}
	return v.AsString()
}

// TestTurns has two runs change an object each, and an output that is made of both. One takes its turn while
// the other evaluates, which has to evaluate again: each sees what the other has left.
func TestTurns(t *testing.T) {
	opt := stock(t, 3)
	one, two := planned(t, opt, "one", []int{0}), planned(t, opt, "two", []int{1})
	one.begin()
	two.begin()
	if err := one.update(0); err != nil {
		t.Fatal(err)
	}
	once := sync.OnceFunc(func() {
		if err := two.update(1); err != nil {
			t.Fatal(err)
		}
		if n := two.takeTurn(nil); n != 1 {
			t.Errorf("got %d evaluations, want 1", n)
		}
		two.end()
	})
	if n := one.takeTurn(once); n != 2 {
		t.Errorf("got %d evaluations of a run whose turn came after another one, want 2", n)
	}
	f := one.end()
	if got := joined(t, opt); strings.Contains(got, "old") || f.State.Outputs["joined"] == nil {
		t.Errorf("got the output %s, want the values of both runs", got)
	}
}

// TestTurnOfTheRest has a run change an object without an operation: its turn sees the object.
func TestTurnOfTheRest(t *testing.T) {
	opt := stock(t, 2)
	r := planned(t, opt, "one", []int{0})
	r.begin()
	r.Put(state.ObjectChange{Object: storetest.Address("a", 0), Provider: storetest.Provider, New: storetest.Object(t, "put")})
	r.takeTurn(nil)
	if got := joined(t, opt); !strings.Contains(got, "put") {
		t.Errorf("got the output %s, want the changed object in it", got)
	}
	f := r.end()
	if f.Serial != 3 {
		t.Errorf("got the serial %d, want one for the object, and one for the results", f.Serial)
	}
}

// TestClaimedOutput leaves an output alone that another run has claimed: its configuration may say something
// else about it.
func TestClaimedOutput(t *testing.T) {
	opt := stock(t, 3)
	one, two := planned(t, opt, "one", []int{0}), planned(t, opt, "two", []int{2})
	two.scope.Claims.Add(state.Subject{Kind: state.OneOutput, Addr: "joined"}, state.Exclusive)
	one.begin()
	two.begin()
	two.PutOutput("joined", output(t, "another expression"))
	if err := one.update(0); err != nil {
		t.Fatal(err)
	}
	one.takeTurn(nil)
	one.end()
	f := two.end()
	v, err := f.State.Outputs["joined"].Value.Unmarked()
	if err != nil || v.AsString() != "another expression" {
		t.Errorf("got the output %#v (%v), want the one of the run that has claimed it", v, err)
	}
}

// TestTurnOfAll evaluates nothing again in a run that excludes all others.
func TestTurnOfAll(t *testing.T) {
	opt := stock(t, 2)
	m := manager(t, open(t, opt))
	r := begin(t, m, "a")
	err := r.(state.Turner).TakeTurn(t.Context(), nil, func(*state.State) state.Evaluated {
		t.Error("got an evaluation, want none")
		return state.Evaluated{}
	})
	if err != nil {
		t.Fatal(err)
	}
}
