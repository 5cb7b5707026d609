package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestMade has evaluations with values that stand in for others: any difference makes another value of them.
func TestMade(t *testing.T) {
	f := newFixture(t)
	of := func(version string) []MadeOf { return []MadeOf{{Path: password, Version: version}} }
	made := func(made ...Made) cty.Value {
		f.Made = made
		return f.made(password)
	}
	how := thing(str("how"), none)
	base := made(Made{how, of("v1")})
	if !base.IsWhollyKnown() || !base.RawEquals(made(Made{how, of("v1")})) {
		t.Errorf("got %#v, want the same value again", base)
	}
	for name, other := range map[string]cty.Value{
		"another value":          made(Made{thing(str("else"), none), of("v1")}),
		"of another version":     made(Made{how, of("v2")}),
		"of one more":            made(Made{how, append(of("v1"), of("v2")...)}),
		"of none":                made(Made{how, nil}),
		"in another form":        made(Made{how, of("v1")}, Made{thing(str("else"), none), of("v1")}),
		"null in another form":   made(Made{how, of("v1")}, Made{thing(none, none), of("v1")}),
		"in a part of the value": made(Made{how, []MadeOf{{Path: password.IndexInt(0), Version: "v2"}}}),
	} {
		if base.RawEquals(other) {
			t.Errorf("%s: got the same", name)
		}
	}
	if !base.RawEquals(made(Made{how, append(of("v1"), MadeOf{Path: cty.GetAttrPath("other"), Version: "v2"})})) {
		t.Error("another attribute makes a difference")
	}
	if !base.RawEquals(made(Made{how, append(of("v1"), of("v1")...)})) {
		t.Error("a version counts twice")
	}
	for name, none := range map[string]cty.Value{"no evaluation": made(), "null": made(Made{thing(none, none), nil}), "not there": made(Made{cty.NullVal(how.Type()), nil})} {
		if none != cty.NilVal {
			t.Errorf("%s: got %#v, want none", name, none)
		}
	}
	if made(Made{thing(unknown, none), of("v1")}).IsWhollyKnown() {
		t.Error("an unknown value is known")
	}
}
