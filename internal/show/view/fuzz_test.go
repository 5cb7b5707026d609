package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
)

// anyValue draws a value of any shape: null, unknown and sensitive parts included.
func anyValue(t *rapid.T, depth int, label string) cty.Value {
	v := bareValue(t, depth, label)
	if rapid.IntRange(0, 9).Draw(t, label+" sensitive") == 0 {
		return v.Mark(value.Sensitive)
	}
	return v
}

func bareValue(t *rapid.T, depth int, label string) cty.Value {
	top := 10
	if depth == 0 {
		top = 6
	}
	words := rapid.SampledFrom([]string{"", "a", "b", "c", "a\nb", "a\nb\n", "a\nc", `{"a":[1,2]}`, `{"a":[1,3]}`, ` {"a": [1,2]} `, `["x"]`, "{", "[1,", "\x00\x1b", "ü€😀", "null"})
	switch rapid.IntRange(0, top).Draw(t, label) {
	case 0:
		return cty.NullVal(rapid.SampledFrom([]cty.Type{cty.String, cty.DynamicPseudoType, cty.List(cty.String)}).Draw(t, label))
	case 1:
		return cty.UnknownVal(rapid.SampledFrom([]cty.Type{cty.String, cty.DynamicPseudoType, cty.Map(cty.String), cty.Set(cty.Bool)}).Draw(t, label))
	case 2:
		return cty.BoolVal(rapid.Bool().Draw(t, label))
	case 3:
		return cty.NumberIntVal(rapid.Int64Range(-2, 2).Draw(t, label))
	case 4, 5, 6:
		return cty.StringVal(words.Draw(t, label))
	case 7:
		n := rapid.IntRange(0, 4).Draw(t, label)
		elems := make([]cty.Value, n)
		for i := range elems {
			elems[i] = anyValue(t, depth-1, label)
		}
		return cty.TupleVal(elems)
	case 8:
		elems := map[string]cty.Value{}
		for range rapid.IntRange(0, 4).Draw(t, label) {
			elems[words.Draw(t, label)] = anyValue(t, depth-1, label)
		}
		return cty.ObjectVal(elems)
	case 9:
		elems := map[string]cty.Value{"k": cty.StringVal(words.Draw(t, label))}
		for range rapid.IntRange(0, 4).Draw(t, label) {
			elems[words.Draw(t, label)] = cty.StringVal(words.Draw(t, label))
		}
		return cty.MapVal(elems)
	default:
		elems := []cty.Value{cty.StringVal(words.Draw(t, label)), cty.UnknownVal(cty.String)}
		for range rapid.IntRange(0, 4).Draw(t, label) {
			elems = append(elems, cty.StringVal(words.Draw(t, label)))
		}
		if rapid.Bool().Draw(t, label) {
			return cty.SetVal(elems)
		}
		return cty.ListVal(elems)
	}
}

// Whatever the values are, a plan can be shown: nothing panics, no control character comes through, and the
// document is valid.
func checkRender(t *rapid.T) {
	names := []string{"id", "tags", "x", "wo"}
	object := func(label string) cty.Value {
		attrs := map[string]cty.Value{}
		for _, n := range names {
			attrs[n] = anyValue(t, 3, label+n)
		}
		attrs["wo"] = cty.NullVal(cty.String)
		return cty.ObjectVal(attrs)
	}
	sealed := func(v cty.Value) value.Durable {
		d, err := value.Seal(v, cty.DynamicPseudoType, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	block := &schema.Block{Attributes: map[string]*schema.Attribute{
		"id": {Type: cty.DynamicPseudoType}, "tags": {Type: cty.DynamicPseudoType, Sensitive: rapid.Bool().Draw(t, "schema sensitive")},
		"wo": {Type: cty.String, WriteOnly: true},
		"x":  {Nested: &schema.Object{Nesting: rapid.SampledFrom([]schema.Nesting{schema.Single, schema.List, schema.Set, schema.Map}).Draw(t, "nesting"), Attributes: map[string]*schema.Attribute{"a": {Type: cty.DynamicPseudoType}}}},
	}}
	var s document.Schemas
	if rapid.Bool().Draw(t, "no schema") {
		s = oneSchema{block}
		names = []string{"id", "tags"}
	}
	before, after := object("before"), object("after")
	c := &plan.Change{Action: plan.Update, Before: sealed(before), After: sealed(after), RequiredReplace: []cty.Path{cty.GetAttrPath("x").IndexInt(0)}}
	c.Addr.Resource.Type, c.Addr.Resource.Name = "t", "n"
	p := &plan.Plan{Changes: []*plan.Change{c}, Outputs: []*plan.OutputChange{{Name: "o", Action: plan.Update, Before: sealed(before), After: sealed(after)}}}
	var buf bytes.Buffer
	o := Options{Width: 40, ShowSensitive: rapid.Bool().Draw(t, "show")}
	if err := Plan(&buf, p, nil, s, o); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(buf.String(), "\x00\x1b") {
		t.Fatalf("control characters: %q", buf.String())
	}
	doc, err := document.Plan(p, nil, nil, nil, testVersions)
	if err != nil || !json.Valid(doc) {
		t.Fatalf("%s: %v", doc, err)
	}
	_ = FormatValue(before, o)
}

func TestRenderAnything(t *testing.T) { rapid.Check(t, checkRender) }

func FuzzRender(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkRender)) }

