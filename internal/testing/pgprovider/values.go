package pgprovider

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// object has the values of a block's attributes by name; nil is a null object.
type object map[string]tftypes.Value

func decode(from *tfprotov6.DynamicValue, schema *tfprotov6.Schema) (object, error) {
	value, err := from.Unmarshal(schema.ValueType())
	if err != nil || value.IsNull() {
		return nil, err
	}
	out := map[string]tftypes.Value{}
	return out, value.As(&out)
}

func encode(o object, schema *tfprotov6.Schema) (*tfprotov6.DynamicValue, error) {
	var content any
	if o != nil {
		content = map[string]tftypes.Value(o)
	}
	out, err := tfprotov6.NewDynamicValue(schema.ValueType(), tftypes.NewValue(schema.ValueType(), content))
	if err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return &out, nil
}

// text returns a string, which is "" if it is null or unknown.
func (o object) text(name string) string {
	var out string
	if o[name].IsKnown() && !o[name].IsNull() && o[name].As(&out) != nil {
		return ""
	}
	return out
}

// number returns an integer, which is 0 if it is null or unknown.
func (o object) number(name string) int64 {
	var out big.Float
	if o[name].IsKnown() && !o[name].IsNull() && o[name].As(&out) != nil {
		return 0
	}
	n, _ := out.Int64()
	return n
}
