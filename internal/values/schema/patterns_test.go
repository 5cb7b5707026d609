package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// path makes a path of names, keys and indices; nil stands for every element.
func path(steps ...any) cty.Path {
	var out cty.Path
	for i, step := range steps {
		switch s := step.(type) {
		case nil:
			out = append(out, EveryElement)
		case int:
			out = out.IndexInt(s)
		case string:
			if name, isKey := strings.CutPrefix(s, "#"); isKey {
				out = out.IndexString(name)
			} else {
				out = out.GetAttr(s)
			}
		default:
			panic(i)
		}
	}
	return out
}

func pathTexts(paths []cty.Path) string {
	var out []string
	for _, p := range paths {
		out = append(out, PathString(p))
	}
	return strings.Join(out, " ")
}

func TestPatternsMatch(t *testing.T) {
	ps := Patterns{path("a"), path("list", nil, "b"), path("map", "#k"), path("list", 0, "c")}
	for _, row := range []struct {
		path cty.Path
		want bool
	}{
		{path("a"), true},
		{path("a", "inner"), true},
		{path("b"), false},
		{nil, false},
		{path("list", 3, "b"), true},
		{path("list", 3), false},
		{path("list", 3, "x"), false},
		{path("list", "b"), false},
		{path("map", "#k"), true},
		{path("map", "#k", 0), true},
		{path("map", "#l"), false},
		{path("map", "k"), false},
		{path("list", 0, "c"), true},
		{path("list", 1, "c"), false},
	} {
		if got := ps.Matches(row.path); got != row.want {
			t.Errorf("%#v: got %t, want %t", row.path, got, row.want)
		}
	}
	if got, want := pathTexts(ps.Outside([]cty.Path{path("a"), path("b"), path("list", 1, "b"), path("list", 1)})), "b list[1]"; got != want {
		t.Errorf("got %q outside, want %q", got, want)
	}
	paths := []cty.Path{path("a")}
	if got := Patterns(nil).Outside(paths); len(got) != 1 {
		t.Errorf("got %v outside nothing, want all", got)
	}
	if ps.Outside(paths); len(paths[0]) != 1 {
		t.Error("the paths were changed")
	}
}

func TestPatternsAlike(t *testing.T) {
	ps := Patterns{path("a"), path("list", nil, "b"), path("map", nil)}
	for _, row := range []struct {
		a, b cty.Path
		want bool
	}{
		{path("a"), path("a"), true},
		{path("a"), path("b"), false},
		{path("list", 0, "b"), path("list", 7, "b"), true},
		{path("list", 0, "b"), path("list", 7), false},
		{path("list", 0, "b"), path("list", 7, "b", "c"), false},
		{path("list", 0, "b", "c"), path("list", 7, "b"), false},
		{path("list", 0, "b"), path("map", "#b"), false},
		{path("map", "#a"), path("map", "#b"), true},
		{path("other"), path("other"), false},
	} {
		if got := ps.Alike(row.a, row.b); got != row.want {
			t.Errorf("%#v and %#v: got %t, want %t", row.a, row.b, got, row.want)
		}
	}
}

func TestPatternsFind(t *testing.T) {
	one := func(v cty.Value) cty.Value { return object(obj{"b": v}) }
	v := object(obj{
		"a": str("x"), "none": null, "unknown": unknown, "marked": str("x").Mark("m"),
		"list": list(one(str("x")), one(null), one(unknown)), "tuple": cty.TupleVal([]cty.Value{str("x"), null}),
		"map": cty.MapVal(obj{"k": one(str("x")), "l": one(null)}), "object": object(obj{"p": one(str("x"))}),
		"set": set(one(str("x"))), "text": str("x"), "later": cty.UnknownVal(cty.List(one(null).Type())), "hidden": list(one(str("x"))).Mark("m"),
	})
	for _, row := range []struct {
		patterns Patterns
		want     string
	}{
		{Patterns{path("a")}, "a"},
		{Patterns{path("none"), path("missing")}, ""},
		{Patterns{path("unknown")}, "unknown"},
		{Patterns{path("marked")}, "marked"},
		{Patterns{path("list", nil, "b")}, "list[0].b list[2].b"},
		{Patterns{path("list", 0, "b"), path("list", 9, "b")}, "list[0].b"},
		{Patterns{path("list", 0, "b"), path("list", nil, "b")}, "list[0].b list[2].b"},
		{Patterns{path("tuple", nil)}, "tuple[0]"},
		{Patterns{path("map", nil, "b")}, `map["k"].b`},
		{Patterns{path("map", "#l", "b"), path("map", "#m", "b")}, ""},
		{Patterns{path("object", nil, "b")}, "object.p.b"},
		{Patterns{path("set", nil, "b")}, ""},
		{Patterns{path("text", nil)}, ""},
		{Patterns{path("later", nil, "b")}, ""},
		{Patterns{path("hidden", nil, "b")}, "hidden[0].b"},
	} {
		if got := pathTexts(row.patterns.Find(v)); got != row.want {
			t.Errorf("%s: got %q, want %q", pathTexts(row.patterns), got, row.want)
		}
	}
	for _, v := range []cty.Value{cty.NullVal(v.Type()), cty.UnknownVal(v.Type())} {
		if got := (Patterns{path("a")}).Find(v); got != nil {
			t.Errorf("got %v in %#v, want nothing", got, v)
		}
	}
	found := Patterns{path("list", nil, "b")}.Find(v)
	if !found[0].Equals(path("list", 0, "b")) || !found[1].Equals(path("list", 2, "b")) {
		t.Errorf("got %v, want paths that share nothing", found)
	}
}

