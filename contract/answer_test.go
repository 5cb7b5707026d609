package contract

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/leak"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// block has an attribute of each kind, and a nested block with the same.
func block() *schema.Block {
	attrs := func() map[string]*schema.Attribute {
		return map[string]*schema.Attribute{
			"set":    {Type: cty.String, Optional: true},
			"chosen": {Type: cty.String, Optional: true, Computed: true},
			"made":   {Type: cty.String, Computed: true},
			"secret": {Type: cty.String, Optional: true, WriteOnly: true},
			"tags":   {Type: cty.Map(cty.String), Optional: true},
		}
	}
	nested := &schema.NestedBlock{Nesting: schema.List, Block: schema.Block{Attributes: attrs()}}
	return &schema.Block{Attributes: attrs(), Blocks: map[string]*schema.NestedBlock{"nested": nested}}
}

// object returns an object of block, null where attrs says nothing and without nested blocks.
func object(attrs map[string]cty.Value) cty.Value {
	all := map[string]cty.Value{}
	for name, ty := range block().Type().AttributeTypes() {
		all[name] = cty.NullVal(ty)
		if v, ok := attrs[name]; ok {
			all[name] = v
		} else if name == "nested" {
			all[name] = cty.ListValEmpty(ty.ElementType())
		}
	}
	return cty.ObjectVal(all)
}

func str(s string) cty.Value { return cty.StringVal(s) }

func checker(t *testing.T) Checker {
	t.Helper()
	a, err := addr.ParseInstance("t.x")
	if err != nil {
		t.Fatal(err)
	}
	return Checker{Provider: addr.BuiltinProvider, Object: addr.Object{Instance: a}, Block: block()}
}

func TestAccept(t *testing.T) {
	c := checker(t)
	whole := object(map[string]cty.Value{"made": str("m")})
	leaky := object(map[string]cty.Value{"made": str("m"), "secret": str("hunter2hunter2")})
	open := object(map[string]cty.Value{"made": cty.UnknownVal(cty.String)})
	for _, row := range []struct {
		name    string
		accept  func(cty.Value, diag.List, Answer) (cty.Value, diag.List)
		answer  Answer
		v, want cty.Value
		summary string
	}{
		{"whole", c.AcceptExisting, Read, whole, whole, ""},
		{"unknown in a plan", c.Accept, Plan, open, open, ""},
		{"unknown in an object", c.AcceptKnown, Read, open, cty.NilVal, "Provider produced invalid object read"},
		{"null", c.AcceptExisting, Upgraded, cty.NullVal(c.Block.Type()), cty.NilVal, "Provider produced invalid upgraded state"},
		{"nothing", c.AcceptExisting, Moved, cty.NilVal, cty.NilVal, "Provider produced invalid moved object"},
		{"another type", c.Accept, Plan, str("x"), cty.NilVal, "Provider produced invalid plan"},
		{"secret", c.AcceptKnown, Object, leaky, whole, "Provider produced invalid object"},
		{"secret read", c.AcceptKnown, Read, leaky, whole, "Provider produced invalid object"},
		{"secret imported", c.AcceptKnown, Imported, leaky, whole, "Import returned a non-null value for a write-only attribute"},
		{"secret upgraded", c.AcceptExisting, Upgraded, leaky, whole, "Invalid resource state upgrade"},
		{"secret moved", c.AcceptExisting, Moved, leaky, whole, "Provider returned invalid value"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, diags := row.accept(row.v, nil, row.answer)
			if got == cty.NilVal || row.want == cty.NilVal {
				if got != row.want {
					t.Errorf("%#v, want %#v", got, row.want)
				}
			} else if !got.RawEquals(row.want) {
				t.Errorf("%#v, want %#v", got, row.want)
			}
			if row.summary == "" && diags != nil || row.summary != "" && (len(diags) != 1 || diags[0].Summary != row.summary) {
				t.Errorf("%v, want %q", diags, row.summary)
			}
			for _, d := range diags {
				if strings.Contains(d.Detail, "hunter2") {
					t.Error("the secret is in the message")
				}
			}
		})
	}
}

