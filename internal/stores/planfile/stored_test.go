package planfile

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/oddvalue"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// oddObject is an object of a schema that leaves some types open.
var oddObject = cty.Object(map[string]cty.Type{
	"own": cty.DynamicPseudoType, "n": cty.Number, "s": cty.String, "m": cty.Map(cty.String), "block": cty.List(cty.Object(map[string]cty.Type{"s": cty.String, "n": cty.Number})),
})

// drawObject draws an object with sensitive parts, as it will be read.
func drawObject(t *rapid.T) (evaluated, stored cty.Value) {
	own, m := oddvalue.Any(2).Draw(t, "dynamic"), oddvalue.Map(false).Draw(t, "map")
	n, s := oddvalue.Number(false).Draw(t, "number"), oddvalue.Text(false).Draw(t, "string")
	object := func(pick func(oddvalue.Drawn) cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{
			"own": pick(own), "n": pick(n), "s": pick(s), "m": pick(m),
			"block": cty.ListVal([]cty.Value{cty.ObjectVal(map[string]cty.Value{"s": pick(s), "n": pick(n)})}),
		})
	}
	evaluated = object(func(d oddvalue.Drawn) cty.Value { return d.Value })
	stored = object(func(d oddvalue.Drawn) cty.Value { return d.Stored })
	var sensitive []cty.Path
	_ = cty.Walk(stored, func(p cty.Path, v cty.Value) (bool, error) {
		if len(p) > 0 && rapid.IntRange(0, 5).Draw(t, "sensitive") == 0 {
			sensitive = append(sensitive, p.Copy())
			return false, nil
		}
		return !v.Type().IsSetType(), nil // paths into sets have no stored form
	})
	return value.MarkPaths(evaluated, sensitive, value.Sensitive), value.MarkPaths(stored, sensitive, value.Sensitive)
}

func sealAs(t *rapid.T, v cty.Value, ty cty.Type) value.Durable {
	d, err := value.Seal(v, ty, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustLive(t *rapid.T, what string, d value.Durable, want cty.Value) {
	got, err := d.Live()
	if err != nil || !got.RawEquals(want) {
		t.Fatalf("%s: got %#v, %v, want %#v", what, got, err, want)
	}
}

// drawStored draws the record of an object, and the object as it must be read.
func drawStored(t *rapid.T) (*state.Object, cty.Value) {
	v, want := drawObject(t)
	o, err := state.ObjectFrom(sealAs(t, v, oddObject))
	if err != nil {
		t.Fatal(err)
	}
	o.Private, o.Tainted = rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "private"), rapid.Bool().Draw(t, "tainted")
	if rapid.Bool().Draw(t, "has identity") {
		v := cty.ObjectVal(map[string]cty.Value{"id": oddvalue.Text(false).Draw(t, "identity").Value, "n": oddvalue.Number(false).Draw(t, "number").Value})
		if o.Identity, err = state.IdentityFrom(sealAs(t, v, v.Type())); err != nil {
			t.Fatal(err)
		}
	}
	return o, want
}

func mustDecode(t *rapid.T, what string, s *state.State, a addr.Object, was *state.Object, want cty.Value) {
	o := s.Object(a)
	if o == nil {
		t.Fatalf("%s: %s is lost", what, a)
	}
	got, err := o.Decode(oddObject)
	if err != nil || !got.RawEquals(want) {
		t.Fatalf("%s: got %#v, %v, want %#v", what, got, err, want)
	}
	if !o.Equal(was) {
		t.Fatalf("%s: got another record of %s: %+v, want %+v", what, a, o, was)
	}
}

// TestWhatIsWrittenCanBeRead draws values of every kind that expressions and providers can make. Whatever was
// sealed is the same after it was written to a state, a journal and a saved plan, and read again.
func TestWhatIsWrittenCanBeRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		i := addr.Instance{Module: addr.RootInstance, Resource: addr.Resource{Type: "odd", Name: "o"}, Key: addr.StringKey(cty.NormalizeString(rapid.String().Draw(rt, "key")))}
		if rapid.Bool().Draw(rt, "number") {
			i.Key = addr.IntKey(rapid.IntMin(0).Draw(rt, "key"))
		}
		current, deposed := addr.Object{Instance: i}, addr.Object{Instance: i, Deposed: "0badcafe"}
		pc := addr.ProviderConfig{Provider: addr.DefaultProvider("odd")}
		o, want := drawStored(rt)
		old, wantOld := drawStored(rt)
		out, wantOut := drawObject(rt)
		s := state.New()
		s.SetObject(current, o, pc)
		s.SetObject(deposed, old, pc)
		s.Outputs["o"] = &state.Output{Value: sealAs(rt, out, out.Type()), Sensitive: true}
		s.Checks = []state.CheckResult{{Kind: "resource", Config: "odd.o", Status: state.CheckFail, Objects: []state.CheckObject{
			{Addr: current.String(), Status: state.CheckFail, Failures: []string{oddvalue.Text(false).Draw(rt, "failure").Value.AsString()}},
		}}}

		f := &state.File{Meta: state.Meta{Lineage: "l", Version: "1", Serial: 1}, State: s}
		src, err := state.Write(f)
		if err != nil {
			rt.Fatal(err)
		}
		back, err := state.Read(src)
		if err != nil {
			rt.Fatalf("%v\n%s", err, src)
		}
		mustDecode(rt, "state", back.State, current, o, want)
		mustDecode(rt, "state", back.State, deposed, old, wantOld)
		bare, _ := wantOut.UnmarkDeep()
		mustLive(rt, "output", back.State.Outputs["o"].Value, bare.Mark(value.Sensitive))
		if diff := cmp.Diff(s.Checks, back.State.Checks); diff != "" {
			rt.Fatal(diff)
		}
		if again, err := state.Write(back); err != nil || !bytes.Equal(again, src) {
			rt.Fatalf("written again: got %v and\n%s\nwant\n%s", err, again, src)
		}

		replayed := replay(rt, f.Meta, state.ObjectChange{Object: current, Provider: pc, New: o}, state.ObjectChange{Object: deposed, Provider: pc, New: old})
		mustDecode(rt, "journal", replayed, current, o, want)
		mustDecode(rt, "journal", replayed, deposed, old, wantOld)

		p := &plan.Plan{Meta: f.Meta, Base: s, Prior: s, Variables: map[string]value.Durable{"v": sealAs(rt, out, cty.DynamicPseudoType)}}
		p.Outputs = []*plan.OutputChange{{Name: "o", After: s.Outputs["o"].Value}}
		p.Changes = []*plan.Change{{
			Addr: i, Provider: pc, Action: plan.Update, Before: sealAs(rt, want, oddObject), After: sealAs(rt, wantOld, oddObject), PlannedIdentity: sealAs(rt, out, out.Type()),
		}}
		saved, err := ReadBytes(write(t, &File{Plan: p, Version: "1"}))
		if err != nil {
			rt.Fatal(err)
		}
		c := saved.Plan.Changes[0]
		mustLive(rt, "before", c.Before, want)
		mustLive(rt, "after", c.After, wantOld)
		mustLive(rt, "identity", c.PlannedIdentity, wantOut)
		mustLive(rt, "variable", saved.Plan.Variables["v"], wantOut)
		mustLive(rt, "planned output", saved.Plan.Outputs[0].After, wantOut)
		mustDecode(rt, "saved plan", saved.Plan.Base, current, o, want)
	})
}

