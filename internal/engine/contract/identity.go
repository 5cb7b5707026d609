package contract

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// CompleteIdentity returns the identity made of the attributes that an import block gives, with null for the
// others. id is nil if the type has no identity; at is the range of the block, where errors are reported.
func CompleteIdentity(id *schema.Identity, typeName string, given cty.Value, at hcl.Range) (identity cty.Value, diags diag.List) {
	fail := func(summary, format string, args ...any) {
		diags = append(diags, diag.At(at, summary, format, args...)...)
	}
	switch {
	case id == nil:
		fail("Import by identity is not supported", "The resource type %s has no identity; import it with an id instead.", typeName)
		return cty.NilVal, diags
	case !given.Type().IsObjectType() && !given.Type().IsMapType():
		fail("Invalid import identity", "The identity must be an object, with the attributes that identify a %s.", typeName)
		return cty.NilVal, diags
	}
	attrs := given.AsValueMap()
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if id.Attributes[name] == nil {
			fail("Invalid import identity", "The identity of a %s has no attribute %q. It has: %s.", typeName, name, strings.Join(slices.Sorted(maps.Keys(id.Attributes)), ", "))
		}
	}
	complete := map[string]cty.Value{}
	for _, name := range slices.Sorted(maps.Keys(id.Attributes)) {
		a := id.Attributes[name]
		got, ok := attrs[name]
		if got.IsNull() && a.RequiredForImport {
			fail("Incomplete import identity", "The identity of a %s needs the attribute %q.", typeName, name)
		}
		if complete[name] = cty.NullVal(a.Type); !ok {
			continue
		}
		got, err := convert.Convert(got, a.Type)
		if err != nil {
			fail("Invalid import identity", "The attribute %q of the identity is not suitable: %s.", name, err)
			continue
		}
		complete[name] = got
	}
	return cty.ObjectVal(complete), diags
}

// IdentityPairs returns all attributes of an identity that are set, as pairs in one line, such as
// "name=web,zone=main". Lists are in JSON.
func IdentityPairs(id cty.Value) string {
	var parts []string
	for it := id.ElementIterator(); it.Next(); {
		name, v := it.Element()
		if v.IsNull() || !v.IsWhollyKnown() {
			continue
		}
		text, err := convert.Convert(v, cty.String)
		if err != nil {
			encoded, _ := ctyjson.Marshal(v, v.Type()) // any known value without marks has a form in JSON
			text = cty.StringVal(string(encoded))
		}
		parts = append(parts, name.AsString()+"="+text.AsString())
	}
	return strings.Join(parts, ",")
}

// IdentityText returns an identity as messages show it: the name of its first attribute that is set, and its
// value, followed by the other attributes that are set.
func IdentityText(id cty.Value) (key, text string) {
	var parts []string
	for it := id.ElementIterator(); it.Next(); {
		name, v := it.Element()
		s, err := convert.Convert(v, cty.String)
		if err != nil || s.IsNull() || !s.IsKnown() {
			continue
		}
		if key == "" {
			key = name.AsString()
			parts = append(parts, s.AsString())
			continue
		}
		parts = append(parts, name.AsString()+"="+s.AsString())
	}
	return key, strings.Join(parts, ",")
}
