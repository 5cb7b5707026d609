package value

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

var (
	token  = Computed{By: "a.b.token", Version: "v1", Number: 7, Type: TypeName(cty.String)}
	before = Computed{By: "a.b.token", Version: "v1", Number: 7, Past: true, Type: TypeName(cty.String)}
)

// marked returns a value with a computed part, one made of it, and others.
func marked() cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"token": cty.StringVal("t").Mark(Ephemeral).Mark(token), "list": cty.ListVal([]cty.Value{cty.UnknownVal(cty.String).Mark(Ephemeral).Mark(before), cty.StringVal("x")}),
		"number": cty.NumberIntVal(1).Mark(Ephemeral).Mark(token), "secret": cty.StringVal("s").Mark(Sensitive), "plain": cty.StringVal("p"),
		"flag": cty.True.Mark(Ephemeral).Mark(token),
	})
}

func TestMadeOf(t *testing.T) {
	for _, v := range []cty.Value{cty.NilVal, cty.StringVal("a"), cty.StringVal("a").Mark(Ephemeral)} {
		if v == cty.NilVal {
			continue
		}
		if got := MadeOf(v); got != nil {
			t.Errorf("%#v: got %v, want nothing", v, got)
		}
	}
	got := MadeOf(marked())
	if len(got) != 2 || !slices.Contains(got, token) || !slices.Contains(got, before) {
		t.Errorf("got %v, want each mark once", got)
	}
	var paths []string
	for _, part := range PathsMadeOf(marked()) {
		paths = append(paths, where(part.Path))
	}
	slices.Sort(paths)
	if want := []string{"flag", "list[0]", "number", "token"}; !slices.Equal(paths, want) {
		t.Errorf("got the paths %v, want %v", paths, want)
	}
}

func TestDerived(t *testing.T) {
	for _, c := range MadeOf(Derived(marked())) {
		if c.Number != 0 || c.Type != "" || c.By != token.By || c.Version != token.Version {
			t.Errorf("got %+v, want it without the number and the type alone", c)
		}
	}
	if got := Derived(marked()); !Has(got.GetAttr("token"), Ephemeral) || !Has(got.GetAttr("secret"), Sensitive) {
		t.Errorf("got %#v, want the other marks as they were", got)
	}
	if plain := cty.StringVal("a").Mark(Sensitive); !Derived(plain).RawEquals(plain) {
		t.Error("a value without computed parts was changed")
	}
}

// TestIsUnmade tells parts that are made of values which do not exist yet from all others.
func TestIsUnmade(t *testing.T) {
	in := cty.ObjectVal(map[string]cty.Value{"known": cty.StringVal("x"), "unknown": cty.UnknownVal(cty.String)})
	for _, c := range []struct {
		at   string
		of   Computed
		want bool
	}{
		{"unknown", Computed{By: "a"}, true},
		{"unknown", token, false},
		{"unknown", Computed{By: "a", Past: true}, false},
		{"known", Computed{By: "a"}, false},
		{"missing", Computed{By: "a"}, false},
	} {
		if got := (ComputedPart{cty.GetAttrPath(c.at), c.of}).IsUnmade(in); got != c.want {
			t.Errorf("%s of %+v: got %v, want %v", c.at, c.of, got, c.want)
		}
	}
}