// A value that doesn't change is never shown as changed.
func TestSameIsSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(t, 3, "v")
		if !v.IsWhollyKnown() {
			return
		}
		if n := (differ{}).value(v, v, free, nil); n.effect != same {
			t.Fatalf("%#v has effect: got %d, want %d", v, n.effect, same)
		}
	})
}

func FuzzTame(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\x1b]8;;http://x\x07link\x1b]8;;\x07\r\n\x9b2J")
	f.Fuzz(func(t *testing.T, s string) {
		if got := tamePlain(s); strings.IndexFunc(got, hostile) >= 0 {
			t.Errorf("%q became %q", s, got)
		}
		got := tame(s)
		for rest := got; rest != ""; {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				break
			}
			rest = rest[i:]
			end := strings.IndexByte(rest, 'm')
			if end < 0 || !isColour(rest[:end+1]) {
				t.Fatalf("%q became %q", s, got)
			}
			rest = rest[end+1:]
		}
	})
}

// bigPlan has n changes, each with a list, a map and a text of size elements.
func bigPlan(tb testing.TB, n, size int) *plan.Plan {
	object := func(shift int) value.Durable {
		var list []cty.Value
		entries := map[string]cty.Value{}
		var text strings.Builder
		for i := range size {
			list = append(list, cty.StringVal(fmt.Sprint(i+shift*i%7)))
			entries[fmt.Sprint("k", i)] = cty.StringVal(fmt.Sprint(i * shift))
			fmt.Fprintln(&text, i+shift)
		}
		return fixture.Seal(tb, cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("x"), "l": cty.ListVal(list), "m": cty.MapVal(entries), "t": cty.StringVal(text.String())}))
	}
	before, after := object(1), object(2)
	p := &plan.Plan{}
	for i := range n {
		c := &plan.Change{Action: plan.Update, Before: before, After: after}
		c.Addr.Resource.Type, c.Addr.Resource.Name = "t", fmt.Sprint("n", i)
		p.Changes = append(p.Changes, c)
	}
	return p
}

// Twice the plan is twice the work, in objects and bytes that are allocated: many changes, and large values
// in one.
func TestRenderingIsLinear(t *testing.T) {
	measure := func(n, size int) (objects, bytes uint64) {
		p := bigPlan(t, n, size)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := Plan(io.Discard, p, nil, nil, Options{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
	}
	measure(1, 10) // what is made once is not counted
	for _, grow := range []struct{ n, size, n2, size2 int }{{200, 10, 400, 10}, {1, 4000, 1, 8000}} {
		objects, bytes := measure(grow.n, grow.size)
		objects2, bytes2 := measure(grow.n2, grow.size2)
		t.Logf("%d×%d: ratios %.2f and %.2f", grow.n2, grow.size2, float64(objects2)/float64(objects), float64(bytes2)/float64(bytes))
		// Growth by doubling may make it a little more; quadratic growth would make it four times as much.
		if float64(objects2) > 2.5*float64(objects) || float64(bytes2) > 2.8*float64(bytes) {
			t.Errorf("%d×%d took %d objects and %d bytes, %d×%d took %d and %d", grow.n, grow.size, objects, bytes, grow.n2, grow.size2, objects2, bytes2)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	p := bigPlan(b, 100, 20)
	b.ReportAllocs()
	for b.Loop() {
		var buf bytes.Buffer
		if err := Plan(&buf, p, nil, nil, Options{Color: true}); err != nil {
			b.Fatal(err)
		}
	}
}
