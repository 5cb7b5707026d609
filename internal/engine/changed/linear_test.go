package changed

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
)

// nested has n instances of a module that calls another one.
func nested(n int) (main, module string) {
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, "k%d = 1\n", i)
	}
	main = "resource \"t\" \"a\" {}\nmodule \"m\" {\n  source = \"./m\"\n  for_each = {\n" + keys.String() + "}\n  v = t.a.id\n}\noutput \"o\" { value = module.m }\n"
	return main, inner + "module \"n\" {\n  source = \"./n\"\n  for_each = { a = 1, b = 1 }\n}\n"
}

// stored returns the records of n instances of the nested modules.
func stored(n int) (out [][]string) {
	for i := range n {
		in := fmt.Sprintf("module.m[\"k%d\"]", i)
		out = append(out, []string{in + ".t.i", "module.m.resource.t.i", "t.a"}, []string{in + ".t.j[0]", "module.m.resource.t.j"})
		for _, k := range []string{"a", "b"} {
			out = append(out, []string{fmt.Sprintf("%s.module.n[%q].t.k", in, k), "module.m.module.n.resource.t.k"})
		}
	}
	return out
}

// each returns one text for each of n instances of the module.
func each(n int, format string) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, fmt.Sprintf("module.m[\"k%d\"]", i)))
	}
	return out
}

// TestWorkIsLinear counts the queries and the memory of plans with work in many module instances, and of ones
// with twice as many. Each block is looked for once, however many of its instances have work.
func TestWorkIsLinear(t *testing.T) {
	for name, c := range map[string]struct {
		l     func(n int) ledger
		asked int
	}{
		"calls in modules":       {func(n int) ledger { return ledger{due: each(n, "repetition %s.module.n"), records: stored(n)} }, 1},
		"repetitions in modules": {func(n int) ledger { return ledger{due: each(n, "repetition %s.t.j"), records: stored(n)} }, 1},
		"all module instances":   {func(n int) ledger { return ledger{due: []string{"repetition module.m"}, records: stored(n)} }, 3},
		"new module instances":   {func(int) ledger { return ledger{due: []string{"repetition module.m"}} }, 3},
		"units without records":  {func(n int) ledger { return ledger{due: append(each(n, "%s.t.j[0]"), "repetition module.m")} }, 3},
		"values in modules":      {func(n int) ledger { return ledger{due: each(n, "check %s.var.v"), records: stored(n)} }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			measure := func(n int) uint64 {
				l := c.l(n)
				main, module := nested(n)
				p := newPlanning(t, &l, main, module)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				p.plan()
				runtime.ReadMemStats(&after)
				if !p.ok || p.asked != c.asked {
					t.Errorf("got ok=%v, %d queries and %v, want %d queries", p.ok, p.asked, p.run.Diags.List(), c.asked)
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			const n = 100
			measure(2)
			one, two := measure(n), measure(2*n)
			t.Logf("%d bytes and %d with twice as much: ratio %.2f", one, two, float64(two)/float64(one))
			if float64(two) > 2.5*float64(one) {
				t.Errorf("got %d bytes for %d, %d for twice as many; want linear growth", one, n, two)
			}
		})
	}
}

// TestPlaces looks for module instances in others.
func TestPlaces(t *testing.T) {
	parse := func(text string) addr.ModuleInstance {
		m, err := addr.ParseModuleInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	p := places{parse(`module.m["x"]`): true, parse("module.n.module.o"): true}
	for text, want := range map[string][2]bool{
		`module.m["x"]`: {true, true}, `module.m["x"].module.z`: {true, true}, `module.m["y"]`: {}, "module.n": {},
		"module.n.module.o": {true, true}, `module.n["k"].module.o[1]`: {false, true}, `module.n["k"].module.o[1].module.z`: {},
	} {
		if got := [2]bool{p.have(parse(text)), p.haveOrStandFor(parse(text))}; got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// BenchmarkNested plans calls, repetitions and values in many module instances, and in twice as many.
func BenchmarkNested(b *testing.B) {
	for _, n := range []int{200, 400} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := ledger{due: slices.Concat(each(n, "repetition %s.module.n"), each(n, "repetition %s.t.j"), each(n, "check %s.var.v")), records: stored(n)}
			main, module := nested(n)
			for range b.N {
				b.StopTimer()
				p := newPlanning(b, &l, main, module)
				b.StartTimer()
				p.plan()
			}
		})
	}
}
