package schema

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Spec returns the decoder specification of the block. It is built once; callers must not change it. Bodies
// that may use dynamic blocks or blocks in place of attributes need Decode rather than a bare hcldec.Decode.
func (b *Block) Spec() hcldec.Spec {
	return b.derived.spec.get(func() hcldec.Spec {
		spec := make(hcldec.ObjectSpec, len(b.Attributes)+len(b.Blocks))
		for name, attr := range b.Attributes {
			spec[name] = attr.spec(name)
		}
		for name, nested := range b.Blocks {
			spec[name] = nested.spec(name)
		}
		return spec
	})
}

// spec returns the specification of an argument.
func (a *Attribute) spec(name string) hcldec.Spec {
	want, got := a.configType(), a.ValueType()
	spec := &hcldec.AttrSpec{Name: name, Type: want, Required: a.Required}
	if want.Equals(got) {
		return spec
	}
	return &hcldec.TransformFuncSpec{Wrapped: spec, Func: settled}
}

// settled returns its argument as it is. Its return type has no optional attributes: they are for arguments
// that a user may leave out and must not show in the types of decoded values, not even of empty collections.
var settled = function.New(&function.Spec{
	Params: []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType,
		AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}},
	Type: func(args []cty.Value) (cty.Type, error) { return args[0].Type().WithoutOptionalAttributesDeep(), nil },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil },
})

// spec returns the specification of the blocks of one type. If the type of their content is open, they
// become a tuple or an object, because the elements of a list or map have one type.
func (n *NestedBlock) spec(name string) hcldec.Spec {
	inner, dynamic := n.Spec(), n.known().has.dynamic
	switch {
	case n.Nesting == List && dynamic:
		return &hcldec.BlockTupleSpec{TypeName: name, Nested: inner, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case n.Nesting == List:
		return &hcldec.BlockListSpec{TypeName: name, Nested: inner, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case n.Nesting == Set:
		return &hcldec.BlockSetSpec{TypeName: name, Nested: inner, MinItems: n.MinItems, MaxItems: n.MaxItems}
	case n.Nesting == Map && dynamic:
		return n.counted(name, &hcldec.BlockObjectSpec{TypeName: name, Nested: inner, LabelNames: mapLabels})
	case n.Nesting == Map:
		return n.counted(name, &hcldec.BlockMapSpec{TypeName: name, Nested: inner, LabelNames: mapLabels})
	case n.Nesting == Group:
		return &hcldec.DefaultSpec{
			Primary: &hcldec.BlockSpec{TypeName: name, Nested: inner},
			Default: &hcldec.LiteralSpec{Value: n.Empty()},
		}
	default:
		return &hcldec.BlockSpec{TypeName: name, Nested: inner, Required: n.MinItems > 0}
	}
}

// mapLabels are the labels of blocks that become a map: the key.
var mapLabels = []string{"key"}

// counted adds the limits on the number of blocks that hcldec does not know for maps.
func (n *NestedBlock) counted(name string, spec hcldec.Spec) hcldec.Spec {
	if n.MinItems == 0 && n.MaxItems == 0 {
		return spec
	}
	return &hcldec.ValidateSpec{Wrapped: spec, Func: func(v cty.Value) hcl.Diagnostics {
		v, _ = v.Unmark()
		if !v.IsKnown() || v.IsNull() {
			return nil
		}
		switch count := v.LengthInt(); {
		case count < n.MinItems:
			return hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: fmt.Sprintf("Insufficient %s blocks", name),
				Detail: fmt.Sprintf("At least %d %q blocks are required.", n.MinItems, name),
			}}
		case n.MaxItems > 0 && count > n.MaxItems:
			return hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: fmt.Sprintf("Too many %s blocks", name),
				Detail: fmt.Sprintf("No more than %d %q blocks are allowed.", n.MaxItems, name),
			}}
		}
		return nil
	}}
}
