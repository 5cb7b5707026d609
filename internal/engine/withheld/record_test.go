package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

func TestRecords(t *testing.T) {
	a, b, none := str("a"), str("b"), none
	before := sent(t, password, a)
	for _, row := range []struct {
		name           string
		v, cfg         cty.Value
		earlier        *state.Object
		sent, returned cty.Value // what the record is of; NilVal for nothing
		kept           bool      // as it was
		change         func(*fixture)
	}{
		{"new", thing(a, none), thing(a, none), nil, a, cty.NilVal, false, nil},
		{"normalized", thing(b, none), thing(a, none), nil, a, b, false, nil},
		{"returned as null", thing(none, none), thing(a, none), nil, a, cty.NilVal, false, nil},
		{"returned as zero", thing(str(""), none), thing(a, none), nil, a, cty.NilVal, false, nil},
		{"read for the first time", thing(a, none), cty.NilVal, nil, cty.NilVal, a, false, nil},
		{"read as it was", thing(none, none), cty.NilVal, stored(t, thing(none, none), before), cty.NilVal, cty.NilVal, true, nil},
		{"sent again", thing(a, none), thing(a, none), stored(t, thing(none, none), before), cty.NilVal, cty.NilVal, true, nil},
		{"changed", thing(b, none), thing(b, none), stored(t, thing(none, none), before), b, cty.NilVal, false, nil},
		{"failed with the earlier value", thing(a, none), cty.NilVal, stored(t, thing(none, none), before), cty.NilVal, cty.NilVal, true, nil},
		{"failed with another value", thing(b, none), cty.NilVal, stored(t, thing(none, none), before), cty.NilVal, b, false, nil},
		{"ignored", thing(b, none), thing(b, none), stored(t, thing(none, none), before), cty.NilVal, cty.NilVal, true, func(f *fixture) { f.Ignored = func(cty.Path) bool { return true } }},
		{"ignored and assumed", thing(b, none), thing(b, none), stored(t, thing(none, none), state.Withheld{Path: password, Sent: lost}), b, cty.NilVal, false, func(f *fixture) {
			f.Ignored, f.Assume = func(cty.Path) bool { return true }, func(cty.Path) bool { return true }
		}},
		{"sent another than what was normalized", thing(b, none), thing(str("c"), none), stored(t, thing(none, none), state.Withheld{Path: password, Sent: of(t, a), Returned: of(t, b)}), str("c"), b, false, nil},
		{"read as zero", thing(str(""), none), cty.NilVal, nil, cty.NilVal, str(""), false, nil},
		{"returned as unknown", thing(unknown, none), thing(a, none), nil, a, cty.NilVal, false, nil},
		{"sent as unknown", thing(a, none), thing(unknown, none), nil, cty.NilVal, a, false, nil},
		{"another ignored", thing(b, none), thing(b, none), stored(t, thing(none, none), before), b, cty.NilVal, false, func(f *fixture) { f.Ignored = func(p cty.Path) bool { return !p.Equals(password) } }},
		{"incomparable", thing(a, none), thing(a, none), stored(t, thing(none, none), state.Withheld{Path: password, Sent: lost}), a, cty.NilVal, false, nil},
	} {
		f := newFixture(t)
		if row.change != nil {
			row.change(f)
		}
		got := f.Records(row.v, row.cfg, row.earlier)
		if len(got) != 1 || !got[0].Path.Equals(password) {
			t.Errorf("%s: got %v, want one record", row.name, got)
			continue
		}
		if row.kept {
			if !got[0].Equal(row.earlier.Withheld[0]) {
				t.Errorf("%s: got another record, want it as it was", row.name)
			}
			continue
		}
		for what, one := range map[string]struct {
			got  fingerprint.Fingerprint
			want cty.Value
		}{"sent": {got[0].Sent, row.sent}, "returned": {got[0].Returned, row.returned}} {
			same := one.want == cty.NilVal && one.got.IsZero()
			if one.want != cty.NilVal {
				is, err := f.Hasher.Compare(one.got, one.want)
				same = is == fingerprint.Same && err == nil
			}
			if !same {
				t.Errorf("%s: got a record of what was %s that is not of %#v", row.name, what, one.want)
			}
		}
	}
}