// TestLargeNumbersCanBeRead has numbers of the sizes that expressions and providers can make, which take too
// long to print for many random ones.
func TestLargeNumbersCanBeRead(t *testing.T) {
	third := cty.MustParseNumberVal("1e-9999").Divide(cty.NumberIntVal(3))
	square := cty.MustParseNumberVal("1e5000").Multiply(cty.MustParseNumberVal("1e5000"))
	for i, v := range []cty.Value{third.Negate(), square, cty.MustParseNumberVal("-3e11999")} {
		whole := cty.ObjectVal(map[string]cty.Value{"n": v, "own": cty.SetVal([]cty.Value{v})})
		ty := cty.Object(map[string]cty.Type{"n": cty.Number, "own": cty.DynamicPseudoType})
		d, err := value.Seal(whole, ty, nil)
		if err != nil {
			t.Fatal(i, err)
		}
		o, err := state.ObjectFrom(d)
		if err != nil {
			t.Fatal(i, err)
		}
		s := state.New()
		a := addr.Object{Instance: addr.Instance{Resource: addr.Resource{Type: "odd", Name: "o"}}}
		s.SetObject(a, o, addr.ProviderConfig{Provider: addr.DefaultProvider("odd")})
		s.Outputs["o"] = &state.Output{Value: d}
		src, err := state.Write(&state.File{Meta: state.Meta{Lineage: "l"}, State: s})
		if err != nil {
			t.Fatal(i, err)
		}
		f, err := state.Read(src)
		if err != nil {
			t.Fatal(i, err)
		}
		if got, err := f.State.Object(a).Decode(ty); err != nil || !got.RawEquals(whole) {
			t.Errorf("%d: got the object %#v, %v, want %#v", i, got, err, whole)
		}
		if got, err := f.State.Outputs["o"].Value.Live(); err != nil || !got.RawEquals(whole) {
			t.Errorf("%d: got the output %#v, %v, want %#v", i, got, err, whole)
		}
	}
}

// logBuffer is the file of a journal in memory.
type logBuffer struct{ bytes.Buffer }

func (*logBuffer) Sync() error         { return nil }
func (*logBuffer) Reserve(int64) error { return nil }

// replay writes changes to a journal, and applies what is read of it to an empty state.
func replay(t *rapid.T, base state.Meta, changes ...state.ObjectChange) *state.State {
	file := &logBuffer{}
	log, err := state.NewLog(file, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := log.Begin(changes[0].Object, "create")
	if err == nil {
		err = log.Commit(id, changes...)
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := state.ParseJournal(file.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := j.Replay(&state.File{Meta: base, State: state.New()})
	if err != nil {
		t.Fatal(err)
	}
	return r.File.State
}
