package part

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestDependents reads the dependents of destroyed objects, and theirs, once.
func TestDependents(t *testing.T) {
	cfg := compile(t, network, inner)
	s := &shelf{State: state.New()}
	s.put(t, "t.a")
	s.put(t, "t.b", "t.a")
	s.put(t, "t.c", "t.b")
	s.put(t, "t.d", "t.z")
	p, _ := New(cfg, []addr.Target{target(t, "t.a")}, plan.Normal, s.fetch)
	found, err := p.Dependents(t.Context(), []addr.ConfigResource{instance(t, "t.a").Config()}, false)
	if got, want := names(found), "t.b t.c"; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	s.asked = nil
	if _, err := p.Dependents(t.Context(), []addr.ConfigResource{instance(t, "t.a").Config()}, false); err != nil || len(s.asked) > 0 {
		t.Errorf("asking again: got %v, %v, want nothing read", s.asked, err)
	}
	if found, err := p.Dependents(t.Context(), []addr.ConfigResource{instance(t, "t.net").Config()}, true); names(found) != "" || err != nil {
		t.Errorf("got %q, %v, want nothing", names(found), err)
	}
	if want := []string{"all module.m.t.x everywhere", "all module.m.t.y everywhere", "all t.last everywhere", "all t.many everywhere", "on module.m.t.x"}; !slices.Contains(s.asked, want[0]) || len(s.asked) < len(want) || slices.Contains(s.asked, "all ephemeral.t.e everywhere") {
		t.Errorf("dependents by the configuration: got %v, want %v", s.asked, want)
	}
	s.err = errors.New("lost")
	if _, err := p.Dependents(t.Context(), []addr.ConfigResource{instance(t, "t.q").Config()}, false); !errors.Is(err, s.err) {
		t.Errorf("got %v, want %v", err, s.err)
	}
}

// TestDependentsOfRead reads the dependents of objects that were read before, and nothing twice.
func TestDependentsOfRead(t *testing.T) {
	cfg := compile(t, network, inner)
	s := &shelf{State: state.New()}
	s.put(t, "t.a")
	s.put(t, "t.mid", "t.a")
	s.put(t, "t.user", "t.mid", "t.z")
	s.put(t, "t.last", "t.user", "t.mid", "t.z")
	p, _ := New(cfg, []addr.Target{target(t, "t.mid")}, plan.Normal, s.fetch)
	first := state.New()
	first.SetObject(addr.Object{Instance: instance(t, "t.mid")}, s.Object(addr.Object{Instance: instance(t, "t.mid")}), addr.ProviderConfig{})
	if _, err := p.Follow(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	found, err := p.Dependents(t.Context(), []addr.ConfigResource{instance(t, "t.a").Config()}, false)
	if got, want := names(found), "t.last t.user"; got != want || err != nil {
		t.Errorf("dependents: got %q, %v, want %q", got, err, want)
	}
	for a, n := range s.sent {
		if n > 1 {
			t.Errorf("%s: got it %d times, want it once", a, n)
		}
	}
	if got, want := len(slices.Compact(slices.Clone(s.asked))), len(s.asked); got != want {
		t.Errorf("subjects: got %v, want each once", s.asked)
	}
}

// TestDeclaredDependents reads what depends on blocks by the configuration once that was asked for, and not
// before.
func TestDeclaredDependents(t *testing.T) {
	cfg := compile(t, network, inner)
	block := func(text string) []addr.ConfigResource { return []addr.ConfigResource{instance(t, text).Config()} }
	s := &shelf{State: state.New()}
	s.put(t, "t.rec", "t.many")
	p, _ := New(cfg, []addr.Target{target(t, "t.other")}, plan.Normal, s.fetch)
	dependents := func(of []addr.ConfigResource, declared bool, want string, asked ...string) {
		t.Helper()
		s.asked = nil
		found, err := p.Dependents(t.Context(), of, declared)
		if names(found) != want || err != nil {
			t.Errorf("dependents of %v: got %q, %v, want %q", of, names(found), err, want)
		}
		if diff := cmp.Diff(asked, s.asked); diff != "" {
			t.Errorf("dependents of %v: want(-) got(+):\n%s", of, diff)
		}
	}
	dependents(nil, true, "")
	dependents(block("module.one.t.x"), false, "", "on module.one.t.x")
	dependents(block("t.gone"), true, "", "on t.gone")
	dependents(block("module.gone.t.x"), false, "", "on module.gone.t.x")
	dependents(block("t.net"), false, "t.rec", "all module.m.t.x everywhere", "all module.m.t.y everywhere", "all t.last everywhere", "all t.many everywhere",
		"on module.m.t.x", "on module.m.t.y", "on t.last", "on t.many", "on t.net", "on t.rec")
}

// TestFollowKnown reads nothing for dependencies on blocks that the beginning has.
func TestFollowKnown(t *testing.T) {
	cfg := compile(t, network, inner)
	for _, row := range []struct{ targets, object, uses string }{
		{"t.other t.last", "t.last", "t.other"},
		{"t.many", "t.many[0]", "t.net"},
	} {
		s := &shelf{State: state.New()}
		s.put(t, row.object, row.uses)
		var targets []addr.Target
		for _, text := range strings.Fields(row.targets) {
			targets = append(targets, target(t, text))
		}
		p, _ := New(cfg, targets, plan.Normal, s.fetch)
		if _, err := p.Follow(t.Context(), s.State); err != nil || len(s.asked) > 0 {
			t.Errorf("%s: got %v, %v, want nothing read", row.targets, s.asked, err)
		}
	}
}

// TestFollow reads what depends on the targets if they are to be destroyed, and what an object depended on
// when it was stored.
func TestFollow(t *testing.T) {
	cfg := compile(t, network, inner)
	for mode, want := range map[plan.Mode]string{plan.Normal: "t.old", plan.Destroy: "t.old t.user"} {
		s := &shelf{State: state.New()}
		s.put(t, "t.net", "t.old")
		s.put(t, "t.old")
		s.put(t, "t.user", "t.net")
		p, _ := New(cfg, []addr.Target{target(t, "t.net")}, mode, s.fetch)
		first := state.New()
		first.SetObject(addr.Object{Instance: instance(t, "t.net")}, s.Object(addr.Object{Instance: instance(t, "t.net")}), addr.ProviderConfig{})
		found, err := p.Follow(t.Context(), first)
		if got := names(found); got != want || err != nil {
			t.Errorf("mode %v: got %q, %v, want %q", mode, got, err, want)
		}
	}
}
