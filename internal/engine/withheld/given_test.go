package withheld

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

func TestSameGiven(t *testing.T) {
	attrs := func() map[string]*schema.Attribute {
		return map[string]*schema.Attribute{
			"given":    {Type: cty.String, Optional: true},
			"list":     {Type: cty.List(cty.String), Optional: true},
			"computed": {Type: cty.String, Computed: true},
			"either":   {Type: cty.String, Optional: true, Computed: true},
		}
	}
	b := &schema.Block{Attributes: attrs(), Blocks: map[string]*schema.NestedBlock{
		"one":  {Nesting: schema.Single, Block: schema.Block{Attributes: attrs()}},
		"many": {Nesting: schema.List, Block: schema.Block{Attributes: attrs()}},
		"set":  {Nesting: schema.Set, Block: schema.Block{Attributes: attrs()}},
	}}
	part := func(given, computed, either string) map[string]cty.Value {
		text := func(s string) cty.Value {
			if s == "-" {
				return cty.NullVal(cty.String)
			}
			return cty.StringVal(s)
		}
		return map[string]cty.Value{"given": text(given), "list": cty.NullVal(cty.List(cty.String)), "computed": text(computed), "either": text(either)}
	}
	nested := cty.ObjectVal(part("a", "a", "a")).Type()
	with := func(name string, v cty.Value) cty.Value {
		o := part("a", "a", "a")
		o["one"], o["many"], o["set"] = cty.NullVal(nested), cty.ListValEmpty(nested), cty.SetValEmpty(nested)
		o[name] = v
		return cty.ObjectVal(o)
	}
	text := func(name, s string) cty.Value { return with(name, part(s, s, s)[name]) }
	one := func(given, computed, either string) cty.Value {
		return with("one", cty.ObjectVal(part(given, computed, either)))
	}
	many := func(either ...string) cty.Value {
		var list []cty.Value
		for _, s := range either {
			list = append(list, cty.ObjectVal(part("a", "a", s)))
		}
		return with("many", cty.ListVal(list))
	}
	set := func(either string) cty.Value {
		return with("set", cty.SetVal([]cty.Value{cty.ObjectVal(part("a", "a", either))}))
	}
	for name, row := range map[string]struct {
		before, after, cfg cty.Value
		want               bool
	}{
		"the same":                {text("given", "a"), text("given", "a"), cty.NilVal, true},
		"given":                   {text("given", "a"), text("given", "b"), cty.NilVal, false},
		"given, unset":            {text("given", "-"), text("given", "b"), text("given", "-"), false},
		"given, zero":             {text("given", "-"), text("given", ""), cty.NilVal, true},
		"empty list":              {with("list", cty.ListValEmpty(cty.String)), text("given", "a"), cty.NilVal, true},
		"computed":                {text("computed", "a"), text("computed", "b"), cty.NilVal, true},
		"either, set":             {text("either", "a"), text("either", "b"), text("either", "a"), false},
		"either, set but unknown": {text("either", "a"), text("either", "b"), with("either", cty.UnknownVal(cty.String)), false},
		"either, not set":         {text("either", "a"), text("either", "b"), text("either", "-"), true},
		"either, not known":       {text("either", "a"), text("either", "b"), cty.NilVal, false},
		"either, none evaluated":  {text("either", "a"), text("either", "b"), cty.NullVal(text("either", "a").Type()), false},
		"block":                   {one("a", "a", "a"), one("b", "a", "a"), cty.NilVal, false},
		"block, computed":         {one("a", "a", "a"), one("a", "b", "b"), one("a", "-", "-"), true},
		"block, gone":             {one("a", "a", "a"), text("given", "a"), cty.NilVal, false},
		"blocks":                  {many("a", "a"), many("a", "b"), many("a", "a"), false},
		"blocks, computed":        {many("a", "a"), many("a", "b"), many("a", "-"), true},
		"blocks, one more":        {many("a"), many("a", "a"), many("-", "-"), false},
		"blocks, gone":            {many("a"), text("given", "a"), cty.NilVal, false},
		"set":                     {set("a"), set("b"), set("-"), false},
		"object, gone":            {text("given", "a"), cty.NullVal(text("given", "a").Type()), cty.NilVal, false},
	} {
		if got := sameGiven(b, row.before, row.after, row.cfg); got != row.want {
			t.Errorf("%s: got %v, want %v", name, got, row.want)
		}
	}
}
