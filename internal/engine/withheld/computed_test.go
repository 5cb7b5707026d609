package withheld

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// computedFixture is a fixture whose provider may give the password.
func computedFixture(t *testing.T) *fixture {
	f := newFixture(t)
	f.Block.Attributes["password"].Computed = true
	f.Computed = schema.Patterns{password}
	return f
}

// computed is the record of a computed value.
func computed(t *testing.T, v cty.Value) state.Withheld {
	return state.Withheld{Path: password, Returned: of(t, v), Computed: true, Number: 5}
}

func TestJudgeComputed(t *testing.T) {
	a, b := str("a"), str("b")
	lacks := thing(none, none)
	for _, row := range []struct {
		name           string
		prior          cty.Value
		o              *state.Object
		cfg, planned   cty.Value
		want           plan.WithheldStatus
		computed, kept bool
	}{
		{"created", gone, nil, lacks, thing(unknown, none), plan.WithheldUnknown, true, true},
		{"created as planned", gone, nil, lacks, thing(a, none), plan.WithheldNew, true, true},
		{"created without one", gone, nil, lacks, lacks, "", true, true},
		{"as it was", lacks, stored(t, lacks, computed(t, a)), lacks, lacks, plan.WithheldSame, true, true},
		{"maybe another", lacks, stored(t, lacks, computed(t, a)), lacks, thing(unknown, none), plan.WithheldUnknown, true, true},
		{"read as it was", thing(a, none), stored(t, lacks, computed(t, a)), lacks, thing(a, none), plan.WithheldSame, true, true},
		{"read as another", thing(b, none), stored(t, lacks, computed(t, a)), lacks, thing(b, none), plan.WithheldChanged, true, true},
		{"adopted", thing(a, none), stored(t, thing(a, none)), lacks, thing(a, none), plan.WithheldStored, true, true},
		{"adopted with another", thing(a, none), stored(t, thing(a, none)), lacks, thing(b, none), plan.WithheldChanged, true, true},
		{"released", lacks, stored(t, lacks, computed(t, a)), lacks, lacks, plan.WithheldRemoved, true, false},
		{"set by the configuration now", lacks, stored(t, lacks, computed(t, a)), thing(b, none), thing(b, none), plan.WithheldChanged, false, true},
		{"set to the same", lacks, stored(t, lacks, computed(t, a)), thing(a, none), thing(a, none), plan.WithheldChanged, false, true},
	} {
		f := computedFixture(t)
		if !row.kept {
			f.Names, f.Computed = nil, nil
		}
		got := f.Judge(row.prior, row.o, row.cfg, row.planned)
		switch {
		case row.want == "" && len(got) == 0:
		case len(got) != 1 || got[0].Status != row.want || got[0].Computed != row.computed:
			t.Errorf("%s: got %+v, want %s", row.name, got, row.want)
		case got[0].Restores() != (row.want == plan.WithheldStored || row.want == plan.WithheldRemoved):
			t.Errorf("%s: the apply restores: %t", row.name, got[0].Restores())
		}
	}
	if got := computedFixture(t).Fill(lacks, stored(t, lacks, computed(t, a)), thing(a, none)); !got.RawEquals(thing(a, none)) {
		t.Errorf("configuration with the computed value: got %#v, want it unchanged: %#v", got, thing(a, none))
	}
	f := newFixture(t) // whose provider never gives the password
	if got := f.CheckGiven(lacks, thing(a, none)); len(got) != 1 {
		t.Errorf("given by a provider that must not: got %v, want 1 error", got)
	}
	if got := computedFixture(t).CheckGiven(lacks, thing(a, none)); got != nil {
		t.Errorf("given by a provider: got %v", got)
	}
}

