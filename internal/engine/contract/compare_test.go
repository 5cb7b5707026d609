package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// paths parses relative references.
func paths(t *testing.T, texts string) (out []cty.Path) {
	t.Helper()
	for _, text := range strings.Fields(texts) {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		out = append(out, traversalPath(traversal))
	}
	return out
}

func pathTexts(paths []cty.Path) string {
	var out []string
	for _, p := range paths {
		out = append(out, schema.PathString(p))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func lifecycle(t *testing.T, texts string) *config.Lifecycle {
	t.Helper()
	lc := &config.Lifecycle{IgnoreAll: texts == "all"}
	for _, text := range strings.Fields(texts) {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if !lc.IgnoreAll {
			lc.IgnoreChanges = append(lc.IgnoreChanges, traversal)
		}
	}
	return lc
}

func TestIgnoreChanges(t *testing.T) {
	tags := func(a, b string) cty.Value {
		return cty.MapVal(map[string]cty.Value{"a": str(a), "b": str(b)})
	}
	prior := object(map[string]cty.Value{"set": str("old"), "made": str("m"), "tags": tags("1", "2")})
	configured := object(map[string]cty.Value{"set": str("new"), "secret": str("s"), "tags": tags("3", "4")})
	for _, row := range []struct {
		ignore    string
		set       string
		tags      cty.Value
		sensitive string
	}{
		{"", "new", tags("3", "4"), "set"},
		{"set", "old", tags("3", "4"), ""},
		{"made secret", "new", tags("3", "4"), "set"},
		{`tags["a"]`, "new", tags("1", "4"), `set tags["a"]`},
		{"tags.a", "new", tags("1", "4"), `set tags["a"]`},
		{"tags", "new", tags("1", "2"), "set tags"},
		{"all", "old", tags("1", "2"), "tags"},
	} {
		got, sensitive := IgnoreChanges(block(), lifecycle(t, row.ignore), prior, configured, paths(t, "set"), paths(t, "tags"))
		if got.GetAttr("set") != str(row.set) || !got.GetAttr("tags").RawEquals(row.tags) || !got.GetAttr("secret").RawEquals(str("s")) || !got.GetAttr("made").IsNull() {
			t.Errorf("%q: got %#v, want set = %s, tags = %#v, secret = \"s\", made = null", row.ignore, got, row.set, row.tags)
		}
		if text := pathTexts(sensitive); text != row.sensitive {
			t.Errorf("%q: sensitive: got %q, want %q", row.ignore, text, row.sensitive)
		}
	}
	if got, _ := IgnoreChanges(block(), lifecycle(t, "all"), cty.NullVal(block().Type()), configured, nil, nil); !got.RawEquals(configured) {
		t.Errorf("without a prior object: got %#v, want %#v", got, configured)
	}
}

// TestIgnoredPartsThatAreNoMore ignores changes of a part that the object has not, or has with another type:
// an argument of any type may have been something else before.
func TestIgnoredPartsThatAreNoMore(t *testing.T) {
	b := &schema.Block{Attributes: map[string]*schema.Attribute{"any": {Type: cty.DynamicPseudoType, Optional: true}}}
	any := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"any": v}) }
	values := []cty.Value{
		str("x"), cty.True, cty.NullVal(cty.String), cty.NullVal(cty.DynamicPseudoType), cty.EmptyObjectVal, cty.ObjectVal(map[string]cty.Value{"a": str("x"), "b": cty.True}),
		cty.ListVal([]cty.Value{str("x"), str("y")}), cty.TupleVal([]cty.Value{str("x"), cty.Zero}), cty.MapVal(map[string]cty.Value{"a": cty.Zero, "b": cty.Zero}), cty.SetVal([]cty.Value{str("x")}),
	}
	for _, prior := range values {
		for _, configured := range values {
			for _, ignore := range []string{"any.a", `any["a"]`, "any[0]", "any.a.b", "any[0].a"} {
				got, _ := IgnoreChanges(b, lifecycle(t, ignore), any(prior), any(configured), paths(t, "any"), paths(t, "any.a"))
				if ty := got.GetAttr("any").Type(); !ty.Equals(configured.Type()) && !ty.IsObjectType() && !ty.IsTupleType() {
					t.Errorf("%s of %#v, which was %#v: got %#v, want a value of the configured type, an object or a tuple", ignore, configured, prior, got)
				}
			}
		}
	}
}

