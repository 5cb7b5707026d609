package object

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// TestForesee foresees the parts of an object that its configuration gives, and no write-only ones. A
// configuration with errors says nothing about the object.
func TestForesee(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	v, sensitive := Foresee(&f.Op, thing(attrs{"name": str("a").Mark(value.Sensitive), "secret": str(secret).Mark(value.Ephemeral).Mark(value.Sensitive)}))
	want := thing(attrs{"id": cty.UnknownVal(cty.String), "name": str("a"), "pin": cty.UnknownVal(cty.String)})
	if !v.RawEquals(want) {
		t.Errorf("got %#v, want %#v", v, want)
	}
	if len(sensitive) != 1 || !sensitive[0].Equals(cty.GetAttrPath("name")) {
		t.Errorf("sensitive: got %v, want the name alone", sensitive)
	}
	v, sensitive = Foresee(&f.Op, cty.NilVal)
	if want := cty.UnknownVal(block().Type()); !v.RawEquals(want) || sensitive != nil {
		t.Errorf("without a configuration: got %#v, sensitive %v, want %#v", v, sensitive, want)
	}
}
