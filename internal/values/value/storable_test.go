package value

import (
	"errors"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/testing/oddvalue"
)

// TestStorableLeavesOutOnlyWhatMustBe draws values with parts that cannot be stored, of types that the schema
// gives and that it leaves open.
func TestStorableLeavesOutOnlyWhatMustBe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		own, list := oddvalue.Spoiled(3).Draw(rt, "dynamic"), oddvalue.Spoiled(2).Draw(rt, "in a list")
		n, s, m := oddvalue.Number(true).Draw(rt, "number"), oddvalue.Text(true).Draw(rt, "string"), oddvalue.Map(true).Draw(rt, "map")
		object := func(pick func(oddvalue.Drawn) cty.Value) cty.Value {
			return cty.ObjectVal(obj{"own": pick(own), "n": pick(n), "block": cty.ListVal([]cty.Value{cty.ObjectVal(obj{"s": pick(s), "m": pick(m)})}), "list": cty.TupleVal([]cty.Value{pick(list)})})
		}
		whole := object(func(d oddvalue.Drawn) cty.Value { return d.Value })
		want := object(func(d oddvalue.Drawn) cty.Value { return d.Stored })
		ty := cty.Object(map[string]cty.Type{
			"own": cty.DynamicPseudoType, "n": cty.Number, "block": cty.List(cty.Object(map[string]cty.Type{"s": cty.String, "m": cty.Map(cty.String)})),
			"list": cty.Tuple([]cty.Type{cty.DynamicPseudoType}),
		})
		got, faults := Storable(whole, ty)
		if !got.RawEquals(want) {
			rt.Fatalf("%#v\nis stored as: got %#v, want %#v", whole, got, want)
		}
		if n := own.Faults + list.Faults + n.Faults + s.Faults + m.Faults; len(faults) != n {
			rt.Fatalf("got %d faults, want %d: %v", len(faults), n, faults)
		}
		d, err := Seal(got, ty, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if back, err := d.Unmarked(); err != nil || !back.RawEquals(want) {
			rt.Fatalf("sealed: got %#v, %v, want %#v", back, err, want)
		}
		if _, err := Seal(whole, ty, nil); (err != nil) != (len(faults) > 0) {
			rt.Fatalf("sealing it as it is: got %v, want an error unless there are no faults: %v", err, faults)
		}
	})
}

func TestStorableNamesThePlace(t *testing.T) {
	ill, inf := str("\xff"), cty.PositiveInfinity
	deep := str("x")
	for range MaxDepth - 1 {
		deep = cty.TupleVal([]cty.Value{deep})
	}
	tests := []struct {
		name string
		v    cty.Value
		ty   cty.Type // the value's own if nil
		path string
		err  error
	}{
		{"number", cty.ObjectVal(obj{"a": cty.ListVal([]cty.Value{cty.Zero, inf})}), cty.NilType, "a[1]", ErrInfinite},
		{"far out of range", cty.ObjectVal(obj{"a": cty.MustParseNumberVal("1e100000000")}), cty.NilType, "a", bounds.ErrWritten},
		{"just out of range", cty.ObjectVal(obj{"a": cty.MustParseNumberVal("-1e12000")}), cty.NilType, "a", bounds.ErrWritten},
		{"just too small", cty.ObjectVal(obj{"a": cty.MustParseNumberVal("1e-12001")}), cty.NilType, "a", bounds.ErrWritten},
		{"text", cty.ObjectVal(obj{"a": cty.MapVal(obj{"k": ill})}), cty.NilType, `a["k"]`, ErrText},
		{"key", cty.ObjectVal(obj{"a": cty.MapVal(obj{"\xff": str("x")})}), cty.NilType, "a", ErrText},
		{"in a set", cty.ObjectVal(obj{"a": cty.SetVal([]cty.Value{cty.ObjectVal(obj{"b": ill})})}), cty.NilType, "a", ErrText},
		{"name", cty.ObjectVal(obj{"a": cty.ObjectVal(obj{"\xff": str("x")})}), cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType}), "a", ErrText},
		{"deep", cty.ObjectVal(obj{"a": cty.TupleVal([]cty.Value{deep})}), cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType}), "a", ErrTooDeep},
		{"deep in a map of open type", cty.ObjectVal(obj{"a": cty.MapVal(obj{"k": deep})}), cty.Object(map[string]cty.Type{"a": cty.Map(cty.DynamicPseudoType)}), "a", ErrTooDeep},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.ty == cty.NilType {
				test.ty = test.v.Type()
			}
			got, faults := Storable(test.v, test.ty)
			if len(faults) != 1 || !errors.Is(faults[0].Err, test.err) || where(faults[0].Path) != test.path {
				t.Fatalf("got faults %v, want one at %s: %v", faults, test.path, test.err)
			}
			if errs := got.Type().TestConformance(test.ty); len(errs) > 0 {
				t.Error(errs)
			}
			if _, err := Seal(test.v, test.ty, nil); !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.path) {
				t.Errorf("sealing: %v", err)
			}
			if _, err := Seal(got, test.ty, nil); err != nil {
				t.Errorf("what is left: %v", err)
			}
		})
	}
}

