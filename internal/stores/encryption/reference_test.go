package encryption

import (
	"maps"
	"testing"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/config/reference"
)

// TestReference compares the table of the reference with the arguments of key providers and methods.
func TestReference(t *testing.T) {
	kinds := map[string]map[string]map[string]argument{"key_provider": {}, "method": {}}
	for name, k := range keyProviders.types {
		kinds["key_provider"][name] = k.arguments
	}
	for name, k := range methods.types {
		kinds["method"][name] = k.arguments
	}
	for block, types := range kinds {
		b, _ := reference.Find("terraform.encryption." + block)
		for _, typ := range b.Types {
			has, ok := types[typ.Path]
			if !ok {
				t.Errorf("the table has a %s %s", block, typ.Path)
			}
			delete(types, typ.Path)
			sameArguments(t, typ.Path, typ.Arguments, maps.Clone(has))
		}
		for name := range types {
			t.Errorf("the table lacks the %s %s", block, name)
		}
	}
}

func sameArguments(t *testing.T, of string, list []reference.Argument, left map[string]argument) {
	t.Helper()
	for _, a := range list {
		has, ok := left[a.Name]
		typ := "reference"
		if has.ty != cty.NilType {
			typ = typeexpr.TypeString(has.ty)
		}
		if has.ty != cty.NilType && has.ty.IsObjectType() {
			typ = "object"
		}
		if !ok || typ != a.Type || has.required != a.Required || has.secret != a.Sensitive {
			t.Errorf("%s.%s: got type %s, required: %t, secret: %t, known: %t, want type %s, required: %t, secret: %t", of, a.Name, typ, has.required, has.secret, ok, a.Type, a.Required, a.Sensitive)
		}
		delete(left, a.Name)
	}
	for name := range left {
		t.Errorf("the table lacks the argument %s.%s", of, name)
	}
}
