package eval

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// TestCountObjects has the values of count for indexes that share them, and for later ones.
func TestCountObjects(t *testing.T) {
	c := &countObjects{}
	for _, i := range []int{0, 7, len(c) - 1, len(c), 5000} {
		want := cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(int64(i))})
		for range 2 {
			if got := c.of(i); !got.RawEquals(want) {
				t.Errorf("index %d: got %#v, want %#v", i, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { c.of(7) }); n > 0 {
		t.Errorf("allocations for an index that was used before: got %g, want 0", n)
	}
}
