package leak

import (
	"fmt"
	"slices"
	"testing"
)

// TestAwait asks two for values, one of them twice at once, and hears what they say meanwhile.
func TestAwait(t *testing.T) {
	g := New()
	var got []string
	say := func(name string, i int) { g.WhenKnown(name, func() { got = append(got, fmt.Sprint(name, i)) }) }
	want := func(want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	say("a", 1)
	want("a1")
	first, second := g.Await("a"), g.Await("a")
	say("a", 2)
	say("b", 1)
	say("a", 3)
	want("a1", "b1")
	first()
	want("a1", "b1")
	second()
	want("a1", "b1", "a2", "a3")

	again := g.Await("a")
	g.WhenKnown("a", func() { say("a", 5) }) // said while what has waited is called
	say("a", 4)
	again()
	want("a1", "b1", "a2", "a3", "a4", "a5")
	if len(g.awaited.by) != 0 {
		t.Errorf("awaited: got %v, want nothing left", g.awaited.by)
	}

	again = g.Await("a")
	g.WhenKnown("a", func() { // asks once more, and hears the answer, while what has waited is called
		nested := g.Await("a")
		say("a", 7)
		nested()
		got = append(got, "a6")
	})
	again()
	want("a1", "b1", "a2", "a3", "a4", "a5", "a6", "a7")

	var none *Guard
	done := none.Await("a")
	none.WhenKnown("a", func() { got = nil })
	want()
	done()
}
