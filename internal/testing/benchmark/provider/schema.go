package provider

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The types of the provider; there are more on demand.
const (
	typeThing  = "bench_thing"
	typeSecret = "bench_secret"
)

// attributesOfFiller make a schema of about 40 kB.
const attributesOfFiller = 40

// description fills the schemas of further types.
var description = strings.Repeat("What a provider says of an argument in its documentation. ", 16)

// configuration is the schema of the provider's configuration: the one argument does nothing.
var configuration = attributes(&tfprotov6.SchemaAttribute{Name: "key", Type: tftypes.String, Optional: true, Sensitive: true})

// secretSchema describes an object that is open for a while. Opening and closing take as many milliseconds
// as it says, each, if EnvPauses names them.
var secretSchema = attributes(
	&tfprotov6.SchemaAttribute{Name: "name", Type: tftypes.String, Required: true},
	&tfprotov6.SchemaAttribute{Name: "millis", Type: tftypes.Number, Optional: true},
	&tfprotov6.SchemaAttribute{Name: "value", Type: tftypes.String, Computed: true},
)

// describe returns the schemas of the resource types: bench_thing, and so many others that are there for the
// size of their schemas. The output of bench_thing is its input. The operations that EnvPauses names take as
// many milliseconds as it says.
func describe(others int) map[string]*tfprotov6.Schema {
	schemas := map[string]*tfprotov6.Schema{typeThing: attributes(
		&tfprotov6.SchemaAttribute{Name: "id", Type: tftypes.String, Computed: true},
		&tfprotov6.SchemaAttribute{Name: "input", Type: tftypes.String, Optional: true},
		&tfprotov6.SchemaAttribute{Name: "output", Type: tftypes.String, Computed: true},
		&tfprotov6.SchemaAttribute{Name: "millis", Type: tftypes.Number, Optional: true},
		&tfprotov6.SchemaAttribute{Name: "secret_wo", Type: tftypes.String, Optional: true, WriteOnly: true},
		&tfprotov6.SchemaAttribute{Name: "secret_version", Type: tftypes.Number, Optional: true},
	)}
	list := []*tfprotov6.SchemaAttribute{{Name: "name", Type: tftypes.String, Optional: true}}
	for i := range attributesOfFiller {
		list = append(list, &tfprotov6.SchemaAttribute{
			Name: fmt.Sprintf("argument_%d", i), Type: tftypes.String, Optional: true,
			Description: description, DescriptionKind: tfprotov6.StringKindMarkdown,
		})
	}
	for i := range others {
		schemas[fmt.Sprintf("bench_type%d", i)] = attributes(list...)
	}
	return schemas
}

// attributes returns a schema of attributes.
func attributes(list ...*tfprotov6.SchemaAttribute) *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: list}}
}

// object are the attributes of a value. A null value gives nil.
type object map[string]tftypes.Value

// decode reads a value of a schema.
func decode(s *tfprotov6.Schema, v *tfprotov6.DynamicValue) (object, error) {
	value, err := v.Unmarshal(s.ValueType())
	if err != nil || value.IsNull() {
		return nil, err
	}
	var o map[string]tftypes.Value
	err = value.As(&o)
	return o, err
}

// encode writes an object as a value of a schema.
func encode(s *tfprotov6.Schema, o object) (*tfprotov6.DynamicValue, error) {
	t := s.ValueType()
	var content any
	if o != nil {
		content = map[string]tftypes.Value(o)
	}
	v, err := tfprotov6.NewDynamicValue(t, tftypes.NewValue(t, content))
	return &v, err
}

// with returns a copy of an object in which an attribute has another value.
func (o object) with(name string, v tftypes.Value) object {
	changed := maps.Clone(o)
	changed[name] = v
	return changed
}

// text returns an attribute of type string, "" if it is null or unknown.
func (o object) text(name string) string {
	var s string
	if v := o[name]; v.IsKnown() && !v.IsNull() {
		_ = v.As(&s) // it is a string, as the schema says
	}
	return s
}

// equal reports whether all attributes of two objects are equal.
func (o object) equal(other object) bool {
	return maps.EqualFunc(o, other, tftypes.Value.Equal)
}

// names returns the names of the types in a table, sorted.
func names(schemas map[string]*tfprotov6.Schema) []string {
	return slices.Sorted(maps.Keys(schemas))
}