// TestRecordsOfPaths checks which attributes have records.
func TestRecordsOfPaths(t *testing.T) {
	a := str("a")
	for _, row := range []struct {
		name    string
		v, cfg  cty.Value
		earlier []state.Withheld
		names   schema.Patterns
		want    string
	}{
		{"all", thing(a, none, a, none), thing(a, none, a, a), nil, all, "password rule[0].note rule[1].note"},
		{"sent without a place", thing(a, none), thing(a, none, a), nil, all, "password"},
		{"returned and not sent", thing(a, none), thing(none, none, a), nil, all, "password"},
		{"earlier", thing(none, none, none), cty.NilVal, []state.Withheld{sent(t, note(0), a), sent(t, note(1), a)}, all, "rule[0].note"},
		{"not named any more", thing(none, none, none), cty.NilVal, []state.Withheld{sent(t, password, a), sent(t, note(0), a)}, all[1:], "rule[0].note"},
	} {
		f := newFixture(t)
		f.Names = row.names
		var paths []cty.Path
		for _, w := range f.Records(row.v, row.cfg, stored(t, thing(none, none), row.earlier...)) {
			paths = append(paths, w.Path)
		}
		if got := texts(paths); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// write returns a thing with a write-only value.
func write(thing cty.Value, secret string) cty.Value {
	return schema.Put(thing, cty.GetAttrPath("secret_wo"), str(secret))
}

// TestVersions checks when the versions of values, and of the configuration, make opening them unneeded.
func TestVersions(t *testing.T) {
	a, o, p := str("a"), str("o"), str("p")
	f := newFixture(t)
	f.Names, f.Versions = all[:1], []cty.Value{str("1")}
	made := stored(t, thing(none, o))
	made.Withheld = f.Records(thing(a, o), thing(a, o), nil)
	read := func(v cty.Value) *state.Object {
		after := stored(t, v)
		after.Withheld = f.Records(v, cty.NilVal, made)
		return after
	}
	unversioned := stored(t, thing(none, o), sent(t, password, a))
	if again := f.Records(thing(a, o), thing(a, o), made); !again[0].Equal(made.Withheld[0]) {
		t.Error("got another record of the same version, want the same")
	}
	if w := f.Records(thing(a, unknown), thing(a, unknown), made)[0]; !w.Version.IsZero() || !w.Config.IsZero() {
		t.Error("got fingerprints of a configuration that is not known, want none")
	}
	updated := stored(t, thing(none, p))
	updated.Withheld = f.Records(thing(a, p), thing(a, p), made)
	for _, row := range []struct {
		name     string
		o        *state.Object
		cfg      cty.Value
		versions []cty.Value
		want     bool
	}{
		{"unchanged", made, thing(a, o), []cty.Value{str("1")}, true},
		{"value not known", made, thing(unknown, o), []cty.Value{str("1")}, true},
		{"another version", made, thing(a, o), []cty.Value{str("2")}, false},
		{"unknown version", made, thing(a, o), []cty.Value{unknown}, false},
		{"no version", made, thing(a, o), []cty.Value{cty.NilVal}, false},
		{"no versions", made, thing(a, o), nil, false},
		{"updated", updated, thing(a, p), []cty.Value{str("1")}, true},
		{"another argument", made, thing(a, p), []cty.Value{str("1")}, false},
		{"unknown argument", made, thing(a, unknown), []cty.Value{str("1")}, false},
		{"no value", made, thing(none, o), []cty.Value{str("1")}, false},
		{"no object", nil, thing(a, o), []cty.Value{str("1")}, false},
		{"no record", stored(t, thing(none, o)), thing(a, o), []cty.Value{str("1")}, false},
		{"another record", stored(t, thing(none, o), sent(t, note(0), a)), thing(a, o), []cty.Value{str("1")}, false},
		{"read as it was", read(thing(none, o)), thing(a, o), []cty.Value{str("1")}, true},
		{"read with its value", read(thing(a, o)), thing(a, o), []cty.Value{str("1")}, true},
		{"another write-only value", made, write(thing(a, o), "w"), []cty.Value{str("1")}, true},
		{"without a version", unversioned, thing(a, o), []cty.Value{cty.NilVal}, false},
		{"without versions", unversioned, thing(a, o), nil, false},
		{"nothing withheld", stored(t, thing(none, o)), thing(none, o), []cty.Value{str("1")}, false},
		{"drifted", read(thing(none, p)), thing(a, o), []cty.Value{str("1")}, false},
	} {
		f.Versions = row.versions
		if got := f.Unneeded(row.o, row.cfg); got != row.want {
			t.Errorf("%s: got %t, want %t", row.name, got, row.want)
		}
	}
	f.Versions = nil
	if w := f.Records(thing(a, o), thing(a, o), made)[0]; !w.Version.IsZero() || !w.Config.IsZero() {
		t.Error("got fingerprints without a version, want none")
	}
	f.Versions = []cty.Value{unknown}
	if w := f.Records(thing(a, o), thing(a, o), made)[0]; !w.Version.IsZero() || !w.Config.IsZero() {
		t.Error("got fingerprints of a version that is not known, want none")
	}
}
