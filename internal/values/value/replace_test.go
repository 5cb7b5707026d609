package value

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestReplaceAt takes parts of a value from another one, where both have them.
func TestReplaceAt(t *testing.T) {
	list := func(elems ...cty.Value) cty.Value { return cty.ListVal(elems) }
	tuple := func(elems ...cty.Value) cty.Value { return cty.TupleVal(elems) }
	object := func(a, b cty.Value) cty.Value { return cty.ObjectVal(obj{"a": a, "b": b}) }
	index := func(keys ...any) (path cty.Path) {
		for _, k := range keys {
			switch k := k.(type) {
			case int:
				path = path.IndexInt(k)
			case string:
				path = path.IndexString(k)
			case cty.Value:
				path = path.Index(k)
			}
		}
		return path
	}
	attr := cty.GetAttrPath
	a, b, c, d := str("a"), str("b"), str("c"), str("d")
	kv := func(k string, v cty.Value) cty.Value { return cty.MapVal(obj{k: v}) }
	for name, test := range map[string]struct {
		dst, src cty.Value
		path     cty.Path
		want     cty.Value
	}{
		"all":                              {a, b, nil, b},
		"attribute":                        {object(a, b), object(c, d), attr("a"), object(c, b)},
		"attribute as a key":               {object(a, b), object(c, d), index("b"), object(a, d)},
		"attribute by number":              {object(a, b), object(c, d), index(0), object(a, b)},
		"attribute that neither has":       {object(a, b), object(c, d), attr("x"), object(a, b)},
		"attribute that only one has":      {object(a, b), cty.ObjectVal(obj{"a": c}), attr("b"), object(a, b)},
		"attribute that the other has":     {cty.ObjectVal(obj{"a": c}), object(a, b), attr("b"), cty.ObjectVal(obj{"a": c})},
		"attribute of a text":              {a, object(a, b), attr("a"), a},
		"attribute from a text":            {object(a, b), a, attr("a"), object(a, b)},
		"deep":                             {object(list(a, b), c), object(list(c, d), d), attr("a").IndexInt(1), object(list(a, d), c)},
		"deep in a tuple":                  {tuple(object(a, b), c), tuple(object(c, d), d), index(0).GetAttr("b"), tuple(object(a, d), c)},
		"deep in a map":                    {kv("k", list(a)), kv("k", list(b)), index("k", 0), kv("k", list(b))},
		"element":                          {list(a, b), list(c, d), index(0), list(c, b)},
		"element of a tuple":               {tuple(a, b), tuple(c, d), index(1), tuple(a, d)},
		"element of another tuple":         {tuple(a, b), list(c, d), index(1), tuple(a, d)},
		"element that is not there":        {list(a, b), list(c, d, a), index(2), list(a, b)},
		"element that is in one":           {list(a, b), list(c), index(1), list(a, b)},
		"element before all":               {list(a, b), list(c, d), index(-1), list(a, b)},
		"element by name":                  {list(a, b), list(c, d), index("k"), list(a, b)},
		"element from a text":              {list(a, b), c, index(0), list(a, b)},
		"element of a set":                 {cty.SetVal([]cty.Value{a}), cty.SetVal([]cty.Value{b}), index(a), cty.SetVal([]cty.Value{a})},
		"key":                              {cty.MapVal(obj{"k": a, "l": b}), kv("k", c), index("k"), cty.MapVal(obj{"k": c, "l": b})},
		"key as an attribute":              {kv("k", a), kv("k", c), attr("k"), kv("k", c)},
		"key beside another":               {cty.MapVal(obj{"k": a, "l": b}), kv("k", c), attr("k"), cty.MapVal(obj{"k": c, "l": b})},
		"key of a list":                    {list(a, b), kv("k", c), index("k"), list(a, b)},
		"attribute in a map":               {kv("k", object(a, b)), kv("k", object(c, d)), index("k").GetAttr("a"), kv("k", object(c, b))},
		"key by number":                    {kv("0", a), kv("0", c), index(0), kv("0", a)},
		"key that is new":                  {kv("k", a), kv("l", b), index("l"), cty.MapVal(obj{"k": a, "l": b})},
		"key that is new in an empty map":  {cty.MapValEmpty(cty.String), kv("l", b), index("l"), kv("l", b)},
		"key that is gone":                 {cty.MapVal(obj{"k": a, "l": b}), kv("l", c), index("k"), kv("l", b)},
		"last key that is gone":            {kv("k", a), cty.MapValEmpty(cty.String), index("k"), cty.MapValEmpty(cty.String)},
		"below a key that is gone":         {kv("k", list(a)), cty.MapValEmpty(cty.List(cty.String)), index("k", 0), kv("k", list(a))},
		"below a key that is new":          {cty.MapValEmpty(cty.List(cty.String)), kv("k", list(a)), index("k", 0), kv("k", list(a))},
		"key that neither has":             {kv("k", a), kv("l", b), index("m"), kv("k", a)},
		"in null":                          {cty.NullVal(cty.Map(cty.String)), kv("k", a), index("k"), kv("k", a)},
		"in null of another type":          {cty.NullVal(cty.Map(cty.Number)), kv("k", a), index("k"), cty.NullVal(cty.Map(cty.Number))},
		"in null, from null":               {cty.NullVal(cty.Map(cty.String)), cty.NullVal(cty.Map(cty.String)), index("k"), cty.NullVal(cty.Map(cty.String))},
		"in null, from unknown":            {cty.NullVal(cty.List(cty.String)), cty.UnknownVal(cty.List(cty.String)), index(0), cty.UnknownVal(cty.List(cty.String))},
		"in unknown":                       {cty.UnknownVal(cty.Map(cty.String)), kv("k", a), index("k"), cty.UnknownVal(cty.Map(cty.String))},
		"in an unknown list":               {cty.UnknownVal(cty.List(cty.String)), list(a), index(0), cty.UnknownVal(cty.List(cty.String))},
		"in an unknown object":             {cty.UnknownVal(object(a, b).Type()), object(a, b), attr("a"), cty.UnknownVal(object(a, b).Type())},
		"from null":                        {kv("k", a), cty.NullVal(cty.Map(cty.String)), index("k"), kv("k", a)},
		"from a null object":               {object(a, b), cty.NullVal(object(a, b).Type()), attr("a"), object(a, b)},
		"from unknown":                     {kv("k", a), cty.UnknownVal(cty.Map(cty.String)), index("k"), kv("k", a)},
		"from an unknown list":             {list(a), cty.UnknownVal(cty.List(cty.String)), index(0), list(a)},
		"from an unknown object":           {object(a, b), cty.UnknownVal(object(a, b).Type()), attr("a"), object(a, b)},
		"null in an object, from a value":  {object(cty.NullVal(cty.String), b), object(a, d), attr("a"), object(a, b)},
		"key from an object":               {kv("k", a), cty.ObjectVal(obj{"k": b}), index("k"), kv("k", a)},
		"key from a text":                  {kv("k", a), b, index("k"), kv("k", a)},
		"key of another type":              {cty.MapVal(obj{"k": a, "l": b}), kv("k", cty.Zero), index("k"), cty.MapVal(obj{"k": a, "l": b})},
		"element of another type":          {list(a, b), tuple(cty.Zero), index(0), list(a, b)},
		"element from a set":               {list(a, b), cty.SetVal([]cty.Value{c}), index(0), list(a, b)},
		"element from a map":               {list(a, b), kv("k", c), index(0), list(a, b)},
		"part of another type":             {list(object(a, b), object(c, d)), list(object(cty.Zero, b)), index(0).GetAttr("a"), list(object(a, b), object(c, d))},
		"below a null attribute of a type": {object(cty.NullVal(cty.List(cty.String)), b), object(list(a), d), attr("a").IndexInt(0), object(list(a), b)},
	} {
		if got := ReplaceAt(test.dst, test.src, test.path); !got.RawEquals(test.want) {
			t.Errorf("%s: got %#v, want %#v", name, got, test.want)
		}
	}
}
