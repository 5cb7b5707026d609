package plugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin5"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// decoder decodes schemas and refuses those that the engine can't use. It is a value: each schema is
// decoded by a copy, which collects its problems.
type decoder struct {
	protocol int
	kind     schema.Kind
	problems []string
}

// schema decodes a Schema message. A missing message is an empty block.
func (d decoder) schema(raw []byte) (*schema.Schema, []string) {
	var in tfplugin6.Schema
	if err := proto.Unmarshal(raw, &in); err != nil {
		return nil, []string{"it is not well-formed"}
	}
	s := &schema.Schema{Version: in.Version, Block: &schema.Block{}}
	d.block(s.Block, in.Block, "")
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	if err := s.Block.InternalValidate(d.kind); err != nil {
		return nil, strings.Split(err.Error(), "\n")
	}
	return s, nil
}

// problem records a mistake at a place in the schema.
func (d *decoder) problem(path, format string, args ...any) {
	d.problems = append(d.problems, path+": "+fmt.Sprintf(format, args...))
}

// block fills b, whose derived forms must not be copied. path is empty or ends with a dot.
func (d *decoder) block(b *schema.Block, in *tfplugin6.Schema_Block, path string) {
	b.Attributes = make(map[string]*schema.Attribute, len(in.GetAttributes()))
	b.Blocks = make(map[string]*schema.NestedBlock, len(in.GetBlockTypes()))
	b.Description, b.DescriptionKind = in.GetDescription(), kind(in.GetDescriptionKind())
	b.Deprecated, b.DeprecationMessage = in.GetDeprecated(), in.GetDeprecationMessage()
	for _, raw := range in.GetAttributes() {
		a, err := d.rawAttribute(raw)
		if err != nil {
			d.problem(path+"(attribute)", "it is not well-formed")
			continue
		}
		d.attribute(b.Attributes, a, path)
	}
	for _, nb := range in.GetBlockTypes() {
		at := path + nb.TypeName
		if b.Blocks[nb.TypeName] != nil {
			d.problem(at, "the name is declared twice")
		}
		out := &schema.NestedBlock{Nesting: nesting(int32(nb.Nesting)), MinItems: int(nb.MinItems), MaxItems: int(nb.MaxItems)}
		d.block(&out.Block, nb.Block, at+".")
		b.Blocks[nb.TypeName] = out
	}
}

// nesting converts a nesting mode, whose numbers are the same for blocks and attributes.
func nesting(in int32) schema.Nesting {
	if in < 0 || in > int32(schema.Group) {
		return schema.NestingInvalid
	}
	return schema.Nesting(in)
}

// rawAttribute decodes an attribute, whose field numbers differ in protocol 5.
func (d *decoder) rawAttribute(raw []byte) (*tfplugin6.Schema_Attribute, error) {
	if d.protocol != 5 {
		a := &tfplugin6.Schema_Attribute{}
		return a, proto.Unmarshal(raw, a)
	}
	var a tfplugin5.Schema_Attribute
	err := proto.Unmarshal(raw, &a)
	return &tfplugin6.Schema_Attribute{
		Name: a.Name, Type: a.Type, Description: a.Description, DescriptionKind: a.DescriptionKind,
		Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive, WriteOnly: a.WriteOnly,
		Deprecated: a.Deprecated, DeprecationMessage: a.DeprecationMessage,
	}, err
}

// attribute adds an attribute, with the nested ones, to its siblings.
func (d *decoder) attribute(siblings map[string]*schema.Attribute, in *tfplugin6.Schema_Attribute, path string) {
	at := path + in.Name
	a := &schema.Attribute{
		Description: in.Description, DescriptionKind: kind(in.DescriptionKind),
		Required: in.Required, Optional: in.Optional, Computed: in.Computed, Sensitive: in.Sensitive, WriteOnly: in.WriteOnly,
		Deprecated: in.Deprecated, DeprecationMessage: in.DeprecationMessage,
	}
	if siblings[in.Name] != nil {
		d.problem(at, "the name is declared twice")
	}
	if in.NestedType != nil {
		if len(in.Type) > 0 {
			d.problem(at, "it has both a type and nested attributes")
		}
		a.Nested = &schema.Object{
			Nesting: nesting(int32(in.NestedType.Nesting)), Attributes: make(map[string]*schema.Attribute, len(in.NestedType.Attributes)),
		}
		for _, inner := range in.NestedType.Attributes {
			d.attribute(a.Nested.Attributes, inner, at+".")
		}
	} else {
		ty, err := decodeType(in.Type)
		if err != nil {
			d.problem(at, "%s", err)
		}
		a.Type = ty
	}
	siblings[in.Name] = a
}

var errNoType = errors.New("it has no type")

// decodeType reads a type constraint.
func decodeType(raw []byte) (cty.Type, error) {
	if len(raw) == 0 {
		return cty.DynamicPseudoType, errNoType
	}
	ty, err := jsonvalue.UnmarshalType(raw)
	if err != nil {
		return cty.DynamicPseudoType, fmt.Errorf("its type is not valid: %w", err)
	}
	return ty.WithoutOptionalAttributesDeep(), nil
}

// kind converts the format of a description. Unknown formats count as plain text.
func kind(in tfplugin6.StringKind) schema.DescriptionKind {
	if in == tfplugin6.StringKind_MARKDOWN {
		return schema.Markdown
	}
	return schema.Plain
}

// decodeFunction decodes a signature, and returns the mistakes in it.
func decodeFunction(raw []byte) (*schema.Function, []string) {
	var in tfplugin6.Function
	if err := proto.Unmarshal(raw, &in); err != nil {
		return nil, []string{"it is not well-formed"}
	}
	var problems []string
	typeOf := func(what string, raw []byte) cty.Type {
		ty, err := decodeType(raw)
		if err != nil {
			problems = append(problems, what+": "+err.Error())
		}
		return ty
	}
	param := func(p *tfplugin6.Function_Parameter) schema.FunctionParam {
		return schema.FunctionParam{
			Name: p.Name, Type: typeOf("parameter "+p.Name, p.Type), AllowNull: p.AllowNullValue, AllowUnknown: p.AllowUnknownValues,
			Description: p.Description, DescriptionKind: kind(p.DescriptionKind),
		}
	}
	f := &schema.Function{
		Return: typeOf("result", in.GetReturn().GetType()), Summary: in.Summary, Description: in.Description,
		DescriptionKind: kind(in.DescriptionKind), DeprecationMessage: in.DeprecationMessage,
	}
	for _, p := range in.Parameters {
		f.Params = append(f.Params, param(p))
	}
	if in.VariadicParameter != nil {
		p := param(in.VariadicParameter)
		f.Variadic = &p
	}
	return f, problems
}

// decodeIdentitySchema converts an identity schema, and returns the mistakes in it, sorted.
func decodeIdentitySchema(in *tfplugin6.ResourceIdentitySchema) (*schema.Identity, []string) {
	s := &schema.Identity{Version: in.GetVersion(), Attributes: map[string]*schema.IdentityAttribute{}}
	problems := map[string]string{}
	for _, a := range in.GetIdentityAttributes() {
		ty, err := decodeType(a.Type)
		if err != nil {
			problems[a.Name] = a.Name + ": " + err.Error()
		}
		s.Attributes[a.Name] = &schema.IdentityAttribute{
			Type: ty, Description: a.Description, RequiredForImport: a.RequiredForImport, OptionalForImport: a.OptionalForImport,
		}
	}
	return s, slices.Sorted(maps.Values(problems))
}
