package explain

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func TestComparison(t *testing.T) {
	t.Parallel()
	secret := cty.StringVal("CANARY").Mark(value.Sensitive)
	object := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": v}) }
	for name, tt := range map[string]struct {
		before, after cty.Value
		only          cty.Path
		want          []string
	}{
		"text":               {object(cty.StringVal("x")), object(cty.StringVal("y")), nil, []string{`a changes from "x" to "y"`}},
		"same":               {object(cty.StringVal("x")), object(cty.StringVal("x")), nil, nil},
		"added":              {object(cty.NullVal(cty.String)), object(cty.StringVal("y")), nil, []string{`a changes from null to "y"`}},
		"unknown":            {object(cty.StringVal("x")), object(cty.UnknownVal(cty.String)), nil, []string{`a changes from "x" to a value that is known after apply`}},
		"sensitive":          {object(cty.StringVal("x")), object(secret), nil, []string{"a changes (sensitive)"}},
		"sensitive, unknown": {object(secret), object(cty.UnknownVal(cty.String)), nil, []string{"a changes (sensitive)"}},
		"sensitive in a set": {object(cty.SetVal([]cty.Value{cty.StringVal("x")})), object(cty.SetVal([]cty.Value{secret})), nil, []string{"a changes (sensitive)"}},
		"sensitive map": {
			object(cty.MapVal(map[string]cty.Value{"k": cty.StringVal("x")}).Mark(value.Sensitive)), object(cty.MapVal(map[string]cty.Value{"k": cty.StringVal("y")})), nil,
			[]string{`a changes (sensitive)`},
		},
		"element":   {object(cty.ListVal([]cty.Value{cty.Zero, cty.Zero})), object(cty.ListVal([]cty.Value{cty.Zero, cty.NumberIntVal(2)})), nil, []string{"a[1] changes from 0 to 2"}},
		"length":    {object(cty.ListVal([]cty.Value{cty.Zero})), object(cty.ListVal([]cty.Value{cty.Zero, cty.Zero})), nil, []string{"a changes"}},
		"elsewhere": {object(cty.StringVal("x")), object(cty.StringVal("y")), cty.GetAttrPath("b"), nil},
		"within":    {object(object(cty.True)), object(object(cty.False)), cty.GetAttrPath("a").GetAttr("a"), []string{"a.a changes from true to false"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &comparison{only: tt.only}
			w.compare(tt.before, tt.after, nil, false)
			var got []string
			for _, d := range w.found {
				got = append(got, d.text("changes"))
			}
			if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
