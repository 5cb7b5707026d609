package state

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

// inText returns the instances of a state, each with its provider and the addresses of its objects in memory.
func inText(s *State) map[string]string {
	out := map[string]string{}
	for a, in := range s.AllInstances() {
		text := fmt.Sprintf("%s %p", in.Provider, in.Current)
		for _, key := range in.DeposedKeys() {
			text += fmt.Sprintf(" %s %p", key, in.Deposed[key])
		}
		out[a.String()] = text
	}
	return out
}

// changeAtRandom makes a change that a State has a method for.
func changeAtRandom(rt *rapid.T, s *State) {
	instance := func() addr.Object {
		o := at(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name"), addr.IntKey(rapid.IntRange(0, 2).Draw(rt, "key")))
		o.Deposed = rapid.SampledFrom([]addr.Deposed{"", "", "00000001"}).Draw(rt, "deposed")
		return o
	}
	other := testProvider
	other.Alias = "other"
	provider := rapid.SampledFrom([]addr.ProviderConfig{testProvider, other})
	switch o := instance(); rapid.IntRange(0, 5).Draw(rt, "change") {
	case 0:
		s.RemoveObject(o)
	case 1:
		s.RemoveInstance(o.Instance)
	case 2:
		_ = s.Move(o.Instance, instance().Instance) // may be impossible
	case 3:
		s.SetProvider(o.Instance, provider.Draw(rt, "provider"))
	default:
		s.SetObject(o, &Object{attrs: []byte("{}")}, provider.Draw(rt, "provider"))
	}
}

// TestCopiesShareNoChanges changes copies of copies at random. Each must have its own changes and no others:
// the same as states that share nothing.
func TestCopiesShareNoChanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		states := []*State{New()}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			i := rapid.IntRange(0, len(states)-1).Draw(rt, "state")
			if rapid.IntRange(0, 3).Draw(rt, "copy") == 0 {
				c := states[i].Copy()
				if diff := cmp.Diff(inText(states[i]), inText(c)); diff != "" {
					rt.Fatalf("a copy differs (-original +copy):\n%s", diff)
				}
				states = append(states, c)
				continue
			}
			var before []map[string]string
			for _, s := range states {
				before = append(before, inText(s))
			}
			changeAtRandom(rt, states[i])
			for k, s := range states {
				if diff := cmp.Diff(before[k], inText(s)); k != i && diff != "" {
					rt.Fatalf("state %d after a change of state %d: got another one, want it as it was (-want +got):\n%s", k, i, diff)
				}
			}
		}
	})
}

// TestDiffLeads checks that the differences of two states lead from one to the other, and that there are none
// for a state that has not changed.
func TestDiffLeads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		from := New()
		for range rapid.IntRange(0, 10).Draw(rt, "before") {
			changeAtRandom(rt, from)
		}
		to := from.Copy()
		if changes := Diff(from, to); len(changes) > 0 {
			rt.Fatalf("got %d changes to a copy, want none", len(changes))
		}
		for range rapid.IntRange(0, 10).Draw(rt, "after") {
			changeAtRandom(rt, to)
		}
		got := from.Copy()
		for _, c := range Diff(from, to) {
			if c.New != nil && c.New == from.Object(c.Object) && from.Instance(c.Object.Instance).Provider == c.Provider {
				rt.Fatalf("%s is a change and has not changed", c.Object)
			}
			c.Apply(got)
		}
		if diff := cmp.Diff(inText(to), inText(got)); diff != "" {
			rt.Fatalf("the changes lead to another state (-want +got):\n%s", diff)
		}
	})
}

// noJournal is a Journal without records.
type noJournal struct{ Journal }

func (noJournal) Commit(uint64, ...ObjectChange) error { return nil }
func (noJournal) Fail(uint64, ...ObjectChange) error   { return errors.New("full") }

