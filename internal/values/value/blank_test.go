package value_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestBlank blanks the computed values of this run alone.
func TestBlank(t *testing.T) {
	now := value.Computed{By: "a.b.c", Version: "1"}
	past, early := value.Computed{By: "a.b.c", Version: "1", Past: true}, value.Computed{By: "a.b.c"}
	secret := cty.StringVal("x").Mark(value.Sensitive).Mark(now)
	nested := cty.ObjectVal(map[string]cty.Value{"in": cty.StringVal("x").Mark(value.Sensitive)}).Mark(now)
	for _, tt := range []struct {
		name     string
		v, want  cty.Value
		blank    bool
		wasBlank bool
	}{
		{name: "no marks", v: cty.StringVal("x"), want: cty.StringVal("x")},
		{name: "of an earlier run", v: cty.UnknownVal(cty.String).Mark(past), want: cty.UnknownVal(cty.String).Mark(past)},
		{name: "not made yet", v: cty.UnknownVal(cty.String).Mark(early), want: cty.UnknownVal(cty.String).Mark(early)},
		{
			name: "in an object", blank: true,
			v:    cty.ObjectVal(map[string]cty.Value{"a": secret, "b": cty.True}),
			want: cty.ObjectVal(map[string]cty.Value{"a": cty.UnknownVal(cty.String).Mark(value.Sensitive).Mark(now), "b": cty.True}),
		},
		{name: "with marks inside", blank: true, v: nested, want: cty.UnknownVal(nested.Type()).Mark(value.Sensitive).Mark(now)},
		{name: "null", blank: true, v: cty.NullVal(cty.String).Mark(now), want: cty.UnknownVal(cty.String).Mark(now)},
		{name: "again", blank: true, wasBlank: true, v: cty.UnknownVal(cty.String).Mark(now), want: cty.UnknownVal(cty.String).Mark(now)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := value.IsBlank(tt.v); got != tt.wasBlank {
				t.Errorf("before: got blank %v, want %v", got, tt.wasBlank)
			}
			got, found := value.Blank(tt.v)
			if found != tt.blank || !got.RawEquals(tt.want) {
				t.Errorf("got %#v and %v, want %#v and %v", got, found, tt.want, tt.blank)
			}
			if is := value.IsBlank(got); is != tt.blank {
				t.Errorf("after: got blank %v, want %v", is, tt.blank)
			}
		})
	}
	if part := cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String)}).Mark(now); !value.IsBlank(part) {
		t.Errorf("got false for %#v, want true", part)
	}
	if known := cty.NumberIntVal(1).Mark(now); value.IsBlank(known) {
		t.Errorf("got true for %#v, want false", known)
	}
}
