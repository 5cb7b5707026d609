package value

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestUnknownAsNull(t *testing.T) {
	secret := cty.StringVal("s").Mark(Sensitive)
	for _, test := range []struct{ in, want cty.Value }{
		{cty.UnknownVal(cty.String).Mark(Sensitive), cty.NullVal(cty.String).Mark(Sensitive)},
		{secret, secret},
		{
			cty.ObjectVal(map[string]cty.Value{"a": secret, "b": cty.UnknownVal(cty.Number), "c": cty.ListVal([]cty.Value{cty.UnknownVal(cty.String).Mark(Sensitive)})}),
			cty.ObjectVal(map[string]cty.Value{"a": secret, "b": cty.NullVal(cty.Number), "c": cty.ListVal([]cty.Value{cty.NullVal(cty.String).Mark(Sensitive)})}),
		},
	} {
		if got := UnknownAsNull(test.in); !got.RawEquals(test.want) {
			t.Errorf("%#v: got %#v, want %#v", test.in, got, test.want)
		}
	}
}

// TestKnownByChance marks results that may be unknown with other ephemeral values.
func TestKnownByChance(t *testing.T) {
	known, unknown := str("x"), cty.UnknownVal(cty.String)
	late := ephemerally(known).Mark(EphemeralKnown)
	list := func(elems ...cty.Value) cty.Value { return cty.TupleVal(elems) }
	for name, test := range map[string]struct {
		v        cty.Value
		operands []cty.Value
		may      bool // an ephemeral value can have decided that it is known
		settled  bool
		marked   bool // by MarkKnown
	}{
		"nothing":                     {cty.NilVal, nil, false, true, false},
		"known":                       {known, []cty.Value{unknown}, false, true, false},
		"unknown":                     {unknown, nil, false, false, false},
		"unknown within":              {list(known, unknown), nil, false, false, false},
		"sensitive":                   {known.Mark(Sensitive), []cty.Value{unknown}, false, true, false},
		"ephemeral":                   {ephemerally(known), []cty.Value{known, ephemerally(known)}, true, true, false},
		"ephemeral, of unknown":       {ephemerally(known), []cty.Value{known, unknown}, true, true, true},
		"ephemeral, of late":          {ephemerally(known), []cty.Value{late}, true, true, true},
		"late":                        {late, []cty.Value{unknown}, false, false, true},
		"ephemeral, unknown":          {ephemerally(unknown), []cty.Value{unknown}, false, false, false},
		"ephemeral, unknown within":   {ephemerally(list(known, unknown)), nil, true, false, true},
		"ephemeral, late within":      {ephemerally(list(known, late)), nil, true, false, true},
		"ephemeral, ephemeral within": {ephemerally(list(known, ephemerally(known))), nil, true, true, false},
		"ephemeral null":              {ephemerally(cty.NullVal(cty.List(cty.String))), []cty.Value{ephemerally(cty.NullVal(cty.String))}, true, true, false},
		"late within":                 {list(known, late), nil, false, false, false},
		"ephemeral within":            {list(known, ephemerally(known)), nil, false, true, false},
		"ephemeral, empty":            {ephemerally(cty.ListValEmpty(cty.String)), nil, true, true, false},
	} {
		if may, settled := MayBeUnknown(test.v), Settled(test.v); may != test.may || settled != test.settled {
			t.Errorf("%s: may be unknown %t, settled %t", name, may, settled)
		}
		got := MarkKnown(test.v, test.operands...)
		if test.v == cty.NilVal {
			if got != cty.NilVal {
				t.Errorf("%s: got %#v, want %#v", name, got, cty.NilVal)
			}
			continue
		}
		want := test.v
		if test.marked {
			want = want.Mark(EphemeralKnown)
		}
		if !got.RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", name, got, want)
		}
	}
}
