package schema

import "github.com/zclconf/go-cty/cty"

// Type returns the object type of identities.
func (i *Identity) Type() cty.Type {
	attrs := make(map[string]cty.Type, len(i.Attributes))
	for name, a := range i.Attributes {
		attrs[name] = a.Type
	}
	return cty.Object(attrs)
}
