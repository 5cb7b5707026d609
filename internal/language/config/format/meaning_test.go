package format_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/internal/language/config/format"
)

// reporter is what both kinds of tests have.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameMeaning fails the test unless two sources say the same, apart from what the formatter is there to
// rewrite.
func sameMeaning(t reporter, before, after string) {
	t.Helper()
	want, got := meaning(t, before), meaning(t, after)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q became %q, which means something else, -want +got:\n%s", before, after, diff)
	}
	if diff := cmp.Diff(comments(before), comments(after)); diff != "" {
		t.Fatalf("%q became %q, comments -want +got:\n%s", before, after, diff)
	}
}

// meaning lists what a source declares, without layout.
func meaning(t reporter, src string) []string {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(src), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%q cannot be parsed: %s", src, diags)
	}
	return content([]byte(src), f.Body.(*hclsyntax.Body), "", 0)
}

func content(src []byte, body *hclsyntax.Body, parent string, depth int) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		expr := body.Attributes[name].Expr
		text := words(expr.Range().SliceBytes(src))
		if parent == "variable" && depth == 1 && name == "type" {
			plain := map[string]string{`"string"`: "string", `"list"`: "list(string)", `"map"`: "map(string)", "list": "list(any)", "map": "map(any)", "set": "set(any)"}
			if p, ok := plain[string(expr.Range().SliceBytes(src))]; ok {
				text = words([]byte(p))
			}
		}
		for w, ok := expr.(*hclsyntax.TemplateWrapExpr); ok; w, ok = expr.(*hclsyntax.TemplateWrapExpr) {
			expr = w.Wrapped
			text = words(expr.Range().SliceBytes(src))
		}
		out = append(out, fmt.Sprintf("%s = %q", name, text))
	}
	for _, b := range body.Blocks {
		out = append(out, fmt.Sprintf("%s %q", b.Type, b.Labels))
		for _, line := range content(src, b.Body, b.Type, depth+1) {
			out = append(out, "  "+line)
		}
	}
	return out
}

// words are the tokens of an expression. Parentheses are left out, since the formatter may add some around
// all of it.
func words(src []byte) []string {
	tokens, _ := hclsyntax.LexExpression(src, "", hcl.InitialPos)
	var out []string
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenComment, hclsyntax.TokenOParen, hclsyntax.TokenCParen, hclsyntax.TokenEOF:
		case hclsyntax.TokenCHeredoc:
			out = append(out, strings.TrimSpace(string(t.Bytes)))
		default:
			out = append(out, string(t.Bytes))
		}
	}
	return out
}

func comments(src string) []string {
	tokens, _ := hclsyntax.LexConfig([]byte(src), "", hcl.InitialPos)
	out := []string{}
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenComment {
			out = append(out, string(bytes.TrimSpace(t.Bytes)))
		}
	}
	return out
}

// TestFormattedStays formats random configurations twice.
func TestFormattedStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := strings.Join(drawBody(t, 0), "")
		once, diags := format.Source([]byte(src), "main.tf")
		if diags.HasErrors() {
			t.Fatalf("%q: %v", src, diags)
		}
		sameMeaning(t, src, string(once))
		twice, diags := format.Source(once, "main.tf")
		if diags.HasErrors() || !bytes.Equal(once, twice) {
			t.Fatalf("formatting %q again: got %q, %v, want it unchanged: %q", src, twice, diags, once)
		}
	})
}

func drawBody(t *rapid.T, depth int) []string {
	gap := rapid.SampledFrom([]string{"", " ", "  ", "\t"})
	var out []string
	for i := range rapid.IntRange(0, 5).Draw(t, "n") {
		name := fmt.Sprintf("%s%d", strings.Repeat("n", rapid.IntRange(1, 6).Draw(t, "length")), i)
		out = append(out, gap.Draw(t, "indent"))
		switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case kind == 0 && depth < 3:
			label := rapid.SampledFrom([]string{"", " x", ` "x"`, ` x "y"`, ` "x" y`, ` "%x"`}).Draw(t, "label")
			out = append(out, name, label, gap.Draw(t, "gap"), "{", gap.Draw(t, "gap"), "\n")
			out = append(out, drawBody(t, depth+1)...)
			out = append(out, gap.Draw(t, "gap"), "}")
		case kind == 1:
			out = append(out, rapid.SampledFrom([]string{"# c", "// c", "/* c */", "/* c\n c */", ""}).Draw(t, "comment"))
		default:
			out = append(out, name, gap.Draw(t, "gap"), "=", gap.Draw(t, "gap"), drawExpr(t, 0), gap.Draw(t, "gap"),
				rapid.SampledFrom([]string{"", "# c", "/* c */"}).Draw(t, "comment"))
		}
		out = append(out, rapid.SampledFrom([]string{"\n", "\n\n", "\n \n\n", " \n"}).Draw(t, "end"))
	}
	return out
}

func drawExpr(t *rapid.T, depth int) string {
	if depth == 3 {
		return rapid.SampledFrom([]string{"1", "x.y", `"s"`, "null", `"a${x}"`, "x[0]", "x[*].y", "-1", "!x"}).Draw(t, "leaf")
	}
	one := func() string { return drawExpr(t, depth+1) }
	line := rapid.SampledFrom([]string{"", " ", "\n", "\n\n  "}).Draw(t, "line")
	switch rapid.IntRange(0, 7).Draw(t, "shape") {
	case 0:
		return "[" + line + one() + "," + line + one() + line + "]"
	case 1:
		return "{" + line + "a=" + one() + "\n bcd  = " + one() + line + "}"
	case 2:
		return "f(" + line + one() + "," + one() + line + ")"
	case 3:
		return "(" + line + one() + line + "+" + line + one() + line + ")"
	case 4:
		if depth == 0 { // a template within another one would be unwrapped by the next run
			return `"${` + line + strings.ReplaceAll(one(), "\"${", "\" ${") + line + `}"`
		}
		return `"x${` + one() + `}"`
	case 5:
		return "{for k,v in " + one() + ":k=>" + one() + "}"
	case 6:
		return one() + "?" + one() + ":" + one()
	default:
		return one()
	}
}

// FuzzSource formats anything: what can be parsed goes on to mean the same.
func FuzzSource(f *testing.F) {
	for _, table := range []map[string][2]string{sources, kept} {
		for _, tt := range table {
			f.Add(tt[0])
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		out, diags := format.Source([]byte(src), "main.tf")
		if !diags.HasErrors() {
			sameMeaning(t, src, string(out))
		}
	})
}
