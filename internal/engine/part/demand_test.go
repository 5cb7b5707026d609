package part

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestOnDemand reads objects that are demanded, once, and nothing that they depend on.
func TestOnDemand(t *testing.T) {
	cfg := compile(t, network, inner)
	s := &shelf{State: state.New()}
	s.put(t, "t.net")
	s.put(t, "t.other", "t.net")
	s.put(t, "t.many[0]", "t.other")
	s.put(t, "t.deep")
	p := OnDemand(cfg, []state.Subject{{Kind: state.OneInstance, Addr: "t.last"}}, s.fetch)
	stored, prior := state.New(), state.New()
	failed := diag.List{}
	g := &Growing{Part: p, Plan: &plan.Plan{Base: state.New()}, Stored: &stored, Prior: &prior, Report: func(d diag.List) { failed = append(failed, d...) }}
	var lock sync.Mutex
	for range 2 {
		for _, text := range []string{"t.last", "t.other", "t.gone"} {
			g.Demand(t.Context(), &lock, instance(t, text))
		}
	}
	if got := strings.Join(s.asked, " "); got != "t.gone t.other" || names(stored) != "" || names(prior) != "t.other" {
		t.Errorf("got %s asked for, %q stored and %q planned from, want t.gone and t.other, none and t.other", got, names(stored), names(prior))
	}
	for _, m := range []*sync.Mutex{&lock, &g.mu} {
		if !m.TryLock() {
			t.Fatal("got a lock that is held, want it free")
		}
		m.Unlock()
	}
	prior.RemoveInstance(instance(t, "t.other"))
	found, err := p.Read(t.Context(), []state.Subject{{Kind: state.OneInstance, Addr: "t.other"}, {Kind: state.AllWithin, Addr: "t.many"}})
	if err != nil || names(found) != "t.many[0]" || len(s.asked) != 3 {
		t.Errorf("got %q, %v, asked for %v, want t.many[0] alone", names(found), err, s.asked)
	}
	g.Load(found)
	if names(stored) != "t.many[0] t.other" || names(g.Plan.Base) != names(stored) || names(prior) != "t.many[0]" || p.Rows() != 2 {
		t.Errorf("got %q stored, %q planned from, %d rows, want both, the one that was not removed, 2", names(stored), names(prior), p.Rows())
	}
	stored.RemoveInstance(instance(t, "t.other"))
	if g.Load(state.New()); names(stored) != "t.many[0]" {
		t.Errorf("got %q stored, want objects that were demanded added once", names(stored))
	}
	for what, then := range map[string]func() bool{
		"another attempt": func() bool { return !g.Missed(t.Context()) },
		"a scope":         func() bool { return g.Relied(t.Context(), &state.Scope{}) && !g.Relied(t.Context(), &state.Scope{}) },
	} {
		stored.RemoveInstance(instance(t, "t.deep"))
		delete(p.has, state.Subject{Kind: state.OneInstance, Addr: "t.deep"})
		g.Demand(t.Context(), &lock, instance(t, "t.deep"))
		if held := names(stored); !then() || held != "t.many[0]" || names(stored) != "t.deep t.many[0]" || names(g.Plan.Base) != "t.deep t.many[0] t.other" {
			t.Errorf("%s: got %q stored and then %q, want what was demanded last, once", what, held, names(stored))
		}
	}
	if s.err = errors.New("lost"); len(failed) > 0 {
		t.Errorf("got %v, want no error", failed)
	}
	if g.Demand(t.Context(), &sync.Mutex{}, instance(t, "t.far")); !failed.HasErrors() {
		t.Error("got no error, want the one of reading")
	}
	if found, err := (*Part)(nil).Demand(t.Context(), instance(t, "t.far")); found != nil || err != nil {
		t.Errorf("no part: got %v, %v, want nothing", found, err)
	}
	whole, _ := New(cfg, []addr.Target{target(t, "t.net")}, plan.Normal, s.fetch)
	if found, err := whole.Demand(t.Context(), instance(t, "t.far")); found != nil || err != nil {
		t.Errorf("a part that is read ahead: got %v, %v, want nothing", found, err)
	}
}
