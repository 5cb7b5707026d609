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
		"another type":      {text, cty.Number, secretly(text), cty.DynamicPseudoType},
		"dynamic part":      {cty.ObjectVal(obj{"a": text, "b": cty.DynamicVal}), half, ephemerally(cty.ObjectVal(obj{"a": text, "b": secretly(cty.DynamicVal)})), half},
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
		"object as a map":   {doc, cty.Map(cty.DynamicPseudoType), secretly(doc), cty.DynamicPseudoType},
		"object as a tuple": {doc, cty.Tuple([]cty.Type{cty.DynamicPseudoType}), secretly(doc), cty.DynamicPseudoType},
		"other attributes":  {doc, half, secretly(doc), cty.DynamicPseudoType},
		"list as an object": {cty.ListVal([]cty.Value{text}), half, secretly(cty.ListVal([]cty.Value{text})), cty.DynamicPseudoType},
		"list as a tuple":   {cty.ListVal([]cty.Value{text}), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), secretly(cty.ListVal([]cty.Value{text})), cty.DynamicPseudoType},
		"tuple as a list":   {cty.TupleVal([]cty.Value{text}), cty.List(cty.DynamicPseudoType), secretly(cty.TupleVal([]cty.Value{text})), cty.DynamicPseudoType},
		"longer tuple":      {cty.TupleVal([]cty.Value{text}), cty.Tuple([]cty.Type{cty.String, cty.DynamicPseudoType}), secretly(cty.TupleVal([]cty.Value{text})), cty.DynamicPseudoType},
		"shorter tuple":     {cty.TupleVal([]cty.Value{text, text}), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), secretly(cty.TupleVal([]cty.Value{text, text})), cty.DynamicPseudoType},
		"unknown part":      {cty.UnknownVal(cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.Bool})), half, ephemerally(cty.UnknownVal(half)), half},
		"sensitive object":  {cty.ObjectVal(obj{"a": text, "b": doc}).Mark(Sensitive).Mark(EphemeralType), half, ephemerally(cty.ObjectVal(obj{"a": text, "b": secretly(doc)})).Mark(Sensitive), half},
		"sensitive tuple":   {cty.TupleVal([]cty.Value{doc}).Mark(Sensitive).Mark(EphemeralType), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), ephemerally(cty.TupleVal([]cty.Value{secretly(doc)})).Mark(Sensitive), cty.Tuple([]cty.Type{cty.DynamicPseudoType})},
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
	text, any := str("x"), cty.DynamicPseudoType
	half := cty.Object(map[string]cty.Type{"a": cty.String, "b": any})
	list := func(v cty.Value) cty.Value { return cty.ListVal([]cty.Value{v}) }
	tuple := func(elems ...cty.Value) cty.Value { return cty.TupleVal(elems) }
	ab := func(a, b cty.Value) cty.Value { return cty.ObjectVal(obj{"a": a, "b": b}) }
	for name, test := range map[string]struct {
		v     cty.Value
		known cty.Type
		want  cty.Value
	}{
		"untyped null, ephemeral":    {ephemerally(cty.NullVal(any)), any, secretly(cty.NullVal(any))},
		"untyped null, of a type":    {ephemerally(cty.NullVal(any)), cty.String, ephemerally(cty.NullVal(any))},
		"of no type, ephemeral":      {ephemerally(cty.DynamicVal), any, ephemerally(cty.DynamicVal)},
		"untyped null, sensitive":    {cty.NullVal(any).Mark(Sensitive), any, cty.NullVal(any).Mark(Sensitive)},
		"null, not known":            {cty.NullVal(cty.String), any, secretly(cty.NullVal(cty.String))},
		"unknown, not known":         {cty.UnknownVal(cty.String), any, secretly(cty.UnknownVal(cty.String))},
		"null object, not known":     {cty.NullVal(half), cty.Object(map[string]cty.Type{"a": any, "b": any}), secretly(cty.NullVal(half))},
		"unknown object, not known":  {cty.UnknownVal(half), cty.Object(map[string]cty.Type{"a": any, "b": any}), secretly(cty.UnknownVal(half))},
		"null with a part":           {secretly(cty.NullVal(half)), half, ephemerally(cty.NullVal(half))},
		"unknown with a part":        {ephemerally(cty.UnknownVal(half)), half, secretly(cty.UnknownVal(half))},
		"unknown with a part, known": {cty.UnknownVal(half).Mark(Sensitive).Mark(EphemeralType), half, cty.UnknownVal(half).Mark(Sensitive)},
		"object with marks":          {secretly(ab(text, text)).Mark(Sensitive), half, ephemerally(ab(text, secretly(text))).Mark(Sensitive)},
		"tuple with marks":           {secretly(tuple(secretly(text), text)).Mark(Sensitive), cty.Tuple([]cty.Type{cty.String, any}), ephemerally(tuple(ephemerally(text), secretly(text))).Mark(Sensitive)},
		"object of a map":            {ab(text, text), cty.Map(cty.String), secretly(ab(text, text))},
		"map of an object":           {cty.MapVal(obj{"a": text, "b": text}), half, secretly(cty.MapVal(obj{"a": text, "b": text}))},
		"tuple of a list":            {tuple(text), cty.List(cty.String), secretly(tuple(text))},
		"list of a tuple":            {list(text), cty.Tuple([]cty.Type{cty.String}), secretly(list(text))},
		"empty list of any type":     {cty.ListValEmpty(any).Mark(Sensitive), cty.List(any), cty.ListValEmpty(any).Mark(Sensitive)},
		"list of unknown types":      {list(ephemerally(cty.DynamicVal)), cty.List(any), secretly(list(ephemerally(cty.DynamicVal)))},
		"known":                      {secretly(text), cty.String, ephemerally(text)},
		"unmarked":                   {text, cty.String, text},
		"not known":                  {text, cty.DynamicPseudoType, secretly(text)},
		"another":                    {cty.EmptyTupleVal, cty.Tuple([]cty.Type{cty.String}), secretly(cty.EmptyTupleVal)},
		"untyped null":               {cty.NullVal(cty.DynamicPseudoType), cty.DynamicPseudoType, cty.NullVal(cty.DynamicPseudoType)},
		"attribute":                  {cty.ObjectVal(obj{"a": text, "b": text}), cty.Object(map[string]cty.Type{"a": cty.DynamicPseudoType, "b": cty.String}), cty.ObjectVal(obj{"a": secretly(text), "b": text})},
		"other names":                {cty.ObjectVal(obj{"a": text}), cty.Object(map[string]cty.Type{"b": cty.String}), secretly(cty.ObjectVal(obj{"a": text}))},
		"empty collection":           {cty.ListValEmpty(cty.String), cty.List(cty.DynamicPseudoType), secretly(cty.ListValEmpty(cty.String))},
		"elements":                   {cty.ListVal([]cty.Value{ephemerally(text)}), cty.List(cty.String), cty.ListVal([]cty.Value{ephemerally(text)})},
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
		{cty.ObjectVal(obj{"a": str("x"), "b": str("x")}), open, cty.ObjectVal(obj{"a": str("x"), "b": str("x")})},
		{text, cty.DynamicPseudoType, text},
		{text, cty.NilType, text},
		{cty.ObjectVal(obj{"a": text, "b": text}), open, cty.ObjectVal(obj{"a": ephemerally(str("x")), "b": text})},
		{cty.TupleVal([]cty.Value{text}), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), cty.TupleVal([]cty.Value{text})},
		{cty.ListVal([]cty.Value{text}), cty.List(cty.DynamicPseudoType), secretly(cty.ListVal([]cty.Value{text}))},
		{cty.TupleVal([]cty.Value{text}), cty.DynamicPseudoType, cty.TupleVal([]cty.Value{text})},
		{secretly(cty.NullVal(open)), open, secretly(cty.NullVal(open))},
		{secretly(cty.UnknownVal(open)), open, secretly(cty.UnknownVal(open))},
		{secretly(cty.NullVal(cty.EmptyTuple)), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), secretly(cty.NullVal(cty.EmptyTuple))},
		{cty.ObjectVal(obj{"a": text}), cty.Map(cty.DynamicPseudoType), secretly(cty.ObjectVal(obj{"a": text}))},
		{cty.MapVal(obj{"a": text}), open, secretly(cty.MapVal(obj{"a": text}))},
		{cty.TupleVal([]cty.Value{text}), cty.List(cty.DynamicPseudoType), secretly(cty.TupleVal([]cty.Value{text}))},
		{cty.ListVal([]cty.Value{text}), cty.Tuple([]cty.Type{cty.DynamicPseudoType}), secretly(cty.ListVal([]cty.Value{text}))},
		{secretly(cty.TupleVal([]cty.Value{text, text})), cty.Tuple([]cty.Type{cty.String, cty.DynamicPseudoType}), ephemerally(cty.TupleVal([]cty.Value{ephemerally(str("x")), text}))},
		{secretly(cty.ListVal([]cty.Value{ephemerally(str("x"))})), cty.List(cty.DynamicPseudoType), secretly(cty.ListVal([]cty.Value{ephemerally(str("x"))}))},
		{cty.ListVal([]cty.Value{ephemerally(str("x"))}), cty.List(cty.DynamicPseudoType), cty.ListVal([]cty.Value{ephemerally(str("x"))})},
	} {
		if got := TypedBy(test.v, test.constraint); !got.RawEquals(test.want) {
			t.Errorf("%#v by %#v: got %#v, want %#v", test.v, test.constraint, got, test.want)
		}
	}
}

