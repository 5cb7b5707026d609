package leak

import (
	"encoding/base64"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// wrapped returns a text in Base64, after so many other bytes, in lines as programs write it.
func wrapped(before int, s string) string {
	code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xfe", before) + s + strings.Repeat("\xfe", 100)))
	return inLinesOf(code, 64, "\n")
}

// TestHolds looks at each place of an object where a value may stand.
func TestHolds(t *testing.T) {
	const secret = "s3cret-s3cret"
	g := guardOf(secret)
	g.Remember(token, cty.MustParseNumberVal("4711081512").Mark(value.Sensitive), cty.Number)
	number, text := cty.MustParseNumberVal("4711081512"), cty.StringVal("<"+secret+">")
	named := cty.Object(map[string]cty.Type{"a": cty.Bool, secret: cty.Bool})
	plain := cty.Object(map[string]cty.Type{"a": cty.Bool, "b": cty.List(cty.String)})
	attribute := func(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": cty.True, "b": v}) }
	for name, test := range map[string]struct {
		v    cty.Value
		want bool
	}{
		"nothing":             {cty.NilVal, false},
		"text":                {text, true},
		"another text":        {cty.StringVal("another-text-17"), false},
		"marked":              {text.Mark(value.Sensitive), true},
		"across lines":        {cty.StringVal(wrapped(40, secret)), true},
		"number":              {number, true},
		"another number":      {cty.MustParseNumberVal("4711081513"), false},
		"infinite":            {cty.NumberVal(new(big.Float).SetInf(true)), false},
		"boolean":             {cty.True, false},
		"attribute":           {attribute(text), true},
		"other attributes":    {attribute(cty.StringVal("another-text-17")), false},
		"name":                {cty.ObjectVal(map[string]cty.Value{secret: cty.True}), true},
		"key":                 {cty.MapVal(map[string]cty.Value{secret: cty.True}), true},
		"element of a map":    {cty.MapVal(map[string]cty.Value{"k": text}), true},
		"element of a list":   {cty.ListVal([]cty.Value{cty.StringVal("a"), text}), true},
		"element of a set":    {cty.SetVal([]cty.Value{cty.StringVal("a"), text}), true},
		"element of a tuple":  {cty.TupleVal([]cty.Value{cty.True, number}), true},
		"other elements":      {cty.TupleVal([]cty.Value{cty.True, cty.ListValEmpty(cty.String)}), false},
		"null":                {cty.NullVal(cty.String), false},
		"null number":         {cty.NullVal(cty.Number), false},
		"unknown":             {cty.UnknownVal(cty.String), false},
		"null, named":         {attribute(cty.NullVal(named)), true},
		"unknown, named":      {attribute(cty.UnknownVal(named)), true},
		"null list, named":    {cty.NullVal(cty.List(named)), true},
		"unknown map, named":  {cty.UnknownVal(cty.Map(cty.Set(named))), true},
		"null tuple, named":   {cty.NullVal(cty.Tuple([]cty.Type{plain, named})), true},
		"null object, deeper": {cty.NullVal(cty.Object(map[string]cty.Type{"a": cty.Bool, "b": named})), true},
		"null, other names":   {cty.NullVal(cty.Tuple([]cty.Type{plain, cty.Map(plain)})), false},
		"untyped":             {cty.DynamicVal, false},
	} {
		if got := g.Holds(test.v); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

// TestLinesAcrossLines has a line of a value, as it is written in several, go across lines that are shorter:
// it is hidden, and no value.
func TestLinesAcrossLines(t *testing.T) {
	g := guardOf(strings.Repeat("s3cret-beginning-", 3) + "and more of it, which is not the same")
	code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s3cret-beginning-", 3) + "but then something else that others have"))
	text := inLinesOf(code, 60, "\n")
	if g.Contains(text) {
		t.Error("a value is found where only its beginning is")
	}
	if out := g.Redact(text); strings.Contains(out, code[:60]) || !strings.Contains(out, Withheld) {
		t.Errorf("shown: %s", out)
	}
}

// TestOrder finds values in the order in which they begin, whether or not they go across lines: what is
// replaced later would otherwise be shown.
func TestOrder(t *testing.T) {
	const secret = "s3cret-s3cret"
	g := guardOf(secret)
	text := "first " + secret + "\n" + wrapped(40, secret) + "\nthen " + secret + "\n" + wrapped(43, secret) + "\n" + secret
	at := 0
	for m := range g.Matches(text) {
		if m.Start < at {
			t.Errorf("after %d, %d comes", at, m.Start)
		}
		at = m.Start
	}
	out := g.Redact(text)
	if n := strings.Count(out, Withheld); n != 5 || strings.Contains(out, "s3cret") {
		t.Errorf("%d are replaced, want 5: %s", n, out)
	}
	for most := 1; most <= 5; most++ { // who has seen enough leaves
		n := 0
		for range g.Matches(text) {
			if n++; n == most {
				break
			}
		}
		if n != most {
			t.Errorf("%d were found, want %d", n, most)
		}
	}
}

// TestTextsAreReadOnce counts how often the texts in the open are read: once for all values, until either
// changes.
func TestTextsAreReadOnce(t *testing.T) {
	g := New()
	for _, s := range []string{"hunter2-hunter2", "s3cret-s3cret"} {
		g.Remember(token, cty.StringVal(s), cty.String)
	}
	reads := 0
	files := func(yield func([]byte) bool) {
		reads++
		yield([]byte("hunter2-hunter2"))
	}
	expect := func(when string, want int) {
		t.Helper()
		for range 3 {
			if got := g.Redact("hunter2-hunter2 s3cret-s3cret"); got != "hunter2-hunter2 "+Withheld {
				t.Errorf("%s: got %s, want %s", when, got, "hunter2-hunter2 "+Withheld)
			}
		}
		if reads != want {
			t.Errorf("%s: read %d times, want %d", when, reads, want)
		}
	}
	defer g.Publish(files)()
	expect("at first", 1)
	g.Remember(token, cty.StringVal("another-17"), cty.String)
	expect("with a value more, which does not occur", 1)
	if g.Redact("another-17") != Withheld || reads != 2 {
		t.Errorf("new value: got %d reads, want 2, and the value withheld", reads)
	}
	end := g.Stored(slices.Values([][]byte{[]byte("another-17")}))
	expect("with the state", 3)
	if g.Redact("another-17") != "another-17" {
		t.Error("what the state has is hidden")
	}
	end()
	expect("without the state", 4)
	if g.Redact("another-17") != Withheld {
		t.Error("what the state had is shown")
	}
}