func TestNullAt(t *testing.T) {
	b := &Block{
		Attributes: map[string]*Attribute{"text": attr("o"), "dyn": {Type: cty.DynamicPseudoType, Optional: true}, "map": {Type: cty.Map(cty.String), Optional: true}},
		Blocks:     map[string]*NestedBlock{"rule": {Nesting: List, Block: Block{Attributes: map[string]*Attribute{"dyn": {Type: cty.DynamicPseudoType, Optional: true}}}}},
	}
	rule := func(v cty.Value) cty.Value { return object(obj{"dyn": v}) }
	v := object(obj{
		"text": str("x"), "dyn": list(str("x")), "map": cty.MapVal(obj{"k": str("x"), "l": str("y")}),
		"rule": cty.TupleVal([]cty.Value{rule(str("x")), rule(cty.True)}),
	})
	anything := cty.NullVal(cty.DynamicPseudoType)
	for _, row := range []struct {
		path cty.Path
		name string
		want cty.Value
	}{
		{path("text"), "text", null},
		{path("dyn"), "dyn", anything},
		{path("dyn", 0), "dyn", list(null)},
		{path("map", "#k"), "map", cty.MapVal(obj{"k": null, "l": str("y")})},
		{path("rule", 0, "dyn"), "rule", cty.TupleVal([]cty.Value{rule(anything), rule(cty.True)})},
		{path("rule", 7, "dyn"), "rule", v.GetAttr("rule")},
		{path("missing"), "text", str("x")},
	} {
		got := b.NullAt(v, []cty.Path{row.path})
		parts := v.AsValueMap()
		parts[row.name] = row.want
		if want := object(parts); !got.RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", PathString(row.path), got, want)
		}
	}
}

func TestPut(t *testing.T) {
	x, y := str("x"), str("y")
	for _, row := range []struct {
		name     string
		v        cty.Value
		path     cty.Path
		to, want cty.Value
	}{
		{"whole", x, nil, y, y},
		{"attribute", object(obj{"a": x}), path("a"), y, object(obj{"a": y})},
		{"inner", object(obj{"a": object(obj{"b": x, "c": x})}), path("a", "b"), y, object(obj{"a": object(obj{"b": y, "c": x})})},
		{"element", list(x, x), path(1), y, list(x, y)},
		{"element of another type", list(x, x), path(1), cty.True, cty.TupleVal([]cty.Value{x, cty.True})},
		{"tuple", cty.TupleVal([]cty.Value{x, cty.True}), path(0), y, cty.TupleVal([]cty.Value{y, cty.True})},
		{"tuple of one type", cty.TupleVal([]cty.Value{x, x}), path(0), y, cty.TupleVal([]cty.Value{y, x})},
		{"map", cty.MapVal(obj{"k": x}), path("#k"), y, cty.MapVal(obj{"k": y})},
		{"map of another type", cty.MapVal(obj{"k": x, "l": x}), path("#k"), cty.True, object(obj{"k": cty.True, "l": x})},
		{"null", cty.NullVal(cty.List(cty.String)), path(0), y, cty.NullVal(cty.List(cty.String))},
		{"unknown", cty.UnknownVal(cty.List(cty.String)), path(0), y, cty.UnknownVal(cty.List(cty.String))},
		{"no such attribute", object(obj{"a": x}), path("b"), y, object(obj{"a": x})},
		{"no such element", list(x), path(1), y, list(x)},
		{"into text", object(obj{"a": x}), path("a", "b"), y, object(obj{"a": x})},
		{"set", set(x), cty.Path{cty.IndexStep{Key: x}}, y, set(x)},
	} {
		if got := Put(row.v, row.path, row.to); !got.RawEquals(row.want) {
			t.Errorf("%s: got %#v, want %#v", row.name, got, row.want)
		}
	}
}