// TestStorableOfNothing has what is empty beside a part that cannot be stored, and values of no type of
// their own.
func TestStorableOfNothing(t *testing.T) {
	if v, faults := Storable(cty.NilVal, cty.String); v != cty.NilVal || faults != nil {
		t.Errorf("Storable(no value): got %#v, %v, want none", v, faults)
	}
	empty := obj{
		"list": cty.ListValEmpty(cty.Number), "set": cty.SetValEmpty(cty.Number), "map": cty.MapValEmpty(cty.Number), "tuple": cty.EmptyTupleVal, "object": cty.EmptyObjectVal,
		"null": cty.NullVal(cty.List(cty.Number)), "unknown": cty.UnknownVal(cty.Map(cty.Number)), "any": cty.NullVal(cty.DynamicPseudoType),
	}
	want := cty.ObjectVal(empty).AsValueMap()
	want["number"], empty["number"] = cty.NullVal(cty.Number), cty.PositiveInfinity
	v := cty.ObjectVal(empty)
	if got, faults := Storable(v, v.Type()); len(faults) != 1 || !got.RawEquals(cty.ObjectVal(want)) {
		t.Errorf("got %#v, %v, want %#v, one fault", got, faults, cty.ObjectVal(want))
	}
	deepest := cty.NullVal(cty.DynamicPseudoType)
	for range MaxDepth {
		deepest = cty.TupleVal([]cty.Value{deepest})
	}
	if got, faults := Storable(deepest, deepest.Type()); faults != nil || !got.RawEquals(deepest) {
		t.Errorf("deepest level: got %v, want no faults, and the value unchanged", faults)
	}
	if _, err := Seal(deepest, deepest.Type(), nil); err != nil {
		t.Errorf("at the deepest level: %v", err)
	}
}

// TestStorableKeepsMarks: what is taken out of a marked value leaves the marks.
func TestStorableKeepsMarks(t *testing.T) {
	v := cty.ObjectVal(obj{"a": cty.PositiveInfinity.Mark(Sensitive), "b": cty.ListVal([]cty.Value{str("x")}).Mark(Ephemeral)})
	got, faults := Storable(v, v.Type())
	want := cty.ObjectVal(obj{"a": cty.NullVal(cty.Number).Mark(Sensitive), "b": v.GetAttr("b")})
	if len(faults) != 1 || !got.RawEquals(want) {
		t.Errorf("got %#v, %v, want %#v, one fault", got, faults, want)
	}
}

// TestSealDropsRanges: a prefix of a value that is not known yet may be any text, also a secret one.
func TestSealDropsRanges(t *testing.T) {
	text := cty.UnknownVal(cty.String).Refine().StringPrefixFull("canary").NewValue()
	number := cty.UnknownVal(cty.Number).Refine().NumberRangeInclusive(cty.NumberIntVal(777), cty.NumberIntVal(778)).NewValue()
	list := cty.UnknownVal(cty.List(cty.String)).Refine().NotNull().CollectionLengthLowerBound(77).NewValue()
	v := cty.ObjectVal(obj{"s": text, "n": number, "l": list, "in": cty.TupleVal([]cty.Value{text.Mark(Sensitive)}), "set": cty.SetVal([]cty.Value{text})})
	for _, ty := range []cty.Type{v.Type(), cty.DynamicPseudoType} {
		d, err := Seal(v, ty, nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(d.Packed()), "canary") {
			t.Error("the prefix was sealed")
		}
		got, err := d.Unmarked()
		if err != nil {
			t.Fatal(err)
		}
		if s := got.GetAttr("s"); !s.RawEquals(cty.UnknownVal(cty.String)) {
			t.Errorf("text: got %#v, want it unknown", s)
		}
		if n := got.GetAttr("n"); !n.RawEquals(cty.UnknownVal(cty.Number).RefineNotNull()) && !n.RawEquals(cty.UnknownVal(cty.Number)) {
			t.Errorf("number: got %#v, want it unknown", n)
		}
		if l := got.GetAttr("l"); !l.RawEquals(cty.UnknownVal(l.Type()).RefineNotNull()) {
			t.Errorf("list: got %#v, want it unknown and not null", l)
		}
	}
}
