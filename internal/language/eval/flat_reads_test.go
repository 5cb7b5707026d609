package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestDepsThroughValues holds what blocks depend on through values that refer to each other at random against
// what was written: few values read much, and few of what is read is read by many.
func TestDepsThroughValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values, resources := rapid.SampledFrom([]int{3, 20, 60}).Draw(rt, "values"), rapid.SampledFrom([]int{3, 30, 200}).Draw(rt, "resources")
		few := rapid.SampledFrom([]int{0, 1, 4}).Draw(rt, "at most")
		reads := make([]map[string]bool, values)
		var text strings.Builder
		for i := range values {
			reads[i] = map[string]bool{}
			var terms []string
			for range rapid.IntRange(0, few).Draw(rt, "resources of it") {
				r := rapid.IntRange(0, resources-1).Draw(rt, "resource")
				terms = append(terms, fmt.Sprintf("sim_thing.r%d.id", r))
				reads[i][fmt.Sprintf("sim_thing.r%d", r)] = true
			}
			for range rapid.IntRange(0, 3).Draw(rt, "values of it") {
				if i > 0 {
					j := i - 1 - rapid.IntRange(0, min(i-1, 4)).Draw(rt, "back")
					terms = append(terms, fmt.Sprintf("local.v%d", j))
					maps.Copy(reads[i], reads[j])
				}
			}
			fmt.Fprintf(&text, "locals {\n  v%d = [%s]\n}\nresource \"sim_thing\" \"c%d\" { any = local.v%d }\n", i, strings.Join(terms, ", "), i, i)
		}
		for i := range resources {
			fmt.Fprintf(&text, "resource \"sim_thing\" \"r%d\" {}\n", i)
		}
		cfg, diags := compile(t, text.String())
		if diags.HasErrors() {
			rt.Fatal(lines(diags))
		}
		w := cfgWorld(t, cfg, Planning, nil)
		order := make([]int, values)
		for i := range order {
			order[i] = i
		}
		for _, i := range rapid.Permutation(order).Draw(rt, "order") {
			got := strings.Fields(w.deps(fmt.Sprintf("sim_thing.c%d", i)))
			want := slices.Sorted(maps.Keys(reads[i]))
			slices.Sort(got)
			if d := cmp.Diff(want, got); len(want)+len(got) > 0 && d != "" {
				rt.Fatalf("c%d (-want +got):\n%s\n%s", i, d, text.String())
			}
		}
		w.clean()
	})
}

// TestGatheredIsBounded has a chain of values that each read one thing more: the first keep what they read,
// the others leave it to who asks, and nothing is lost.
func TestGatheredIsBounded(t *testing.T) {
	const values = 2 * maxFlatReads
	text := "locals { v0 = sim_thing.r0.id }\n"
	for i := 1; i < values; i++ {
		text += fmt.Sprintf("locals { v%d = \"${local.v%d}${sim_thing.r%d.id}\" }\n", i, i-1, i)
	}
	for i := range values {
		text += fmt.Sprintf("resource \"sim_thing\" \"r%d\" {}\nresource \"sim_thing\" \"c%d\" { name = local.v%d }\n", i, i, i)
	}
	cfg, diags := compile(t, text)
	if diags.HasErrors() {
		t.Fatal(lines(diags))
	}
	w := cfgWorld(t, cfg, Planning, nil)
	for i := range values {
		if got := len(strings.Fields(w.deps(fmt.Sprintf("sim_thing.c%d", i)))); got != i+1 {
			t.Errorf("c%d depends on %d resources, want %d", i, got, i+1)
		}
		if kept := w.run.Root.locals[fmt.Sprintf("v%d", i)].flatReads(w.task) != nil; kept != (i < maxFlatReads) {
			t.Errorf("v%d keeps what it reads: got %t, want %t", i, kept, (i < maxFlatReads))
		}
	}
	w.clean()
}