// TestPattern has what a pattern may lead to, and the errors otherwise.
func TestPattern(t *testing.T) {
	text := func() *Attribute { return attr("o") }
	typed := func(ty cty.Type) *Attribute { return &Attribute{Type: ty, Optional: true} }
	inner := func() map[string]*Attribute { return map[string]*Attribute{"a": text()} }
	b := &Block{Attributes: map[string]*Attribute{
		"text": text(), "list": typed(cty.List(cty.String)), "map": typed(cty.Map(cty.String)), "set": typed(cty.Set(cty.String)), "dyn": typed(cty.DynamicPseudoType),
		"object": typed(cty.Object(map[string]cty.Type{"p": cty.String})), "tuple": typed(cty.Tuple([]cty.Type{cty.String})),
	}, Blocks: map[string]*NestedBlock{}}
	for _, nesting := range []Nesting{Single, List, Set, Map, Group} {
		b.Blocks["block_"+nesting.String()] = &NestedBlock{Nesting: nesting, Block: Block{Attributes: inner()}}
		if nesting != Group {
			b.Attributes["attr_"+nesting.String()] = &Attribute{Optional: true, Nested: &Object{Nesting: nesting, Attributes: inner()}}
		}
	}
	for _, row := range []struct{ path, want cty.Path }{
		{path("text"), path("text")},
		{path("list", 0), path("list", 0)},
		{path("list", nil), path("list", nil)},
		{path("map", "#k"), path("map", "#k")},
		{path("map", "k"), path("map", "#k")},
		{path("map", nil), path("map", nil)},
		{path("set"), path("set")},
		{path("dyn", "a", 0, "#k", nil), path("dyn", "a", 0, "k", nil)},
		{path("object", "p"), path("object", "p")},
		{path("object", "#p"), path("object", "p")},
		{path("tuple", 0), path("tuple", 0)},
		{path("attr_single"), path("attr_single")},
		{path("attr_single", "a"), path("attr_single", "a")},
		{path("attr_list"), path("attr_list")},
		{path("attr_list", 0, "a"), path("attr_list", 0, "a")},
		{path("attr_list", nil, "a"), path("attr_list", nil, "a")},
		{path("attr_map", "k", "a"), path("attr_map", "#k", "a")},
		{path("attr_set"), path("attr_set")},
		{path("block_single", "a"), path("block_single", "a")},
		{path("block_group", "a"), path("block_group", "a")},
		{path("block_list", nil, "a"), path("block_list", nil, "a")},
		{path("block_map", "#k", "a"), path("block_map", "#k", "a")},
	} {
		if got, err := b.Pattern(row.path); err != nil || !slices.EqualFunc(got, row.want, sameStep) {
			t.Errorf("%#v: got %#v, %v, want %#v", row.path, got, err, row.want)
		}
	}
	for _, row := range []struct {
		path cty.Path
		want string
	}{
		{path("txt"), `this object has no argument or nested block named "txt". Did you mean "text"?`},
		{path(0), "this object has attributes, not elements. Write the name of one after a dot"},
		{path("text", "a"), `"text" has no such part`},
		{path("list", "#k"), `"list" has no such part`},
		{path("list", "k"), `"list" has no such part`},
		{path("map", 0), `"map" has no such part`},
		{path("set", nil), `"set" is a set, whose elements have no address of their own. Name the whole of it`},
		{path("object", "q"), `"object" has no such part`},
		{path("object", 0), `"object" has no such part`},
		{path("tuple", 1), `"tuple" has no such part`},
		{path("attr_list", "a"), `"attr_list" has elements. Name one of them by its key in brackets, or all of them by [*]`},
		{path("attr_list", "#a", "a"), `"attr_list" has elements. Name one of them by its key in brackets, or all of them by [*]`},
		{path("attr_map", 0, "a"), `"attr_map" has elements. Name one of them by its key in brackets, or all of them by [*]`},
		{path("attr_list", nil, "b"), `"attr_list[*]" has no argument or nested block named "b".`},
		{path("attr_set", nil, "a"), `"attr_set" is a set, whose elements have no address of their own. Name an attribute that is not in a set`},
		{path("block_set", nil, "a"), `"block_set" is a set, whose elements have no address of their own. Name an attribute that is not in a set`},
		{path("block_single"), `"block_single" is a nested block. Name an attribute in it`},
		{path("block_list", 0), `"block_list[0]" is a nested block. Name an attribute in it`},
		{path("block_single", nil), `"block_single" has attributes, not elements. Write the name of one after a dot`},
	} {
		if got, err := b.Pattern(row.path); err == nil || err.Error() != row.want {
			t.Errorf("%#v: got %#v, %v, want the error %s", row.path, got, err, row.want)
		}
	}
}

func sameStep(a, b cty.PathStep) bool {
	x, isIndex := a.(cty.IndexStep)
	y, isToo := b.(cty.IndexStep)
	if isIndex && isToo {
		return x.Key.RawEquals(y.Key)
	}
	return !isIndex && !isToo && a == b
}

func TestPatternTexts(t *testing.T) {
	if got, want := PatternString(path("a", nil, "b", "#k", 0)), `a[*].b["k"][0]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := EveryElementOf(path("a", 0, "b", "#secret")), "a[*].b[*]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
