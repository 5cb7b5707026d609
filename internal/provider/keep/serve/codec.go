package serve

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// codec converts values of a type. Its methods do nothing after an error, which they put into err.
type codec struct{ typ cty.Type }

func (s *server) codec(ctx context.Context, mode addr.Mode, typeName string) (codec, error) {
	c, diags := s.provider.Catalog(ctx)
	if diags.HasErrors() {
		return codec{}, diags.Err()
	}
	found, diags := c.Resource(mode, typeName)
	switch {
	case diags.HasErrors():
		return codec{}, diags.Err()
	case found == nil:
		return codec{}, fmt.Errorf("the provider has no %s of type %q", mode, typeName)
	}
	return codec{found.Block.Type()}, nil
}

func (c codec) decode(v *tfprotov6.DynamicValue, err *error) (out cty.Value) {
	if *err == nil {
		out, *err = decode(v, c.typ)
	}
	return out
}

// decode reads a value, which is null if there is none.
func decode(v *tfprotov6.DynamicValue, typ cty.Type) (cty.Value, error) {
	switch {
	case v == nil:
		return cty.NullVal(typ), nil
	case len(v.MsgPack) > 0:
		return msgpack.Unmarshal(v.MsgPack, typ)
	}
	return ctyjson.Unmarshal(v.JSON, typ)
}

// encode is the reverse of decode. A response with errors may have no value.
func (c codec) encode(v cty.Value, err *error) *tfprotov6.DynamicValue {
	if *err != nil || v == cty.NilVal {
		return nil
	}
	packed, failed := msgpack.Marshal(v, c.typ)
	if failed != nil {
		*err = failed
		return nil
	}
	return &tfprotov6.DynamicValue{MsgPack: packed}
}

// typeOf converts a type.
func typeOf(t cty.Type) tftypes.Type {
	switch {
	case t == cty.String:
		return tftypes.String
	case t == cty.Number:
		return tftypes.Number
	case t == cty.Bool:
		return tftypes.Bool
	case t.IsListType():
		return tftypes.List{ElementType: typeOf(t.ElementType())}
	case t.IsSetType():
		return tftypes.Set{ElementType: typeOf(t.ElementType())}
	case t.IsMapType():
		return tftypes.Map{ElementType: typeOf(t.ElementType())}
	case t.IsTupleType():
		out := tftypes.Tuple{}
		for _, element := range t.TupleElementTypes() {
			out.ElementTypes = append(out.ElementTypes, typeOf(element))
		}
		return out
	case t.IsObjectType():
		out := tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
		for name, attribute := range t.AttributeTypes() {
			out.AttributeTypes[name] = typeOf(attribute)
		}
		return out
	}
	return tftypes.DynamicPseudoType
}

func diagnostics(l diag.List) (out []*tfprotov6.Diagnostic) {
	for _, d := range l {
		one := &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError, Summary: d.Summary, Detail: d.Detail, Attribute: attributePath(d.Path)}
		if d.Severity == diag.Warning {
			one.Severity = tfprotov6.DiagnosticSeverityWarning
		}
		out = append(out, one)
	}
	return out
}

// attributePath converts a path. It returns nil for an empty one.
func attributePath(path cty.Path) *tftypes.AttributePath {
	if len(path) == 0 {
		return nil
	}
	out := tftypes.NewAttributePath()
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			out = out.WithAttributeName(step.Name)
		case cty.IndexStep:
			if step.Key.Type() == cty.String {
				out = out.WithElementKeyString(step.Key.AsString())
				continue
			}
			n, _ := step.Key.AsBigFloat().Int64()
			out = out.WithElementKeyInt(int(n))
		}
	}
	return out
}