// TestViolations pins the summaries that tests of providers look for.
func TestViolations(t *testing.T) {
	c := checker(t)
	for answer, want := range map[Answer]string{
		Plan: "Provider produced invalid plan", FinalPlan: "Provider produced inconsistent final plan",
		Object: "Provider produced invalid object", Result: "Provider produced inconsistent result after apply",
		Identity: "Provider produced invalid identity",
	} {
		diags := c.Violations(answer, cty.GetAttrPath("set").NewErrorf("it is wrong"))
		if len(diags) != 1 || diags[0].Summary != want || !strings.Contains(diags[0].Detail, "for t.x that breaks the rules: set: it is wrong.") {
			t.Errorf("%s: %v", answer, diags)
		}
	}
	if c.Violations(Plan) != nil {
		t.Error("a violation without a broken rule")
	}
	unknown := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)})
	if id, diags := c.AcceptIdentity(unknown, Read); id != cty.NilVal || !diags.HasErrors() {
		t.Errorf("an unknown identity is accepted: %v", diags)
	}
	if id, diags := c.AcceptIdentity(cty.NilVal, Read); id != cty.NilVal || diags != nil {
		t.Errorf("no identity is refused: %v", diags)
	}
}

func TestCopiedSecrets(t *testing.T) {
	config := object(map[string]cty.Value{"set": str("in the open"), "secret": str("hunter2hunter2")})
	for _, row := range []struct {
		name string
		made string
		kept bool
	}{
		{"copy", "hunter2hunter2", false},
		{"within a text", "token=hunter2hunter2;", false},
		{"other", "something else", true},
		{"part", "hunter2", true},
	} {
		c := checker(t)
		c.Leaks.Guard = leak.New()
		c.Given(config)
		got, diags := c.Accept(object(map[string]cty.Value{"set": str("in the open"), "made": str(row.made)}), nil, Object)
		if got.GetAttr("made").IsNull() == row.kept || diags.HasErrors() == row.kept {
			t.Errorf("%s: kept %t, %v", row.name, !got.GetAttr("made").IsNull(), diags)
		}
		if diags.HasErrors() && strings.Contains(diags.Err().Error(), "hunter2") {
			t.Errorf("%s: the secret is in the message", row.name)
		}
	}
	for name, config := range map[string]cty.Value{
		"a short text":                        object(map[string]cty.Value{"secret": str("x")}),
		"a text that is also in the open":     object(map[string]cty.Value{"set": str("hunter2hunter2"), "secret": str("hunter2hunter2")}),
		"a text without a secret beside it":   object(map[string]cty.Value{"set": str("hunter2hunter2")}),
		"a text of an object to be destroyed": cty.NullVal(checker(t).Block.Type()),
	} {
		c := checker(t)
		c.Leaks.Guard = leak.New()
		c.Given(config)
		made := "hunter2hunter2"
		if name == "a short text" {
			made = "x"
		}
		if _, diags := c.Accept(object(map[string]cty.Value{"made": str(made)}), nil, Object); diags != nil {
			t.Errorf("%s is taken for a copy: %v", name, diags)
		}
	}
}