func TestReplacePaths(t *testing.T) {
	prior := object(map[string]cty.Value{"set": str("a"), "chosen": str("c")})
	planned := object(map[string]cty.Value{"set": str("b"), "chosen": str("c"), "made": cty.UnknownVal(cty.String)})
	got := ReplacePaths(block(), prior, planned, paths(t, "set chosen made secret nested[0].set"))
	if text := pathTexts(got); text != "made secret set" {
		t.Errorf("got %q, want %q", text, "made secret set")
	}
	more := planned.AsValueMap()
	more["nested"] = cty.ListVal([]cty.Value{nestedObject(nil)})
	for _, pair := range [][2]cty.Value{{planned, cty.ObjectVal(more)}, {cty.ObjectVal(more), planned}} {
		if text := pathTexts(ReplacePaths(block(), pair[0], pair[1], paths(t, "nested[0].set chosen"))); text != "nested[0].set" {
			t.Errorf("of a block that only one has: got %q, want %q", text, "nested[0].set")
		}
	}
}

// nestedObject returns an object of the nested block, null where attrs says nothing.
func nestedObject(attrs map[string]cty.Value) cty.Value {
	all := object(attrs).AsValueMap()
	delete(all, "nested")
	return cty.ObjectVal(all)
}

// TestIgnoreAll takes everything from the object that is there but what only the provider sets, and what has
// no place in it.
func TestIgnoreAll(t *testing.T) {
	text := func(a schema.Attribute) *schema.Attribute {
		a.Type = cty.String
		return &a
	}
	attrs := map[string]*schema.Attribute{
		"need": text(schema.Attribute{Required: true}), "chosen": text(schema.Attribute{Optional: true, Computed: true}), "made": text(schema.Attribute{Computed: true}),
		"map": {Type: cty.Map(cty.String), Computed: true},
	}
	b := &schema.Block{Attributes: map[string]*schema.Attribute{
		"need": attrs["need"], "chosen": attrs["chosen"], "made": attrs["made"], "map": attrs["map"], "set": text(schema.Attribute{Optional: true}), "secret": text(schema.Attribute{Optional: true, WriteOnly: true}),
		"inner": {Optional: true, Nested: &schema.Object{Nesting: schema.Single, Attributes: map[string]*schema.Attribute{"a": text(schema.Attribute{Optional: true}), "secret": text(schema.Attribute{Optional: true, WriteOnly: true})}}},
	}, Blocks: map[string]*schema.NestedBlock{"rule": {Nesting: schema.List, Block: schema.Block{Attributes: attrs}}}}
	none, noMap := cty.NullVal(cty.String), cty.NullVal(cty.Map(cty.String))
	type values = map[string]cty.Value
	inner := cty.ObjectVal(values{"a": str("a1"), "secret": str("x")})
	rule := func(need, chosen, made, m cty.Value) cty.Value {
		return cty.ListVal([]cty.Value{cty.ObjectVal(values{"need": need, "chosen": chosen, "made": made, "map": m})})
	}
	made := cty.MapVal(values{"k": str("0")})
	prior := values{"need": str("n0"), "chosen": str("c0"), "made": str("m0"), "map": made, "set": str("s0"), "secret": none, "inner": cty.NullVal(inner.Type()), "rule": rule(str("r0"), str("rc0"), str("rm0"), made)}
	configured := values{"need": str("n1"), "chosen": none, "made": none, "map": noMap, "set": str("s1"), "secret": str("x"), "inner": inner, "rule": rule(str("r1"), none, none, noMap)}
	with := func(changed values) cty.Value {
		all := values{}
		for name, v := range configured {
			all[name] = v
			if v, ok := changed[name]; ok {
				all[name] = v
			}
		}
		return cty.ObjectVal(all)
	}
	for ignore, want := range map[string]struct {
		v         cty.Value
		sensitive string
	}{
		"all":              {with(values{"need": str("n0"), "set": str("s0"), "inner": cty.NullVal(inner.Type()), "rule": rule(str("r0"), str("rc0"), none, noMap)}), "rule[0].chosen secret set"},
		"made":             {with(nil), "inner.secret need rule[0].need secret"},
		`map["k"]`:         {with(nil), "inner.secret need rule[0].need secret"},
		"map.k":            {with(nil), "inner.secret need rule[0].need secret"},
		"rule[0].made":     {with(nil), "inner.secret need rule[0].need secret"},
		"rule[0].map.k":    {with(nil), "inner.secret need rule[0].need secret"},
		"chosen":           {with(values{"chosen": str("c0")}), "inner.secret need rule[0].need secret"},
		"inner":            {with(values{"inner": cty.NullVal(inner.Type())}), "need rule[0].need secret"},
		"inner.a":          {with(nil), "inner.secret need rule[0].need secret"},
		"rule":             {with(values{"rule": rule(str("r0"), str("rc0"), none, noMap)}), "inner.secret need rule[0].chosen secret"},
		"rule[0].chosen":   {with(values{"rule": rule(str("r1"), str("rc0"), none, noMap)}), "inner.secret need rule[0].chosen rule[0].need secret"},
		"set need made":    {with(values{"need": str("n0"), "set": str("s0")}), "inner.secret rule[0].need secret set"},
		"rule[1].need set": {with(values{"set": str("s0")}), "inner.secret need rule[0].need secret set"},
	} {
		got, sensitive := IgnoreChanges(b, lifecycle(t, ignore), cty.ObjectVal(prior), with(nil), paths(t, "need secret inner.secret rule[0].need"), paths(t, "set rule[0].chosen map made"))
		if !got.RawEquals(want.v) {
			t.Errorf("%s: got %#v, want %#v", ignore, got, want.v)
		}
		if text := pathTexts(sensitive); text != want.sensitive {
			t.Errorf("%s: sensitive: got %q, want %q", ignore, text, want.sensitive)
		}
	}
}