func TestRecordsOfComputed(t *testing.T) {
	a, b, lacks := str("a"), str("b"), thing(none, none)
	to := addr.ConfigResource{Resource: addr.Resource{Mode: addr.Managed, Type: "sim_thing", Name: "user"}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	making := Making{At: now, Created: true, To: func(p cty.Path) []addr.ConfigResource {
		if !p.Equals(password) {
			t.Errorf("asked for the consumers of %s, want those of %s", schema.PathString(p), schema.PathString(password))
		}
		return []addr.ConfigResource{to}
	}}
	first := computedFixture(t)
	first.Making = making
	made := first.Records(thing(a, none), lacks, nil)
	if len(made) != 1 || !made[0].Computed || made[0].Number == 0 || !made[0].Sent.IsZero() || made[0].Returned.IsZero() || !made[0].At.Equal(now) || !made[0].Created {
		t.Fatalf("got %+v, want a record of a computed value", made)
	}
	if !slices.Equal(made[0].Owed, []addr.ConfigResource{to}) || !slices.Equal(made[0].To, made[0].Owed) {
		t.Errorf("owed to %v, for %v, want one resource", made[0].Owed, made[0].To)
	}
	o := stored(t, lacks, made...)
	for _, row := range []struct {
		name string
		v    cty.Value
		sent cty.Value
		same bool
	}{
		{"updated without it", lacks, lacks, true},
		{"updated with it", thing(a, none), lacks, true},
		{"read without it", lacks, cty.NilVal, true},
		{"read with it", thing(a, none), cty.NilVal, true},
		{"updated with another", thing(b, none), lacks, false},
		{"read with another", thing(b, none), cty.NilVal, false},
	} {
		f := computedFixture(t)
		got := f.Records(row.v, row.sent, o)
		if len(got) != 1 || got[0].Equal(made[0]) != row.same {
			t.Errorf("%s: got %+v, want the same record: %t", row.name, got, row.same)
		} else if !row.same && (got[0].Number == made[0].Number || got[0].Number == 0 || got[0].Owed != nil) {
			t.Errorf("%s: got %+v, want the number of the new value and nothing owed", row.name, got)
		}
	}
	if got := computedFixture(t).Records(lacks, cty.NilVal, nil); len(got) != 1 || !got[0].Computed || got[0].Value() != "" {
		t.Errorf("imported without it: got %+v, want a record of a value that is not known", got)
	}
	if got := computedFixture(t).Records(lacks, lacks, nil); len(got) != 0 {
		t.Errorf("created without one: got %+v, want no record", got)
	}
}

func TestComputedValues(t *testing.T) {
	a, lacks := str("a"), thing(none, none)
	record := computed(t, a)
	for _, row := range []struct {
		name    string
		v, cfg  cty.Value
		records []state.Withheld
		want    cty.Value // NilVal if there is none
		past    bool
		known   bool // there is a record of it
	}{
		{"not made yet", thing(unknown, none), lacks, nil, unknown, false, false},
		{"maybe made again", thing(unknown, none), lacks, []state.Withheld{record}, unknown, false, false},
		{"just made", thing(a, none), lacks, []state.Withheld{record}, a, false, true},
		{"made earlier", lacks, lacks, []state.Withheld{record}, unknown, true, true},
		{"of an object of the state", lacks, cty.NilVal, []state.Withheld{record}, unknown, true, true},
		{"still in the state", thing(a, none), cty.NilVal, nil, a, false, false},
		{"set by the configuration", thing(a, none), thing(a, none), nil, cty.NilVal, false, false},
		{"none", lacks, lacks, nil, cty.NilVal, false, false},
	} {
		f := computedFixture(t)
		got := ComputedValues(&f.Attributes, row.v, row.cfg, row.records)
		switch {
		case row.want == cty.NilVal && len(got) == 0:
		case len(got) != 1 || !got[0].Path.Equals(password) || !got[0].Now.RawEquals(row.want) || got[0].Past != row.past || (got[0].Record != nil) != row.known:
			t.Errorf("%s: got %+v", row.name, got)
		}
	}
	f := newFixture(t)
	f.Names = nil
	if got := ComputedValues(&f.Attributes, lacks, lacks, []state.Withheld{record}); got != nil {
		t.Errorf("released: got %+v", got)
	}
}

// TestUnavailable has objects whose password is made of a computed value of an earlier run.
func TestUnavailable(t *testing.T) {
	how, other := thing(str("how"), none), str("o")
	cfg := thing(unknown, other)
	record := func(change func(*state.Withheld)) state.Withheld {
		w := sent(t, password, str("a"))
		w.Made, w.Config = of(t, madeOf(t, str("how"))), restOf(t, thing(none, other))
		change(&w)
		return w
	}
	nothing := func(*state.Withheld) {}
	for _, row := range []struct {
		name string
		o    *state.Object
		cfg  cty.Value
		made cty.Value
		want bool
	}{
		{"the same", stored(t, thing(none, other), record(nothing)), cfg, how, true},
		{"no object", nil, cfg, how, false},
		{"made in another way", stored(t, thing(none, other), record(nothing)), cfg, thing(str("else"), none), false},
		{"not known how", stored(t, thing(none, other), record(nothing)), cfg, thing(none, none), false},
		{"how is unknown", stored(t, thing(none, other), record(nothing)), cfg, thing(unknown, none), false},
		{"another configuration", stored(t, thing(none, other), record(nothing)), thing(unknown, str("p")), how, false},
		{"no record of how", stored(t, thing(none, other), record(func(w *state.Withheld) { w.Made = lost })), cfg, how, false},
		{"no record", stored(t, thing(none, other)), cfg, how, false},
		{"a record more", stored(t, thing(none, other), record(nothing), sent(t, note(0), str("n"))), cfg, how, false},
		{"a computed one more", stored(t, thing(none, other), record(nothing), state.Withheld{Path: note(0), Computed: true}), cfg, how, true},
	} {
		f := newFixture(t)
		f.Made = []Made{{Value: row.made}}
		if got := f.Unavailable(row.o, row.cfg, []cty.Path{password}); got != row.want {
			t.Errorf("%s: got %t, want %t", row.name, got, row.want)
		}
	}
	f := newFixture(t)
	f.Made = []Made{{Value: how}}
	o := stored(t, thing(none, other, none), record(func(w *state.Withheld) { w.Config = restOf(t, thing(none, other, none)) }), sent(t, note(0), str("n")))
	if !f.Unavailable(o, thing(unknown, other, str("n")), []cty.Path{password}) || f.Unavailable(o, thing(unknown, other, str("m")), []cty.Path{password}) {
		t.Error("another attribute, whose value is known, is not compared")
	}
	f.Ignored = func(p cty.Path) bool { return p.Equals(note(0)) }
	if !f.Unavailable(o, thing(unknown, other, unknown), []cty.Path{password}) {
		t.Error("an attribute whose changes are ignored is compared")
	}
}

// TestIgnoredOfMade has a value that is made of computed ones and keeps its record, since its changes are
// ignored.
func TestIgnoredOfMade(t *testing.T) {
	cfg := thing(str("a"), str("o"))
	f := newFixture(t)
	f.Ignored = func(cty.Path) bool { return true }
	f.Made = []Made{{Value: thing(str("how"), none)}}
	made := f.Records(cfg, cfg, nil)
	if made[0].Made.IsZero() || !f.isSame(made[0].Made, madeOf(t, str("how"))) {
		t.Fatal("a new object has no record of the values that its value is made of")
	}
	o := stored(t, thing(none, str("o")), made...)
	f.Made = []Made{{Value: thing(str("else"), none)}}
	if got := f.Records(thing(str("b"), str("p")), thing(str("b"), str("p")), o); !got[0].Equal(made[0]) {
		t.Error("a value that was not sent has a record")
	}
	f.Made = nil
	if got := f.Records(thing(none, str("o")), thing(none, str("o")), o); len(got) != 1 || !got[0].Equal(made[0]) {
		t.Error("a value that was sent as null lost its record")
	}
	f.Made = []Made{{Value: thing(str("how"), none)}}
	if got := f.Records(thing(str("a"), str("p")), thing(str("a"), str("p")), o); !f.isOf(got[0].Config, f.restSet(thing(none, str("p")))) {
		t.Error("the rest of the configuration stays as it was")
	}
	bare := sent(t, password, str("a"))
	if got := f.Judge(cfg, stored(t, thing(none, str("o")), bare), cfg, cfg); got[0].Status != plan.WithheldSame {
		t.Errorf("a record that lacks the values that its value is made of: got %s, want %s", got[0].Status, plan.WithheldSame)
	}
	if got := f.Judge(thing(none, str("o")), o, thing(unknown, str("o")), cfg); got[0].Status != plan.WithheldSame {
		t.Errorf("a value that is not known yet: got %s, want %s", got[0].Status, plan.WithheldSame)
	}
	if got := f.Fill(thing(none, str("o")), o, thing(unknown, str("o"))); !got.RawEquals(thing(none, str("o"))) {
		t.Errorf("got %#v, want no unknown value in the prior object", got)
	}
	if f.CheckSent(thing(none, str("o")), thing(unknown, str("o")), o).HasErrors() || !f.CheckSent(thing(none, str("o")), thing(none, str("o")), o).HasErrors() {
		t.Error("a value that is not known yet counts as none, or none as one")
	}
	f.Block.Attributes["password"].Computed = true
	if got := f.Records(thing(none, str("o")), thing(none, str("o")), o); got[0].Computed {
		t.Error("a value that the configuration sets is one that the provider computes")
	}
}

// TestRestored has computed attributes of an object that stays as it is.
func TestRestored(t *testing.T) {
	f := newFixture(t)
	f.Names, f.Computed = schema.Patterns{password}, schema.Patterns{password}
	f.Block.Attributes["password"].Computed = true
	computed := sent(t, password, str("a"))
	computed.Computed = true
	other := computed
	other.Path = cty.GetAttrPath("other")
	for _, row := range []struct {
		name string
		v    cty.Value
		o    *state.Object
		want string
	}{
		{"as ever", thing(none, none), stored(t, thing(none, none), computed), ""},
		{"read again", thing(str("a"), none), stored(t, thing(none, none), computed), ""},
		{"none", thing(none, none), stored(t, thing(none, none)), ""},
		{"taken out", thing(str("a"), none), stored(t, thing(str("a"), none)), "password stored"},
		{"to be stored", thing(none, str("a")), stored(t, thing(none, none), other), "other released"},
		{"gone", thing(none, none), stored(t, thing(none, none), other), "other removed"},
	} {
		var got []string
		for _, w := range f.Restored(row.v, row.o) {
			got = append(got, schema.PathString(w.Path)+" "+string(w.Status))
		}
		if text := strings.Join(got, ", "); text != row.want {
			t.Errorf("%s: got %q, want %q", row.name, text, row.want)
		}
	}
}

// TestRecordsOfMade has values that are made of computed ones.
func TestRecordsOfMade(t *testing.T) {
	cfg := thing(str("a"), str("o"))
	f := newFixture(t)
	f.Made = []Made{{Value: thing(str("how"), none)}}
	made := f.Records(cfg, cfg, nil)
	if len(made) != 1 || made[0].Made.IsZero() || made[0].Config.IsZero() || made[0].Sent.IsZero() {
		t.Fatalf("got %+v, want fingerprints", made)
	}
	o := stored(t, thing(none, str("o")), made...)
	if got := f.Records(cfg, cfg, o); !got[0].Equal(made[0]) {
		t.Error("a record of the same is another one")
	}
	f.Made = []Made{{Value: thing(str("else"), none)}}
	if got := f.Records(cfg, cfg, o); got[0].Made.Equal(made[0].Made) || !got[0].Sent.Equal(made[0].Sent) {
		t.Error("a value that is made in another way has the record of before")
	}
	if got := f.Remade(made[0], thing(none, str("o"))); f.isSame(made[0].Made, f.made(password)) || !f.isSame(got.Made, f.made(password)) || !got.Config.Equal(made[0].Config) || !got.Sent.Equal(made[0].Sent) {
		t.Errorf("got %+v, want the record with another fingerprint Made alone", got)
	}
	if got := f.Remade(sent(t, password, str("a")), thing(none, str("o"))); got.Made.IsZero() || got.Config.IsZero() {
		t.Errorf("got %+v, want fingerprints for a record without them", got)
	}
	if got := f.Remade(made[0], thing(none, unknown)); !got.Equal(made[0]) {
		t.Error("a record changed although the rest of the configuration is not known")
	}
	for name, list := range map[string][]Made{"nothing computed is there": nil, "it is null": {{Value: thing(none, none)}}, "it is not known": {{Value: thing(unknown, none)}}} {
		if f.Made = list; !f.Remade(made[0], cfg).Equal(made[0]) {
			t.Errorf("Remade, when %s: got %+v, want the record unchanged: %+v", name, f.Remade(made[0], cfg), made[0])
		}
	}
	f.Made = []Made{{Value: thing(str("how"), none)}, {Value: thing(none, none)}}
	if f.made(password) == cty.NilVal {
		t.Error("a value that is null in one form only counts as made of nothing computed")
	}
	f.Made = nil
	if got := f.Records(cfg, cfg, o); !got[0].Made.IsZero() || !got[0].Config.IsZero() {
		t.Error("a value that is made of nothing computed any more has a record of that")
	}
	f.Made = []Made{{Value: thing(unknown, none)}}
	if got := f.Records(cfg, cfg, nil); !got[0].Made.IsZero() {
		t.Error("a record was made of something unknown")
	}
	bare := sent(t, password, str("a"))
	f.Made = []Made{{Value: thing(str("how"), none)}}
	if got := f.Judge(cfg, stored(t, thing(none, str("o")), bare), cfg, cfg); got[0].Status != plan.WithheldVersion {
		t.Errorf("a record that lacks the values that its value is made of: got %s, want %s", got[0].Status, plan.WithheldVersion)
	}
	if got := f.Judge(cfg, o, cfg, cfg); got[0].Status != plan.WithheldSame {
		t.Errorf("a record of the values that its value is made of: got %s, want %s", got[0].Status, plan.WithheldSame)
	}
	f.Made = []Made{{Value: thing(str("else"), none)}}
	if got := f.Judge(cfg, o, cfg, cfg); got[0].Status != plan.WithheldVersion {
		t.Errorf("a record of other values than its value is made of: got %s, want %s", got[0].Status, plan.WithheldVersion)
	}
}

// TestReleasedTogether has two computed values that are to be stored from now on, and exist no more.
func TestReleasedTogether(t *testing.T) {
	lacks := thing(none, none, none, none)
	var statuses []plan.Withheld
	for _, path := range []cty.Path{password, note(0), note(1)} {
		statuses = append(statuses, plan.Withheld{Path: path, Computed: true, Status: plan.WithheldRemoved})
	}
	got := computedFixture(t).CheckSeen(lacks, lacks, statuses, nil)
	if len(got) != 1 {
		t.Fatalf("got %v, want 1 error", got)
	}
	for _, want := range []string{`keeps password, rule[*].note of sim_thing.a["k"] out of`, `-replace='sim_thing.a["k"]'`, "ephemeral_attributes = [password, rule[*].note]"} {
		if !strings.Contains(got[0].Detail, want) {
			t.Errorf("got %q, want %q in it", got[0].Detail, want)
		}
	}
}

// TestFound has records of values that were there before the apply that takes them out of the state.
func TestFound(t *testing.T) {
	a, b, lacks := str("a"), str("b"), thing(none, none)
	at, earlier := time.Unix(50, 0), time.Unix(1, 0)
	known := computed(t, a)
	known.At = earlier
	for _, row := range []struct {
		name     string
		prior, v cty.Value
		record   *state.Object
		found    bool
		at       time.Time
	}{
		{"taken out of the state", thing(a, none), thing(a, none), stored(t, thing(a, none)), true, at},
		{"another one is made", thing(a, none), thing(b, none), stored(t, thing(a, none)), false, at},
		{"read again", thing(a, none), thing(a, none), stored(t, lacks, known), false, earlier},
		{"imported again", thing(a, none), thing(a, none), stored(t, lacks, computed(t, a)), true, at},
		{"made", cty.NilVal, thing(a, none), nil, false, at},
	} {
		f := computedFixture(t)
		f.Making = Making{At: at, Prior: row.prior, To: func(cty.Path) []addr.ConfigResource { return nil }}
		got := f.Records(row.v, lacks, row.record)
		if len(got) != 1 || got[0].Found != row.found || !got[0].At.Equal(row.at) {
			t.Errorf("%s: got %+v, want one record of %s, found: %t", row.name, got, row.at, row.found)
		}
	}
}

// TestDropped has objects that a command imports.
func TestDropped(t *testing.T) {
	f := computedFixture(t)
	if got := Dropped(&f.Attributes, thing(none, str("x"))); got != nil {
		t.Errorf("got %v for an object without the value", got)
	}
	got := Dropped(&f.Attributes, thing(str("CANARY"), none))
	if len(got) != 1 || !strings.Contains(got[0].Detail, `sim_thing.a["k"].password`) || strings.Contains(got[0].Detail, "CANARY") {
		t.Errorf("got %v, want a warning that names the password", got)
	}
}
