package object

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestIdentifying shows an id or name, unless it is sensitive.
func TestIdentifying(t *testing.T) {
	attribute := func(a schema.Attribute) *schema.Attribute {
		if a.Type == cty.NilType {
			a.Type = cty.String
		}
		return &a
	}
	both := map[string]*schema.Attribute{"id": attribute(schema.Attribute{}), "name": attribute(schema.Attribute{})}
	with := func(a schema.Attribute) map[string]*schema.Attribute {
		return map[string]*schema.Attribute{"id": attribute(a), "name": both["name"]}
	}
	v := cty.ObjectVal(attrs{"id": str("i-1"), "name": str("n")})
	id := func(id cty.Value) cty.Value { return cty.ObjectVal(attrs{"id": id, "name": str("n")}) }
	for name, row := range map[string]struct {
		v         cty.Value
		attrs     map[string]*schema.Attribute
		sensitive []cty.Path
		want      string
	}{
		"id":            {v, both, nil, "id=i-1"},
		"marked":        {v.Mark(value.Sensitive), both, nil, "id=i-1"},
		"marked id":     {id(str("i-1").Mark(value.Sensitive)), both, nil, "name=n"},
		"other paths":   {v, both, []cty.Path{cty.GetAttrPath("other"), cty.GetAttrPath("id").GetAttr("x")}, "id=i-1"},
		"sensitive id":  {v, both, []cty.Path{cty.GetAttrPath("id")}, "name=n"},
		"all sensitive": {v, both, []cty.Path{{}}, "="},
		"by schema":     {v, with(schema.Attribute{Sensitive: true}), nil, "name=n"},
		"write-only":    {v, with(schema.Attribute{WriteOnly: true}), nil, "name=n"},
		"number":        {id(cty.Zero), with(schema.Attribute{Type: cty.Number}), nil, "name=n"},
		"no attribute":  {v, map[string]*schema.Attribute{"name": both["name"]}, nil, "name=n"},
		"null":          {id(cty.NullVal(cty.String)), both, nil, "name=n"},
		"unknown":       {id(cty.UnknownVal(cty.String)), both, nil, "name=n"},
		"empty":         {id(str("")), both, nil, "name=n"},
		"nothing":       {cty.NilVal, both, nil, "="},
		"null object":   {cty.NullVal(v.Type()), both, nil, "="},
		"not known yet": {cty.UnknownVal(v.Type()), both, nil, "="},
		"not an object": {str("x"), both, nil, "="},
	} {
		if key, text := Identifying(row.v, &schema.Block{Attributes: row.attrs}, row.sensitive); key+"="+text != row.want {
			t.Errorf("%s: %s=%s, want %s", name, key, text, row.want)
		}
	}
	sealed := func(v cty.Value) value.Durable {
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, row := range map[string]struct {
		i    plan.Importing
		want string
	}{
		"id":        {plan.Importing{ID: "i-1", Identity: sealed(identity("a"))}, "id=i-1"},
		"identity":  {plan.Importing{Identity: sealed(identity("a"))}, "name=a"},
		"nothing":   {plan.Importing{}, "="},
		"null":      {plan.Importing{Identity: sealed(cty.NullVal(identity("").Type()))}, "="},
		"sensitive": {plan.Importing{Identity: sealed(identity("a").Mark(value.Sensitive))}, "="},
		"broken":    {plan.Importing{Identity: value.Restore(cty.Bool, []byte{0xff}, nil)}, "="},
		"a text":    {plan.Importing{Identity: sealed(str("a"))}, "="},
	} {
		if key, text := ImportText(&row.i); key+"="+text != row.want {
			t.Errorf("import by %s: got %s=%s, want %s", name, key, text, row.want)
		}
	}
}

// TestLabel labels a stored object, unless its schema or its attributes do not allow that.
func TestLabel(t *testing.T) {
	stored := func(v cty.Value) *state.Object {
		d, err := value.Seal(v, v.Type(), nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := state.ObjectFrom(d)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	of := func(name string, typ cty.Type) *schema.Schema {
		return &schema.Schema{Block: &schema.Block{Attributes: map[string]*schema.Attribute{name: {Type: typ}}}}
	}
	for name, row := range map[string]struct {
		attribute string // of the object
		s         *schema.Schema
		want      string
	}{
		"an id":         {"id", of("id", cty.String), ` (id = "i-1")`},
		"no schema":     {"id", nil, ""},
		"another type":  {"id", of("id", cty.List(cty.String)), ""},
		"no identifier": {"size", of("size", cty.String), ""},
	} {
		if got := Label(stored(cty.ObjectVal(attrs{row.attribute: str("i-1")})), row.s); got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}
