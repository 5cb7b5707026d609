package withheld

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

func TestJudge(t *testing.T) {
	a, b := str("a"), str("b")
	yes := func(cty.Path) bool { return true }
	is := func(status plan.WithheldStatus) string { return "password " + string(status) }
	one := sent(t, password, a)
	versioned := func(version, other string) state.Withheld {
		w := one
		w.Version, w.Config = quickOf(t, str(version)), restOf(t, thing(none, str(other)))
		return w
	}
	drifted := versioned("1", "o")
	drifted.Config = fingerprint.Fingerprint{}
	for _, row := range []struct {
		name   string
		prior  cty.Value
		o      *state.Object
		cfg    cty.Value
		want   string
		change func(*fixture)
	}{
		{"the same", thing(a, none), stored(t, thing(none, none), one), thing(a, none), is(plan.WithheldSame), nil},
		{"new", gone, nil, thing(a, none), is(plan.WithheldNew), nil},
		{"new in an object", thing(none, none), stored(t, thing(none, none)), thing(a, none), is(plan.WithheldNew), nil},
		{"new and unknown", gone, nil, thing(unknown, none), is(plan.WithheldUnknown), nil},
		{"unknown", thing(none, none), stored(t, thing(none, none), one), thing(unknown, none), is(plan.WithheldUnknown), nil},
		{"changed", thing(none, none), stored(t, thing(none, none), one), thing(b, none), is(plan.WithheldChanged), nil},
		{"drifted", thing(b, none), stored(t, thing(none, none), one), thing(a, none), is(plan.WithheldChanged), nil},
		{"incomparable", thing(none, none), stored(t, thing(none, none), state.Withheld{Path: password, Sent: lost}), thing(a, none), is(plan.WithheldIncomparable), nil},
		{"assumed", thing(a, none), stored(t, thing(none, none), state.Withheld{Path: password, Sent: lost}), thing(a, none), is(plan.WithheldAssumed), func(f *fixture) { f.Assume = yes }},
		{"imported", thing(a, none), nil, thing(a, none), is(plan.WithheldSame), nil},
		{"stored and changed", thing(b, none), stored(t, thing(b, none)), thing(a, none), is(plan.WithheldChanged), nil},
		{"read and changed", thing(a, none), stored(t, thing(none, none), one), thing(b, none), is(plan.WithheldChanged), nil},
		{"changed, ignored and not filled", thing(none, none), stored(t, thing(none, none), one), thing(b, none), is(plan.WithheldChanged), func(f *fixture) { f.Ignored = yes }},
		{"stored", thing(a, none), stored(t, thing(a, none)), thing(a, none), is(plan.WithheldStored), nil},
		{"released", thing(a, none), stored(t, thing(none, none), one), thing(a, none), is(plan.WithheldReleased), func(f *fixture) { f.Names = nil }},
		{"removed", thing(none, none), stored(t, thing(none, none), one), thing(none, none), is(plan.WithheldRemoved), nil},
		{"removed and ignored", thing(none, none), stored(t, thing(none, none), one), thing(none, none), "", func(f *fixture) { f.Ignored = yes }},
		{"changed and ignored", thing(a, none), stored(t, thing(none, none), one), thing(b, none), is(plan.WithheldSame), func(f *fixture) { f.Ignored = yes }},
		{"block removed", thing(none, none, none), stored(t, thing(none, none, none), sent(t, note(0), a)), thing(none, none), "", nil},
		{"normalized", thing(b, none), stored(t, thing(none, none), state.Withheld{Path: password, Sent: of(t, a), Returned: of(t, b)}), thing(a, none), is(plan.WithheldSame), nil},
		{"nothing", thing(none, none), stored(t, thing(none, none)), thing(none, none), "", nil},
		{"made anew", gone, stored(t, thing(none, none), one), thing(a, none), is(plan.WithheldNew), nil},
		{"in a block", thing(none, none, a), stored(t, thing(none, none, none), sent(t, note(0), a)), thing(none, none, a), "rule[0].note same", nil},
		{"version", thing(a, str("o")), stored(t, thing(none, str("o")), versioned("1", "o")), thing(a, str("o")), is(plan.WithheldSame), withVersion("1")},
		{"another version", thing(a, str("o")), stored(t, thing(none, str("o")), versioned("1", "o")), thing(a, str("o")), is(plan.WithheldVersion), withVersion("2")},
		{"first version", thing(a, str("o")), stored(t, thing(none, str("o")), one), thing(a, str("o")), is(plan.WithheldVersion), withVersion("1")},
		{"no version any more", thing(a, str("o")), stored(t, thing(none, str("o")), versioned("1", "o")), thing(a, str("o")), is(plan.WithheldVersion), nil},
		{"version of another configuration", thing(a, str("p")), stored(t, thing(none, str("o")), versioned("1", "o")), thing(a, str("p")), is(plan.WithheldVersion), withVersion("1")},
		{"version of a drifted object", thing(a, str("o")), stored(t, thing(none, str("p")), drifted), thing(a, str("o")), is(plan.WithheldSame), withVersion("1")},
		{"another version of a drifted object", thing(a, str("o")), stored(t, thing(none, str("p")), drifted), thing(a, str("o")), is(plan.WithheldVersion), withVersion("2")},
	} {
		f := newFixture(t)
		if row.change != nil {
			row.change(f)
		}
		var got []string
		for _, w := range f.Judge(row.prior, row.o, row.cfg, row.cfg) {
			got = append(got, schema.PathString(w.Path)+" "+string(w.Status))
		}
		if strings.Join(got, ", ") != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func withVersion(text string) func(*fixture) {
	return func(f *fixture) { f.Versions = []cty.Value{str(text), str(text)} }
}

func TestGone(t *testing.T) {
	if got := Gone(nil); got != nil {
		t.Errorf("got %v of nothing, want nothing", got)
	}
	got := Gone(stored(t, thing(none, none), state.Withheld{Path: password}))
	if len(got) != 1 || !got[0].Path.Equals(password) || got[0].Status != plan.WithheldRemoved {
		t.Errorf("got %v, want the password removed", got)
	}
}

func TestCheckGiven(t *testing.T) {
	f := newFixture(t)
	for _, row := range []struct {
		name         string
		cfg, planned cty.Value
		want         bool
	}{
		{"set", thing(str("a"), none), thing(str("a"), none), false},
		{"by the provider", thing(none, none), thing(str("a"), none), true},
		{"by the provider, unknown", thing(none, none), thing(unknown, none), true},
		{"zero", thing(none, none), thing(str(""), none), false},
		{"of another attribute", thing(none, none), thing(none, str("a")), false},
	} {
		if got := f.CheckGiven(row.cfg, row.planned); got.HasErrors() != row.want {
			t.Errorf("%s: got %v, want an error %t", row.name, got, row.want)
		}
	}
}

func TestCheckSeen(t *testing.T) {
	a, other := str("a"), cty.GetAttrPath("other")
	status := func(s plan.WithheldStatus) []plan.Withheld { return []plan.Withheld{{Path: password, Status: s}} }
	for _, row := range []struct {
		name           string
		prior, planned cty.Value
		statuses       []plan.Withheld
		replaced       []cty.Path
		want           string
	}{
		{"changed", thing(none, none), thing(a, none), status(plan.WithheldChanged), nil, ""},
		{"changed and not planned", thing(none, none), thing(none, none), status(plan.WithheldChanged), nil, "Change of an ephemeral attribute is not seen"},
		{"changed and zero", thing(none, none), thing(str(""), none), status(plan.WithheldChanged), nil, "Change of an ephemeral attribute is not seen"},
		{"incomparable and not planned", thing(none, none), thing(none, none), status(plan.WithheldIncomparable), nil, "Change of an ephemeral attribute is not seen"},
		{"removed", thing(none, none), thing(none, none), status(plan.WithheldRemoved), nil, "Ephemeral attribute was removed"},
		{"removed and still planned", thing(none, none), thing(a, none), status(plan.WithheldRemoved), nil, ""},
		{"removed and seen", thing(a, none), thing(none, none), status(plan.WithheldRemoved), nil, ""},
		{"same", thing(none, none), thing(none, none), status(plan.WithheldSame), nil, ""},
		{"gone", thing(none, none), gone, status(plan.WithheldRemoved), nil, ""},
		{"replaced for a change", thing(none, none), thing(none, none), status(plan.WithheldChanged), []cty.Path{password}, ""},
		{"replaced blindly", thing(none, none), thing(a, none), status(plan.WithheldIncomparable), []cty.Path{password}, "Replacement without a known difference"},
		{"replaced for another reason too", thing(none, none), thing(a, none), status(plan.WithheldIncomparable), []cty.Path{password, other}, ""},
	} {
		got := newFixture(t).CheckSeen(row.prior, row.planned, row.statuses, row.replaced)
		switch {
		case row.want == "" && len(got) > 0:
			t.Errorf("%s: got %v, want nothing", row.name, got)
		case row.want != "" && (len(got) != 1 || got[0].Summary != row.want || !got[0].Path.Equals(password) || !strings.Contains(got[0].Detail, "-replace="+diag.Argument(`sim_thing.a["k"]`))):
			t.Errorf("%s: got %v, want %q about the password and the option -replace", row.name, got, row.want)
		}
	}
}
