package value

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestReplace(t *testing.T) {
	s := &StandIns{Elements: 1}
	got := s.Replace(marked())
	if MadeOf(got) != nil {
		t.Errorf("got %#v, want no mark of a computed value", got)
	}
	bare, parts := PartsStoodIn(got)
	var paths []string
	for _, part := range parts {
		if part.Version != "v1" {
			t.Errorf("got %+v, want the version", part)
		}
		paths = append(paths, where(part.Path))
	}
	slices.Sort(paths)
	if want := []string{"flag", "list[0]", "number", "token"}; !slices.Equal(paths, want) {
		t.Errorf("got the parts %v, want %v", paths, want)
	}
	if !Has(got.GetAttr("token"), Ephemeral) || !Has(got.GetAttr("secret"), Sensitive) || Has(got.GetAttr("plain"), Ephemeral) {
		t.Errorf("got %#v, want the other marks as they were", got)
	}
	for name, want := range map[string]cty.Value{
		"token": cty.StringVal("computed:v1"), "number": cty.NumberIntVal(2487895656), "flag": cty.False, "secret": cty.StringVal("s"), "plain": cty.StringVal("p"),
		"list": cty.ListVal([]cty.Value{cty.StringVal("computed:v1"), cty.StringVal("x")}),
	} {
		if part := bare.GetAttr(name); !part.RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", name, part, want)
		}
	}
	if s.Uses.Elements || s.Uses.Map || !s.Uses.Bool {
		t.Errorf("got %+v, want a truth value and no collection", s)
	}
	s.True = true
	if bare, _ = PartsStoodIn(s.Replace(marked())); !bare.GetAttr("flag").RawEquals(cty.True) {
		t.Error("a truth value is false")
	}
	if got := s.Replace(cty.StringVal("t").Mark(Computed{By: "a"})); !got.RawEquals(cty.UnknownVal(cty.String)) {
		t.Errorf("without a version: got %#v, want an unknown value", got)
	}
	s.Keep = func(c Computed) bool { return c.By == "a" }
	if got := s.Replace(cty.StringVal("t").Mark(Computed{By: "a", Version: "v1"})); !got.RawEquals(cty.StringVal("t")) {
		t.Errorf("to keep: got %#v, want the value itself", got)
	}
	if got := s.Replace(cty.UnknownVal(cty.String).Mark(Computed{By: "a"})); !got.RawEquals(cty.UnknownVal(cty.String)) {
		t.Errorf("to keep, but unknown: got %#v, want an unknown value", got)
	}
	if plain := cty.StringVal("a").Mark(Sensitive); !s.Replace(plain).RawEquals(plain) {
		t.Error("a value without computed parts was changed")
	}
}

// TestStandInForms has a value of each type stand in: it is the same whether the computed one is known, and
// another one for another version, but for truth values.
func TestStandInForms(t *testing.T) {
	object := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.Number)})
	for _, ty := range []cty.Type{
		cty.String, cty.Number, object, cty.List(cty.String), cty.Set(cty.Number), cty.Map(cty.String), cty.List(object), cty.Map(cty.List(object)),
		cty.Tuple([]cty.Type{cty.String, cty.Bool}),
	} {
		for _, elements := range []int{1, 4} {
			for _, keys := range [][]string{nil, {"k", "l"}} {
				s := &StandIns{Elements: elements, Keys: keys}
				of := func(v cty.Value, version string) cty.Value {
					bare, _ := PartsStoodIn(s.Replace(v.Mark(Computed{By: "a", Version: version})))
					return bare
				}
				got := of(cty.UnknownVal(ty), "v1")
				if !got.IsWhollyKnown() || got.IsNull() || !got.Type().Equals(ty) {
					t.Errorf("%#v: got %#v, want a known value", ty, got)
				}
				if got.RawEquals(of(cty.UnknownVal(ty), "v2")) {
					t.Errorf("%#v: the same value stands in for another version", ty)
				}
				if got.RawEquals(of(cty.NullVal(ty), "v1")) != true {
					t.Errorf("stand-in for a known value of %#v: got another one for another value, want %#v", ty, got)
				}
				switch {
				case ty.IsMapType() && keys != nil:
					if !got.HasIndex(cty.StringVal("k")).True() || got.LengthInt() != 2 {
						t.Errorf("%#v: got %#v, want the keys", ty, got)
					}
				case ty.IsCollectionType() && got.LengthInt() != elements:
					t.Errorf("%#v: got %d elements, want %d", ty, got.LengthInt(), elements)
				}
				if s.Uses.Elements != (ty.IsCollectionType() || ty.IsObjectType()) || s.Uses.Map != ty.IsMapType() {
					t.Errorf("%#v: got %+v, want the uses of its elements", ty, s)
				}
			}
		}
	}
	for _, ty := range []cty.Type{cty.DynamicPseudoType, cty.List(cty.DynamicPseudoType), cty.Map(cty.DynamicPseudoType)} {
		if got := (&StandIns{Elements: 1}).of(ty, "v1"); got.IsKnown() {
			t.Errorf("%#v: got %#v, want an unknown value", ty, got)
		}
	}
}

func TestStandInUses(t *testing.T) {
	none, all := StandInUses{}, StandInUses{Bool: true, Elements: true, Map: true}
	for _, row := range []struct{ have, add, want StandInUses }{
		{none, none, none},
		{all, none, all},
		{none, all, all},
	} {
		got := row.have
		if got.Add(row.add); got != row.want {
			t.Errorf("%v.Add(%v): got %v, want %v", row.have, row.add, got, row.want)
		}
	}
}
