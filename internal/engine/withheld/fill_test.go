package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/state"
)

func TestMissing(t *testing.T) {
	records := []state.Withheld{{Path: password}, {Path: note(0)}, {Path: note(1)}}
	for _, row := range []struct {
		name string
		v    cty.Value
		o    *state.Object
		want string
	}{
		{"no record", thing(none, none), nil, ""},
		{"all", thing(none, none, none, none), stored(t, thing(none, none), records...), "password rule[0].note rule[1].note"},
		{"some", thing(str("x"), none, none, str("y")), stored(t, thing(none, none), records...), "rule[0].note"},
		{"no place", thing(none, none, none), stored(t, thing(none, none), records...), "password rule[0].note"},
		{"gone", gone, stored(t, thing(none, none), records...), ""},
	} {
		if got := missing(row.v, row.o); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestFill(t *testing.T) {
	a, b, c := str("a"), str("b"), str("c")
	yes := func(cty.Path) bool { return true }
	records := func(f ...fingerprint.Fingerprint) (out []state.Withheld) {
		for i, one := range f {
			out = append(out, state.Withheld{Path: note(int64(i)), Sent: one})
		}
		return out
	}
	for _, row := range []struct {
		name            string
		v               cty.Value
		records         []state.Withheld
		cfg, want       cty.Value
		ignored, assume func(cty.Path) bool
	}{
		{"the same", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(a, none), thing(a, none), nil, nil},
		{"as it was returned", thing(none, none), []state.Withheld{{Path: password, Sent: of(t, b), Returned: of(t, a)}}, thing(a, none), thing(a, none), nil, nil},
		{"another", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(b, none), thing(none, none), nil, nil},
		{"unknown", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(unknown, none), thing(none, none), nil, nil},
		{"in the object", thing(c, none), []state.Withheld{sent(t, password, a)}, thing(a, none), thing(c, none), nil, nil},
		{"not in the configuration", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(none, none), thing(none, none), nil, nil},
		{"another, ignored", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(b, none), thing(b, none), yes, nil},
		{"nothing, ignored", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(none, none), thing(none, none), yes, nil},
		{"another, assumed", thing(none, none), []state.Withheld{sent(t, password, a)}, thing(b, none), thing(none, none), nil, yes},
		{"incomparable", thing(none, none), []state.Withheld{{Path: password, Sent: lost}}, thing(b, none), thing(none, none), nil, nil},
		{"incomparable, assumed", thing(none, none), []state.Withheld{{Path: password, Sent: lost}}, thing(b, none), thing(b, none), nil, yes},
		{"incomparable, another assumed", thing(none, none), []state.Withheld{{Path: password, Sent: lost}}, thing(b, none), thing(none, none), nil, func(p cty.Path) bool { return !p.Equals(password) }},
		{"shifted", thing(none, none, none, none), records(of(t, a), of(t, b)), thing(none, none, b, a), thing(none, none, a, b), nil, nil},
		{"shifted, ignored", thing(none, none, none, none), records(of(t, a), of(t, b)), thing(none, none, b, a), thing(none, none, a, b), yes, nil},
		{"one fewer", thing(none, none, none, none), records(of(t, a), of(t, b)), thing(none, none, b), thing(none, none, none, b), nil, nil},
		{"one more", thing(none, none, none), records(of(t, a)), thing(none, none, c, a), thing(none, none, a), nil, nil},
		{"not elsewhere", thing(none, none, none), []state.Withheld{sent(t, password, a)}, thing(b, none, a), thing(none, none, none), nil, nil},
	} {
		f := newFixture(t)
		f.Ignored, f.Assume = row.ignored, row.assume
		if got := f.Fill(row.v, stored(t, thing(none, none), row.records...), row.cfg); !got.RawEquals(row.want) {
			t.Errorf("%s: got %#v, want %#v", row.name, got, row.want)
		}
	}
}

func TestNormalized(t *testing.T) {
	lower, upper, other := str("lower"), str("UPPER"), str("other")
	record := state.Withheld{Path: password, Sent: of(t, lower), Returned: of(t, upper)}
	for _, row := range []struct {
		name       string
		v, planned cty.Value
		record     state.Withheld
		want       cty.Value
	}{
		{"normalized", thing(lower, none), thing(upper, none), record, upper},
		{"as it is", thing(lower, none), thing(lower, none), record, cty.NilVal},
		{"planned another", thing(lower, none), thing(other, none), record, cty.NilVal},
		{"as it was returned", thing(upper, none), thing(upper, none), record, cty.NilVal},
		{"was normalized", thing(upper, none), thing(lower, none), record, cty.NilVal},
		{"came from outside", thing(other, none), thing(upper, none), record, cty.NilVal},
		{"not there", thing(none, none), thing(upper, none), record, cty.NilVal},
		{"taken away", thing(lower, none), thing(none, none), record, cty.NilVal},
		{"unknown", thing(lower, none), thing(unknown, none), record, cty.NilVal},
		{"returned as sent", thing(lower, none), thing(upper, none), sent(t, password, lower), cty.NilVal},
		{"to be destroyed", thing(lower, none), gone, record, cty.NilVal},
		{"to be made", gone, thing(upper, none), record, cty.NilVal},
	} {
		f := newFixture(t)
		got, found := f.Normalized(row.v, stored(t, thing(none, none), row.record), row.planned)
		want := row.v
		if row.want != cty.NilVal {
			want = thing(row.want, none)
		}
		if found != (row.want != cty.NilVal) || !got.RawEquals(want) {
			t.Errorf("%s: got %#v, %t, want %#v", row.name, got, found, want)
		}
	}
	if _, found := newFixture(t).Normalized(thing(lower, none), nil, thing(upper, none)); found {
		t.Error("got a normal form without a record, want none")
	}
}

// TestRead has what a provider answers to an object with a value and without it.
func TestRead(t *testing.T) {
	a, b := str("a"), str("b")
	for _, row := range []struct {
		name        string
		sent, read  cty.Value
		record      state.Withheld
		odd         bool
		want, drift string
	}{
		{"null to null", none, none, sent(t, password, a), false, "", ""},
		{"zero to null", none, str(""), sent(t, password, a), false, "", ""},
		{"the same to null", none, a, sent(t, password, a), false, "a", ""},
		{"as returned before", none, b, state.Withheld{Path: password, Sent: of(t, a), Returned: of(t, b)}, false, "b", ""},
		{"another to null", none, b, sent(t, password, a), true, "", ""},
		{"incomparable", none, b, state.Withheld{Path: password, Sent: lost}, false, "b", ""},
		{"the same", a, a, sent(t, password, a), false, "a", ""},
		{"another", a, b, sent(t, password, a), false, "b", "password"},
		{"null", a, none, sent(t, password, a), false, "", "password"},
		{"null, incomparable", a, none, state.Withheld{Path: password, Sent: lost}, false, "", "password"},
	} {
		f := newFixture(t)
		o := stored(t, thing(none, none), row.record)
		if got := len(f.Odd(thing(row.sent, none), o, thing(row.read, none))) > 0; got != row.odd {
			t.Errorf("%s: got odd %t, want %t", row.name, got, row.odd)
		}
		got, drifted := f.Read(thing(row.sent, none), o, thing(row.read, none))
		want := thing(none, none)
		if row.want != "" {
			want = thing(str(row.want), none)
		}
		if !got.RawEquals(want) || texts(drifted) != row.drift {
			t.Errorf("%s: got %#v and drift of %q, want %#v and %q", row.name, got, texts(drifted), want, row.drift)
		}
	}
	f := newFixture(t)
	f.Assume = func(cty.Path) bool { return true }
	for _, row := range []struct {
		record state.Withheld
		want   bool
	}{{state.Withheld{Path: password, Sent: lost}, true}, {sent(t, password, b), false}} {
		if got := len(f.Odd(thing(none, none), stored(t, thing(none, none), row.record), thing(b, none))) > 0; got != row.want {
			t.Errorf("got odd %t where a value is assumed, want %t", got, row.want)
		}
	}
	if got, drifted := f.Read(thing(none, none), nil, thing(b, none)); !got.RawEquals(thing(b, none)) || drifted != nil {
		t.Errorf("got %#v and %v of an object without a record, want it as it was read", got, drifted)
	}
	if len(f.Odd(thing(none, none), stored(t, thing(none, none), sent(t, password, a)), thing(unknown, none))) > 0 {
		t.Error("got odd of an unknown value, want it left to the contract")
	}
	if got, drifted := f.Read(thing(none, none, a), stored(t, thing(none, none, none), sent(t, note(0), a)), thing(none, none)); !got.RawEquals(thing(none, none)) || drifted != nil {
		t.Errorf("got %#v and %v of a block that is gone, want no drift of an attribute", got, drifted)
	}
	if got, drifted := f.Read(thing(none, none, none), stored(t, thing(none, none, none), sent(t, note(0), a)), thing(none, none)); !got.RawEquals(thing(none, none)) || drifted != nil {
		t.Errorf("got %#v and %v of a block that is gone, want no drift", got, drifted)
	}
}

func TestSameStored(t *testing.T) {
	a, b := str("a"), str("b")
	for _, row := range []struct {
		name          string
		before, after cty.Value
		o             *state.Object
		want          bool
	}{
		{"another withheld value", thing(none, none), thing(a, none), stored(t, thing(none, none), sent(t, password, a)), true},
		{"other withheld values", thing(a, none), thing(b, none), stored(t, thing(none, none), sent(t, password, a)), true},
		{"another stored value", thing(a, none), thing(b, none), stored(t, thing(a, none)), false},
		{"another argument", thing(none, a), thing(none, b), stored(t, thing(none, a), sent(t, password, a)), false},
		{"gone", thing(none, a), gone, stored(t, thing(none, a), sent(t, password, a)), false},
	} {
		if got := newFixture(t).SameStored(row.before, row.after, row.o); got != row.want {
			t.Errorf("%s: got %t, want %t", row.name, got, row.want)
		}
	}
	f := newFixture(t)
	f.Names = nil
	if f.SameStored(thing(a, none), thing(b, none), stored(t, thing(none, none), sent(t, password, a))) {
		t.Error("got the same without names, want a difference")
	}
}
