package withheld

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/state"
)

func TestHide(t *testing.T) {
	a := str("a")
	f := newFixture(t)
	if got, want := f.Hide(thing(a, a, a)), thing(none, a, none); !got.RawEquals(want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	for _, v := range []cty.Value{gone, cty.UnknownVal(gone.Type())} {
		if got := f.Hide(v); !got.RawEquals(v) {
			t.Errorf("got %#v, want it as it is", got)
		}
	}
	had := stored(t, thing(a, none, none))
	for _, row := range []struct {
		name  string
		salts []fingerprint.Salt
		o     *state.Object
		want  cty.Value
	}{
		{"with a salt", []fingerprint.Salt{salt}, had, thing(none, none, none)},
		{"without a salt", nil, had, thing(a, none, none)},
		{"without a salt or an earlier record", nil, nil, thing(none, none, none)},
	} {
		f.Hasher = hashes.New(row.salts, nil)
		if got := f.HideStored(thing(a, none, a), row.o); !got.RawEquals(row.want) {
			t.Errorf("%s: got %#v, want %#v", row.name, got, row.want)
		}
	}
}

func TestHideStoredComputed(t *testing.T) {
	f := newFixture(t)
	f.Block.Attributes["password"].Computed = true
	f.Computed = f.Names[:1]
	v := thing(str("a"), none)
	if got := f.HideStored(v, stored(t, v)); !got.RawEquals(v) {
		t.Errorf("got %#v, want the value that only the state has", got)
	}
	if got := f.HideStored(v, stored(t, thing(none, none))); !got.RawEquals(thing(none, none)) {
		t.Errorf("got %#v, want no value", got)
	}
}

func TestNames(t *testing.T) {
	f := newFixture(t)
	wo, other := cty.GetAttrPath("secret_wo"), cty.GetAttrPath("other")
	if got, want := texts(f.Outside([]cty.Path{password, other, wo, note(3)})), "other"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.Names = all[:1]
	f.NameRecorded(stored(t, thing(none, none), state.Withheld{Path: password}, state.Withheld{Path: other}))
	if got, want := texts(f.Names), "password other"; got != want {
		t.Errorf("got the names %q, want %q", got, want)
	}
	if len(all) != 2 || !all[1].Equals(newFixture(t).Names[1]) || len(all[1]) != 3 {
		t.Error("the names of another object have changed")
	}
}

func TestIsZero(t *testing.T) {
	for _, row := range []struct {
		v    cty.Value
		want bool
	}{
		{str(""), true},
		{str("0"), false},
		{cty.Zero, true},
		{cty.NumberIntVal(1), false},
		{cty.False, true},
		{cty.True, false},
		{cty.ListValEmpty(cty.String), true},
		{cty.ListVal([]cty.Value{str("")}), false},
		{cty.EmptyObjectVal, true},
		{none, false},
		{unknown, false},
	} {
		if got := isZero(row.v); got != row.want {
			t.Errorf("got %t of %#v, want %t", got, row.v, row.want)
		}
	}
}

// TestUnhashed has values that cannot be hashed, which is reported without them.
func TestUnhashed(t *testing.T) {
	f := newFixture(t)
	f.Hasher = hashes.New(nil, iotest.ErrReader(errors.New("broken")))
	if w := f.Records(thing(str("canary"), none), thing(str("canary"), none), nil); len(w) != 1 || !w[0].Sent.IsZero() {
		t.Errorf("got %v, want a record without fingerprints", w)
	}
	if len(f.reported) != 1 || !strings.Contains(f.reported[0].Detail, "broken") || strings.Contains(f.reported[0].Detail, "canary") || !f.reported[0].Path.Equals(password) {
		t.Errorf("got %v, want an error about the password without its value", f.reported)
	}
	f.Hasher = hashes.New([]fingerprint.Salt{salt}, nil)
	if got := f.compare(sent(t, password, str("a")), str("canary").Mark("m")); got != fingerprint.Incomparable || len(f.reported) != 2 || strings.Contains(f.reported[1].String(), "canary") {
		t.Errorf("got %v and %v of a value with marks, want an error without it", got, f.reported)
	}
}
