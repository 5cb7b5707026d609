package value

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestEquals(t *testing.T) {
	seal := func(v cty.Value, ty cty.Type) Durable {
		d, err := Seal(v, ty, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	x, y := seal(cty.StringVal("x"), cty.String), seal(cty.StringVal("y"), cty.String)
	dynamic := seal(cty.StringVal("x"), cty.DynamicPseudoType)
	sensitive := seal(cty.StringVal("x").Mark(Sensitive), cty.String)
	for _, row := range []struct {
		name string
		a, b Durable
		want bool
	}{
		{"the same", x, x, true},
		{"another", x, y, false},
		{"packed in another way", x, dynamic, true},
		{"sensitive", x, sensitive, true},
		{"no value and one", Durable{}, x, false},
		{"one and no value", x, Durable{}, false},
		{"no values", Durable{}, Durable{}, false},
	} {
		if got := row.a.Equals(row.b); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}
