package contract

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
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
		{"not to be stored", c.AcceptKnown, Read, object(map[string]cty.Value{"made": str("\xff"), "chosen": str("c")}), object(map[string]cty.Value{"chosen": str("c")}), "Provider produced invalid object read"},
		{"another type", c.Accept, Plan, str("x"), cty.NilVal, "Provider produced invalid plan"},
		{"another type, read", c.AcceptKnown, Read, str("x"), cty.NilVal, "Provider produced invalid object read"},
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
					t.Errorf("got %#v, want %#v", got, row.want)
				}
			} else if !got.RawEquals(row.want) {
				t.Errorf("got %#v, want %#v", got, row.want)
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
			t.Errorf("%s: got %v, want one error: %s", answer, diags, want)
		}
	}
	if diags := c.Violations(Plan, cty.Path{}.NewErrorf("it is wrong")); !strings.Contains(diags[0].Detail, "that breaks the rules: it is wrong.") {
		t.Errorf("of the whole: %v", diags)
	}
	if c.Violations(Plan) != nil {
		t.Error("a violation without a broken rule")
	}
	unknown := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String)})
	if id, diags := c.AcceptIdentity(unknown, Read); id != cty.NilVal || !diags.HasErrors() {
		t.Errorf("got %v for an unknown identity, want an error", diags)
	}
	if id, diags := c.AcceptIdentity(cty.NilVal, Read); id != cty.NilVal || diags != nil {
		t.Errorf("got %v for no identity, want no error", diags)
	}
	if id, diags := c.AcceptPlannedIdentity(cty.NilVal); id != cty.NilVal || diags != nil {
		t.Errorf("got %v for no planned identity, want no error", diags)
	}
	if id, diags := c.AcceptPlannedIdentity(unknown); !id.RawEquals(unknown) || diags != nil {
		t.Errorf("unknown planned identity: got %#v, %v, want it accepted", id, diags)
	}
}