// TestE23_WhatIsKnownOfTypes asks for types of values in which something is ephemeral.
func TestE23_WhatIsKnownOfTypes(t *testing.T) {
	text, any := str("x"), cty.DynamicPseudoType
	half := cty.Object(map[string]cty.Type{"a": cty.String, "b": any})
	ab := func(a, b cty.Value) cty.Value { return cty.ObjectVal(obj{"a": a, "b": b}) }
	for name, test := range map[string]struct {
		v     cty.Value
		known cty.Type
		open  bool // it has an ephemeral part whose type is not known
	}{
		"text":               {text, cty.String, false},
		"ephemeral":          {ephemerally(text), cty.String, false},
		"secret type":        {secretly(text), any, true},
		"unknown object":     {ephemerally(cty.UnknownVal(ab(text, text).Type())), ab(text, text).Type(), false},
		"null object":        {cty.NullVal(half).Mark(Sensitive), half, false},
		"untyped null":       {ephemerally(cty.NullVal(any)), any, true},
		"part":               {ab(text, secretly(text)), half, true},
		"ephemeral parts":    {ab(ephemerally(text), ephemerally(text)), ab(text, text).Type(), false},
		"then an open one":   {ab(ephemerally(text), secretly(text)), half, true},
		"then a known one":   {cty.TupleVal([]cty.Value{secretly(text), ephemerally(text)}), cty.Tuple([]cty.Type{any, cty.String}), true},
		"untyped beside it":  {ab(ephemerally(text), cty.NullVal(any)), half, false},
		"only the type":      {cty.ObjectVal(obj{"a": text.Mark(EphemeralType)}), cty.Object(map[string]cty.Type{"a": any}), true},
		"elements":           {cty.ListVal([]cty.Value{ephemerally(text)}), cty.List(cty.String), false},
		"elements of a type": {cty.ListVal([]cty.Value{secretly(text)}), any, true},
		"sensitive elements": {cty.MapVal(obj{"k": text.Mark(Sensitive)}), cty.Map(cty.String), false},
	} {
		if got := KnownType(test.v); !got.Equals(test.known) {
			t.Errorf("%s: %#v is known, want %#v", name, got, test.known)
		}
		if got := OpenType(test.v); got != test.open {
			t.Errorf("%s: open: got %t, want %t", name, got, test.open)
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