// TestRunEnds checks which file a run leaves, and which one it stores.
func TestRunEnds(t *testing.T) {
	o, salt := at("n", addr.NoKey), fingerprint.Salt{ID: "9e0c7f2a", Scheme: fingerprint.Scheme, Bytes: []byte("0123456789abcdef")}
	check := []CheckResult{{Kind: "check", Config: "check.c", Status: CheckPass}}
	change := ObjectChange{Object: o, Provider: testProvider, New: object(t, "new")}
	stored := func() *State {
		s := New()
		s.SetObject(o, object(t, "old"), testProvider)
		s.Outputs["o"] = &Output{Value: sealed(t, cty.True)}
		return s
	}
	for name, test := range map[string]struct {
		serial uint64
		base   *State
		do     func(r Run)
		want   uint64 // the serial
	}{
		"nothing":                 {3, stored(), func(Run) {}, 3},
		"commit":                  {3, stored(), func(r Run) { _ = r.Commit(1, change) }, 4},
		"a failed journal":        {3, stored(), func(r Run) { _ = r.Fail(1, change) }, 4},
		"put":                     {3, stored(), func(r Run) { r.Put(change) }, 4},
		"the same object":         {3, stored(), func(r Run) { r.Put(ObjectChange{Object: o, Provider: testProvider, New: object(t, "old")}) }, 3},
		"output":                  {3, stored(), func(r Run) { r.PutOutput("o", nil) }, 4},
		"an unknown output":       {3, stored(), func(r Run) { r.PutOutput("o", &Output{Value: sealed(t, cty.UnknownVal(cty.Bool))}) }, 3},
		"checks":                  {3, stored(), func(r Run) { r.PutChecks(check) }, 4},
		"salt":                    {3, stored(), func(r Run) { r.AddSalts(salt) }, 4},
		"salt of a change":        {3, stored(), func(r Run) { r.Put(ObjectChange{Object: at("m", addr.NoKey), Salts: []fingerprint.Salt{salt}}) }, 4},
		"no state":                {0, New(), func(Run) {}, 0},
		"no state, checks":        {0, New(), func(r Run) { r.PutChecks(check) }, 0},
		"no state, a new object":  {0, New(), func(r Run) { r.Put(change) }, 1},
		"the first serial, empty": {0, stored(), func(r Run) { r.Put(ObjectChange{Object: o}); r.PutOutput("o", nil) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			base := &File{Meta: Meta{Lineage: "l", Serial: test.serial, Version: "1"}, State: test.base}
			before := inText(test.base)
			var got *File
			full := errors.New("full")
			r := NewRun(base, "2", noJournal{}, func(_ context.Context, f *File) error { got = f; return full })
			test.do(r)
			left, err := r.End(t.Context())
			if !errors.Is(err, full) || left != got || got.Serial != test.want || got.Lineage != "l" {
				t.Errorf("got the serial %d and the error %v, want %d and %v", left.Serial, err, test.want, full)
			}
			if test.want != test.serial && got.Version != "2" {
				t.Errorf("got the version %q, want 2", got.Version)
			}
			if diff := cmp.Diff(before, inText(test.base)); diff != "" {
				t.Errorf("the base has changed:\n%s", diff)
			}
		})
	}
}

// TestChangesAsText writes changes and reads them.
func TestChangesAsText(t *testing.T) {
	o := object(t, "x")
	deposed := addr.Object{Instance: at("n", addr.StringKey("k")).Instance, Deposed: "00000001"}
	for _, want := range []ObjectChange{
		{Object: at("n", addr.IntKey(1)), Provider: testProvider, New: o},
		{Object: deposed, Provider: testProvider, New: o},
		{Object: deposed},
	} {
		salted := want
		salted.Salts = []fingerprint.Salt{{ID: "9e0c7f2a", Scheme: fingerprint.Scheme, Bytes: []byte("0123456789abcdef")}}
		got, err := DecodeChange(EncodeChange(salted))
		if err != nil {
			t.Fatal(err)
		}
		if got.Object != want.Object || got.Provider != want.Provider || len(got.Salts) > 0 || !got.New.Equal(want.New) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	for _, src := range []string{"", "[]", `{"mode":"managed"}`, `{"mode":"managed","type":"t","name":"n","provider":"x","instance":{}}`} {
		if c, err := DecodeChange([]byte(src)); err == nil {
			t.Errorf("%q is read as %+v", src, c)
		}
	}
}