// TestIgnoreAllThatIsNull keeps what is there of an argument that is not set any more, or set to something
// else.
func TestIgnoreAllThatIsNull(t *testing.T) {
	prior := object(map[string]cty.Value{"set": str("old"), "chosen": str("old")})
	for _, configured := range []cty.Value{object(map[string]cty.Value{"chosen": str("new")}), object(map[string]cty.Value{"set": str("new"), "chosen": str("new")})} {
		if got, _ := IgnoreChanges(block(), lifecycle(t, "all"), prior, configured, nil, nil); !got.RawEquals(prior) {
			t.Errorf("%#v: got %#v, want %#v", configured, got, prior)
		}
	}
}

func TestSamePaths(t *testing.T) {
	for _, row := range []struct {
		a, b, except string
		want         bool
	}{
		{"set made", "made set", "", true},
		{"set", "set made", "", false},
		{"set", "set made", "made", true},
		{"set tags.a", "set", "tags.b", false},
	} {
		if got := SamePaths(paths(t, row.a), paths(t, row.b), paths(t, row.except)); got != row.want {
			t.Errorf("%q and %q except %q: got %t, want %t", row.a, row.b, row.except, got, row.want)
		}
	}
	if got := pathTexts(block().OutsideWriteOnly(paths(t, "set secret nested[0].secret nested[0].set"))); got != "nested[0].set set" {
		t.Errorf("outside of what is write-only: got %q, want %q", got, "nested[0].set set")
	}
}

func TestUnknownValues(t *testing.T) {
	configured := object(map[string]cty.Value{"chosen": str("c")})
	open := object(map[string]cty.Value{"chosen": cty.UnknownVal(cty.String), "made": cty.UnknownVal(cty.String)})
	if SaysMore(block(), object(nil), open) || !SaysMore(block(), configured, open) || SaysMore(block(), configured, configured) {
		t.Error("what is configured and unknown in the plan is more, and nothing else")
	}
	if !SaysMore(block(), object(nil), object(map[string]cty.Value{"set": cty.UnknownVal(cty.String)})) {
		t.Error("an argument that turned out to be null is more")
	}
	whole, part := object(nil).AsValueMap(), object(nil).AsValueMap()
	whole["nested"] = cty.ListVal([]cty.Value{nestedObject(nil)})
	part["nested"] = cty.ListVal([]cty.Value{nestedObject(map[string]cty.Value{"made": cty.UnknownVal(cty.String)})})
	if SaysMore(block(), cty.ObjectVal(whole), cty.ObjectVal(whole)) || !SaysMore(block(), cty.ObjectVal(whole), cty.ObjectVal(part)) {
		t.Error("a nested block is more if something in it is unknown")
	}
	if got := NullUnknown(open); !got.RawEquals(object(nil)) {
		t.Errorf("NullUnknown: got %#v, want all attributes null", got)
	}
}
