package object

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
)

func TestReads(t *testing.T) {
	reads := NewReads(true)
	a, err := addr.ParseInstance("x.a")
	if err != nil {
		t.Fatal(err)
	}
	op, asked := &Op{Obj: addr.Object{Instance: a}}, 0
	read := func(ok bool) (Prior, bool) {
		return reads.Once(op, func() (Prior, bool) {
			asked++
			return Prior{Value: cty.StringVal("v")}, ok
		})
	}
	if _, ok := read(false); ok || reads.Has(op.Obj) {
		t.Error("got an object that could not be read, want none")
	}
	for range 2 {
		if pr, ok := read(true); !ok || pr.Value.IsNull() || pr.Value.AsString() != "v" {
			t.Errorf("got %v, %t, want the object that was read", pr.Value, ok)
		}
	}
	if asked != 2 || !reads.Has(op.Obj) {
		t.Errorf("asked %d times, kept %t, want 2 times, and that it is kept", asked, reads.Has(op.Obj))
	}
}

// TestReadsAreNotKept reads an object twice for a plan that is made once.
func TestReadsAreNotKept(t *testing.T) {
	reads, op, asked := NewReads(false), &Op{}, 0
	for range 2 {
		reads.Once(op, func() (Prior, bool) {
			asked++
			return Prior{}, true
		})
	}
	if asked != 2 || reads.Has(op.Obj) {
		t.Errorf("asked %d times, kept %t, want 2 times, and that nothing is kept", asked, reads.Has(op.Obj))
	}
}

func TestPlannedImport(t *testing.T) {
	var none *ImportTarget
	if got := none.Planned(&Op{}); got != nil {
		t.Errorf("got %v, want nothing without a target", got)
	}
	if got := (&ImportTarget{ID: "a-1"}).Planned(&Op{}); got.ID != "a-1" || !got.Identity.IsNull() {
		t.Errorf("got %v, want the id", got)
	}
	identity := cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal("a")})
	got, err := (&ImportTarget{Identity: identity}).Planned(&Op{}).Identity.Unmarked()
	if err != nil || !got.RawEquals(identity) {
		t.Errorf("got %v, %v, want the identity", got, err)
	}
}
