package value

import (
	"errors"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// secretly marks a value and its type.
func secretly(v cty.Value) cty.Value { return v.Mark(Ephemeral).Mark(EphemeralType) }

func ephemerally(v cty.Value) cty.Value { return v.Mark(Ephemeral) }

// TestE23_DeclaredTypesAreKnown marks values of variables, and looks at what is known of their types.
func TestE23_DeclaredTypesAreKnown(t *testing.T) {
	text, doc := str("x"), cty.ObjectVal(obj{"name": str("x")})
	half := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.DynamicPseudoType})
	for name, test := range map[string]struct {
		v        cty.Value
		declared cty.Type
		want     cty.Value
		known    cty.Type
	}{
		"concrete":          {text, cty.String, ephemerally(text), cty.String},
		"any":               {doc, cty.DynamicPseudoType, secretly(doc), cty.DynamicPseudoType},
		"none":              {text, cty.NilType, secretly(text), cty.DynamicPseudoType},
		"null of any":       {cty.NullVal(cty.String), cty.DynamicPseudoType, secretly(cty.NullVal(cty.String)), cty.DynamicPseudoType},
		"optional":          {cty.ObjectVal(obj{"name": str("x")}), cty.ObjectWithOptionalAttrs(map[string]cty.Type{"name": cty.String}, []string{"name"}), ephemerally(doc), doc.Type()},
		"part":              {cty.ObjectVal(obj{"a": text, "b": doc}), half, ephemerally(cty.ObjectVal(obj{"a": text, "b": secretly(doc)})), half},
		"null with a part":  {cty.NullVal(cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.Bool})), half, ephemerally(cty.NullVal(half)), half},
		"tuple":             {cty.TupleVal([]cty.Value{text, doc}), cty.Tuple([]cty.Type{cty.String, cty.DynamicPseudoType}), ephemerally(cty.TupleVal([]cty.Value{text, secretly(doc)})), cty.Tuple([]cty.Type{cty.String, cty.DynamicPseudoType})},
		"elements":          {cty.ListVal([]cty.Value{doc}), cty.List(cty.DynamicPseudoType), secretly(cty.ListVal([]cty.Value{doc})), cty.DynamicPseudoType},
		"unknown":           {cty.UnknownVal(cty.String), cty.String, ephemerally(cty.UnknownVal(cty.String)), cty.String},
		"marked once again": {secretly(text), cty.String, ephemerally(text), cty.String},
	} {
		got := Ephemerally(test.v, test.declared)
		if !got.RawEquals(test.want) {
			t.Errorf("%s: got %#v, want %#v", name, got, test.want)
		}
		if known := KnownType(got); !known.Equals(test.known) {
			t.Errorf("%s: %#v is known, want %#v", name, known, test.known)
		}
		if open := test.known.HasDynamicTypes(); OpenType(got) != open {
			t.Errorf("%s: the type is open: %t, want %t", name, !open, open)
		}
	}
}

// TestE23_TypesOfResultsAreMarked compares results with what is known of their types.
func TestE23_TypesOfResultsAreMarked(t *testing.T) {
	text := str("x")
	for name, test := range map[string]struct {
		v     cty.Value
		known cty.Type
		want  cty.Value
	}{
		"known":            {secretly(text), cty.String, ephemerally(text)},
		"unmarked":         {text, cty.String, text},
		"not known":        {text, cty.DynamicPseudoType, secretly(text)},
		"another":          {cty.EmptyTupleVal, cty.Tuple([]cty.Type{cty.String}), secretly(cty.EmptyTupleVal)},
		"untyped null":     {cty.NullVal(cty.DynamicPseudoType), cty.DynamicPseudoType, cty.NullVal(cty.DynamicPseudoType)},
		"attribute":        {cty.ObjectVal(obj{"a": text, "b": text}), cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType, "b": cty.String}), cty.ObjectVal(obj{"a": secretly(text), "b": text})},
		"other names":      {cty.ObjectVal(obj{"a": text}), cty.Object(map[string]cty.Type{"b": cty.String}), secretly(cty.ObjectVal(obj{"a": text}))},
		"empty collection": {cty.ListValEmpty(cty.String), cty.List(cty.DynamicPseudoType), secretly(cty.ListValEmpty(cty.String))},
		"elements":         {cty.ListVal([]cty.Value{ephemerally(text)}), cty.List(cty.String), cty.ListVal([]cty.Value{ephemerally(text)})},
	} {
		if got := MarkTypes(test.v, test.known); !got.RawEquals(test.want) {
			t.Errorf("%s: got %#v, want %#v", name, got, test.want)
		}
	}
}

// TestE23_ConversionsMakeTypesKnown converts to constraints, as outputs do.
func TestE23_ConversionsMakeTypesKnown(t *testing.T) {
	text, open := secretly(str("x")), cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.DynamicPseudoType})
	for _, test := range []struct {
		v          cty.Value
		constraint cty.Type
		want       cty.Value
	}{
		{text, cty.String, ephemerally(str("x"))},
		{text, cty.DynamicPseudoType, text},
		{text, cty.NilType, text},
		{cty.ObjectVal(obj{"a": text, "b": text}), open, cty.ObjectVal(obj{"a": ephemerally(str("x")), "b": text})},
		{cty.TupleVal([]cty.Value{text}), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), cty.TupleVal([]cty.Value{text})},
		{cty.ListVal([]cty.Value{text}), cty.List(cty.DynamicPseudoType), secretly(cty.ListVal([]cty.Value{text}))},
		{cty.ListVal([]cty.Value{ephemerally(str("x"))}), cty.List(cty.DynamicPseudoType), cty.ListVal([]cty.Value{ephemerally(str("x"))})},
	} {
		if got := TypedBy(test.v, test.constraint); !got.RawEquals(test.want) {
			t.Errorf("%#v by %#v: got %#v, want %#v", test.v, test.constraint, got, test.want)
		}
	}
}

// TestSealRefusesEphemeralTypes seals what has lost the mark of its value alone.
func TestSealRefusesEphemeralTypes(t *testing.T) {
	v := cty.TupleVal([]cty.Value{cty.NullVal(cty.Object(map[string]cty.Type{"name": cty.String})).Mark(EphemeralType)})
	if _, err := Seal(v, v.Type(), nil); !errors.Is(err, ErrSecret) {
		t.Errorf("got %v", err)
	}
}
