package withheld

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

func TestSameAt(t *testing.T) {
	object := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": v}) }
	for _, row := range []struct {
		name        string
		was, config cty.Value
		path        cty.Path
		want        bool
	}{
		{"the same", object(str("x")), object(str("x")), cty.GetAttrPath("a"), true},
		{"another", object(str("x")), object(str("y")), cty.GetAttrPath("a"), false},
		{"not set", object(str("x")), object(cty.NullVal(cty.String)), cty.GetAttrPath("a"), true},
		{"neither has it", object(str("x")), object(str("x")), cty.GetAttrPath("b"), false},
	} {
		if got := SameAt(row.was, row.config, row.path); got != row.want {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}

func TestRecordOf(t *testing.T) {
	o := &state.Object{Withheld: []state.Withheld{{Path: cty.GetAttrPath("a")}, {Path: cty.GetAttrPath("b")}}}
	if got, want := RecordOf(o, cty.GetAttrPath("b")), &o.Withheld[1]; got != want {
		t.Errorf("got %v, want the record of the object", got)
	}
	if got := RecordOf(o, cty.GetAttrPath("c")); got != nil {
		t.Errorf("got %v for an attribute without a record, want nil", got)
	}
	if got := RecordOf(nil, cty.GetAttrPath("a")); got != nil {
		t.Errorf("got %v for no object, want nil", got)
	}
}

func TestConsumersOf(t *testing.T) {
	at := func(name string) addr.Instance {
		return addr.Instance{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: name}}
	}
	c := &plan.Change{Withheld: []plan.Withheld{
		{Path: cty.GetAttrPath("a"), Consumers: []addr.Instance{at("x")}, Missed: []addr.Instance{at("y")}},
		{Path: cty.GetAttrPath("b"), Consumers: []addr.Instance{at("z")}},
	}}
	for name, want := range map[string][]addr.Instance{"a": {at("x"), at("y")}, "b": {at("z")}, "c": nil} {
		if got := ConsumersOf(c, cty.GetAttrPath(name)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