// TestEphemeralValues has a provider return values that are not the object's own: what becomes of them
// depends on how confidential they are, on what the provider was given, and on the policy.
func TestEphemeralValues(t *testing.T) {
	c := checker(t)
	sources := map[string]func(*leak.Guard){
		"ephemeral": func(g *leak.Guard) {
			g.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, str("abc-123-def-456"))
		},
		"sensitive": func(g *leak.Guard) {
			g.Remember(leak.Source{Kind: leak.Result, Address: "ephemeral.a.b"}, str("abc-123-def-456").Mark(value.Sensitive))
		},
		"configured": func(g *leak.Guard) {
			g.Remember(leak.Source{Kind: leak.Result, Address: "ephemeral.a.b"}, str("abc-123-def-456").Mark(value.Sensitive))
			g.Remember(leak.Source{Kind: leak.Configuration, Address: c.Provider.String()}, str("abc-123-def-456").Mark(value.Sensitive))
		},
		"write-only": func(g *leak.Guard) {
			g.Remember(leak.Source{Kind: leak.WriteOnly, Address: "test_thing.other"}, str("abc-123-def-456"))
		},
	}
	kept := map[string][3]bool{ // by policy
		"ephemeral": {true, false, true}, "sensitive": {false, false, true}, "configured": {true, false, true}, "write-only": {false, false, true},
	}
	for name, remember := range sources {
		for policy, want := range kept[name] {
			c := checker(t)
			c.Leaks = Leaks{Guard: leak.New(), Policy: leak.Policy(policy)}
			remember(c.Leaks.Guard)
			got, diags := c.Accept(object(map[string]cty.Value{"made": str("x/abc-123-def-456")}), nil, Read)
			if len(diags) != 1 || got.GetAttr("made").IsNull() == want || diags.HasErrors() == want || strings.Contains(diags[0].String(), "abc-123") {
				t.Errorf("%s, policy %d: got %v, %v", name, policy, got, diags)
			}
			if _, found := c.Leaks.Guard.Find("abc-123-def-456"); found == want {
				t.Errorf("%s, policy %d: what is stored is still hidden elsewhere, or the reverse", name, policy)
			}
			c.Leaks.Guard = leak.New()
			remember(c.Leaks.Guard)
			if private, diags := c.AcceptPrivate([]byte(`{"token":"abc-123-def-456"}`), Read); (private != nil) != want || len(diags) != 1 {
				t.Errorf("%s, policy %d: private data %q, %v", name, policy, private, diags)
			}
			c.Leaks.Guard = leak.New()
			remember(c.Leaks.Guard)
			id, diags := c.AcceptIdentity(cty.ObjectVal(map[string]cty.Value{"id": str("abc-123-def-456")}), Read)
			if (id != cty.NilVal) != want || len(diags) != 1 {
				t.Errorf("%s, policy %d: identity %v, %v", name, policy, id, diags)
			}
		}
	}
}

// TestEphemeralKeys has ephemeral values as numbers, as keys of a map and as names of attributes.
func TestEphemeralKeys(t *testing.T) {
	block := &schema.Block{Attributes: map[string]*schema.Attribute{
		"n": {Type: cty.Number, Computed: true}, "m": {Type: cty.Map(cty.String), Computed: true}, "d": {Type: cty.DynamicPseudoType, Computed: true},
	}}
	c := checker(t)
	c.Block, c.Leaks.Guard = block, leak.New()
	c.Leaks.Guard.Remember(leak.Source{Kind: leak.Variable, Address: "var.a"}, cty.TupleVal([]cty.Value{str("abc-123-def-456"), cty.NumberIntVal(4711081512)}).Mark(value.Sensitive))
	got, diags := c.Accept(cty.ObjectVal(map[string]cty.Value{
		"n": cty.NumberIntVal(4711081512),
		"m": cty.MapVal(map[string]cty.Value{"abc-123-def-456": str("x"), "other": str("y")}),
		"d": cty.ObjectVal(map[string]cty.Value{"abc-123-def-456": str("x"), "other": str("y")}),
	}), nil, Object)
	want := cty.ObjectVal(map[string]cty.Value{
		"n": cty.NullVal(cty.Number), "m": cty.MapVal(map[string]cty.Value{"other": str("y")}), "d": cty.ObjectVal(map[string]cty.Value{"other": str("y")}),
	})
	if !got.RawEquals(want) || len(diags) != 3 {
		t.Errorf("got %#v, %v", got, diags)
	}
}
