package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const sourceText = "# first\nresource \"a\" \"b\" {\n  x = \"${var.pub}-${var.pw}\" + var.obj.n + var.tok + var.both\n  y = 1\n}\n"

// exprDiag is an error about the expression of x, with values of every sensitivity in scope.
func exprDiag(t testing.TB) (diag.List, document.Sources) {
	t.Helper()
	src := document.Sources{"main.tf": []byte(sourceText)}
	file, diags := hclsyntax.ParseConfig(src["main.tf"], "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	attr := file.Body.(*hclsyntax.Body).Blocks[0].Body.Attributes["x"]
	rng := attr.Expr.Range()
	vars := cty.ObjectVal(map[string]cty.Value{
		"pub": cty.StringVal("seen"), "pw": cty.StringVal("hunter2").Mark(value.Sensitive), "tok": cty.StringVal("hunter3").Mark(value.Ephemeral),
		"both": cty.StringVal("hunter4").Mark(value.Sensitive).Mark(value.Ephemeral),
		"obj":  cty.ObjectVal(map[string]cty.Value{"n": cty.ListVal([]cty.Value{cty.StringVal("x").Mark(value.Ephemeral)})}),
	})
	return diag.List{{
		Summary: "Invalid operand", Detail: "This value is not a number, and numbers are what the operator needs on both of its sides.\n  keep   this",
		Subject: &rng, Expression: attr.Expr, EvalContext: &hcl.EvalContext{Variables: map[string]cty.Value{"var": vars}}, Address: "a.b",
	}}, src
}

func render(t testing.TB, list diag.List, src document.Sources, o Options) string {
	t.Helper()
	var buf bytes.Buffer
	if err := Diagnostics(&buf, list, src, o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestE24_DiagnosticRedacts(t *testing.T) {
	list, src := exprDiag(t)
	got := render(t, list, src, Options{Width: 50, ShowSensitive: true})
	want := `
Error: Invalid operand

  with a.b,
  on main.tf line 3, in resource "a" "b":
   3:   x = "${var.pub}-${var.pw}" + var.obj.n + var.tok + var.both
    ├────────────────
    │ var.both is (sensitive, ephemeral value)
    │ var.obj.n is list of string with 1 element
    │ var.pub is "seen"
    │ var.pw is (sensitive value)
    │ var.tok is (ephemeral value)

This value is not a number, and numbers are what
the operator needs on both of its sides.
  keep   this
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	boxed := render(t, list, src, Options{Width: 50, Color: true})
	if strings.Contains(boxed, "hunter") {
		t.Error("a secret is shown")
	}
	golden(t, "diagnostic.ansi.txt", boxed)
}

func TestDiagnosticJSON(t *testing.T) {
	list, src := exprDiag(t)
	list = append(list, diag.Warnf("Odd", "Something is odd.")...)
	b, err := document.Validation(list, src)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "hunter") {
		t.Errorf("a secret is shown: %s", b)
	}
	var out tfjson.ValidateOutput
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	if out.Valid || out.ErrorCount != 1 || out.WarningCount != 1 || len(out.Diagnostics) != 2 {
		t.Fatalf("head: got %s, want invalid, with one error and one warning", b)
	}
	d := out.Diagnostics[1] // after the one that has no place
	if d.Address != "a.b" || d.Range.Start != (tfjson.Pos{Line: 3, Column: 7, Byte: 33}) || *d.Snippet.Context != `resource "a" "b"` {
		t.Errorf("place: got %s, want a.b at line 3, column 7", b)
	}
	s := d.Snippet
	if got := s.Code[s.HighlightStartOffset:s.HighlightEndOffset]; !strings.HasPrefix(got, `"${var.pub}`) || !strings.HasSuffix(got, "var.both") {
		t.Errorf("highlight is %q", got)
	}
	if s.StartLine != 3 || len(s.Values) != 5 {
		t.Errorf("snippet: got %s, want line 3 with 5 values", b)
	}
	if empty, err := document.Validation(nil, nil); err != nil || !strings.Contains(string(empty), `"diagnostics": []`) {
		t.Errorf("%s, %v", empty, err)
	}
}

func TestDiagnosticPlaces(t *testing.T) {
	src := document.Sources{"f.tf": []byte("a = 1\nb = [\n  2\n]\n")}
	pos := func(line, col, b int) hcl.Pos { return hcl.Pos{Line: line, Column: col, Byte: b} }
	list := diag.List{
		{Summary: "No source", Subject: &hcl.Range{Filename: "gone.tf", Start: pos(7, 1, 99), End: pos(7, 2, 100)}},
		{Summary: "Several lines", Subject: &hcl.Range{Filename: "f.tf", Start: pos(2, 5, 10), End: pos(4, 2, 17)}},
		{Summary: "At the end", Subject: &hcl.Range{Filename: "f.tf", Start: pos(5, 1, 18), End: pos(5, 1, 18)}},
		{Summary: "Beyond the end", Subject: &hcl.Range{Filename: "f.tf", Start: pos(9, 1, 90), End: pos(9, 9, 98)}},
		{Summary: "With \x1b[31mescape\x1b[0m", Address: "x.y", Detail: "bad\x07bell"},
		{
			Summary: "Context", Subject: &hcl.Range{Filename: "f.tf", Start: pos(3, 3, 14), End: pos(3, 4, 15)},
			Context: &hcl.Range{Filename: "f.tf", Start: pos(2, 1, 6), End: pos(4, 2, 17)},
		},
	}
	golden(t, "diagnostic.places.txt", render(t, list, src, Options{}))
}

// TestContextOfABlock names the block around a place; what is about the block itself has none.
func TestContextOfABlock(t *testing.T) {
	src := document.Sources{"f.tf": []byte("odd {\n  a = 1\n}\nthing \"x\" {\n}\n")}
	at := func(b int) *hcl.Range {
		return &hcl.Range{Filename: "f.tf", Start: hcl.Pos{Line: 1, Column: 1, Byte: b}, End: hcl.Pos{Line: 1, Column: 1, Byte: b + 1}}
	}
	for b, want := range map[int]string{0: "", 8: "odd", 16: "", 22: `thing "x"`} {
		got := ""
		if context := document.Diagnostics(diag.List{{Subject: at(b)}}, src)[0].Snippet.Context; context != nil {
			got = *context
		}
		if got != want {
			t.Errorf("at %d: got %q, want %q", b, got, want)
		}
	}
}

// Programs match texts across line breaks, so these have to be where other tools of the ecosystem have them:
// a full line is one column short of the width, a summary and a line that begins with a space are never
// broken, and spaces within a line are kept.
func TestDiagnosticLineBreaks(t *testing.T) {
	nine := strings.Repeat("123456789 ", 7)
	list := diag.List{{
		Summary: nine + "in a summary that is longer than the width",
		Detail:  nine + "1234567 fits\n" + nine + "12345678 does not\n  " + nine + "is indented\nlong" + strings.Repeat("-", 80) + " word\na  b " + nine[2:] + " c def",
	}}
	want := "\nError: " + nine + "in a summary that is longer than the width\n\n" +
		nine + "1234567\nfits\n" + strings.TrimSpace(nine) + "\n12345678 does not\n  " + nine + "is indented\nlong" + strings.Repeat("-", 80) + "\nword\na  b " +
		nine[2:] + " c\ndef\n"
	if diff := cmp.Diff(want, render(t, list, nil, Options{Width: 78})); diff != "" {
		t.Error(diff)
	}
}

func TestDiagnosticOrder(t *testing.T) {
	at := func(file string, b int) *hcl.Range {
		return &hcl.Range{Filename: file, Start: hcl.Pos{Line: 1, Column: 1, Byte: b}, End: hcl.Pos{Line: 1, Column: 1, Byte: b}}
	}
	list := diag.List{
		{Summary: "4", Subject: at("b.tf", 0)},
		{Summary: "2", Subject: at("a.tf", 7)},
		{Summary: "0"},
		{Summary: "3", Subject: at("a.tf", 7)},
		{Summary: "1", Subject: at("a.tf", 3)},
	}
	var got string
	for _, d := range document.Diagnostics(list, nil) {
		got += d.Summary
	}
	if got != "01234" {
		t.Error(got)
	}
	var shown string
	for line := range strings.Lines(render(t, list, nil, Options{})) {
		if rest, ok := strings.CutPrefix(line, "Error: "); ok {
			shown += strings.TrimSpace(rest)
		}
	}
	if shown != got || list[0].Summary != "4" {
		t.Error(shown, list)
	}
}

// TestCheckWarningsStandAlone shows every assertion that is not met: each is about something else.
func TestCheckWarningsStandAlone(t *testing.T) {
	var list diag.List
	for i := range 3 {
		d := diag.At(hcl.Range{Filename: "x.tf", Start: hcl.Pos{Line: i + 1}}, "Check block assertion failed", "Number %d.", i).AsWarnings()
		d[0].Extra = diag.CheckWarning{}
		list = append(list, d...)
	}
	got := render(t, list, nil, Options{})
	for _, want := range []string{"Number 0.", "Number 1.", "Number 2."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

// TestWarningsShownOnce requires that what no later command repeats is shown in full.
func TestWarningsShownOnce(t *testing.T) {
	list := append(diag.Warnf("Left", "One.").Once(), diag.Warnf("Left", "Two.").Once()...)
	list = append(list, diag.Warnf("Other", "Details.")...)
	for _, compact := range []bool{false, true} {
		got := render(t, list, nil, Options{CompactWarnings: compact})
		if !strings.Contains(got, "One.") || !strings.Contains(got, "Two.") || strings.Contains(got, "Details.") == compact || compact && !strings.Contains(got, "- Other\n") {
			t.Errorf("compact %t:\n%s", compact, got)
		}
	}
}

func TestWarningsConsolidated(t *testing.T) {
	var list diag.List
	for i := range 3 {
		d := diag.At(hcl.Range{Filename: "x.tf", Start: hcl.Pos{Line: i + 1}}, "Deprecated", "Don't.").AsWarnings()
		list = append(list, d...)
	}
	list = append(list, diag.Warnf("Other", "Once.")...)
	got := render(t, list, nil, Options{})
	if strings.Count(got, "Deprecated") != 1 || !strings.Contains(got, "(and 2 more similar warnings elsewhere)") {
		t.Error(got)
	}
	compact := render(t, list, nil, Options{CompactWarnings: true})
	want := `
Warnings:

- Other
- Deprecated
  on x.tf line 1 (and 2 more)

To see the full warning notes, run Mayfly without -compact-warnings.
`
	if diff := cmp.Diff(want, compact); diff != "" {
		t.Error(diff)
	}
	list = append(list, diag.Errorf("Bad", "Bad.")...)
	if got := render(t, list, nil, Options{CompactWarnings: true}); !strings.Contains(got, "Don't.") {
		t.Errorf("with errors, warnings are shown in full: %s", got)
	}
}

func TestDiagnosticInFunctionCall(t *testing.T) {
	src := document.Sources{"f.tf": []byte("x = parse(var.s)\n")}
	file, diags := hclsyntax.ParseConfig(src["f.tf"], "f.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	parse := function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "s", Type: cty.String, AllowMarked: true}},
		VarParam: &function.Parameter{Name: "more", Type: cty.DynamicPseudoType}, Type: function.StaticReturnType(cty.String),
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			return cty.NilVal, function.NewArgErrorf(0, "not parsable")
		},
	})
	ctx := &hcl.EvalContext{
		Variables: map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{"s": cty.StringVal("hunter2").Mark(value.Ephemeral)})},
		Functions: map[string]function.Function{"parse": parse},
	}
	_, diags = file.Body.(*hclsyntax.Body).Attributes["x"].Expr.Value(ctx)
	got := render(t, diag.FromHCL(diags), src, Options{})
	wantJSON := `"function_call":{"called_as":"parse","signature":{"name":"parse","params":[{"name":"s","type":"string"}],` +
		`"variadic_param":{"name":"more","type":"dynamic"},"return_type":"dynamic"}}`
	if text, err := json.Marshal(document.Diagnostics(diag.FromHCL(diags), src)); err != nil || !strings.Contains(string(text), wantJSON) {
		t.Errorf("%s, %v", text, err)
	}
	if !strings.Contains(got, "while calling parse(s, more...)\n") || !strings.Contains(got, "var.s is (ephemeral value)\n") || strings.Contains(got, "hunter2") {
		t.Error(got)
	}
}

func TestDiagnosticsOfRefusedSource(t *testing.T) {
	const n = 200_000
	src := "output \"o\" { value = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + " }"
	rng := hcl.Range{Filename: "m.tf", Start: hcl.Pos{Line: 1, Column: 1021, Byte: 1020}, End: hcl.Pos{Line: 1, Column: 1022, Byte: 1021}}
	for _, name := range []string{"m.tf", "m.tf.json"} {
		rng.Filename = name
		var out strings.Builder
		if err := Diagnostics(&out, diag.At(rng, "Nesting too deep", "Split it."), document.Sources{name: []byte(src)}, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); len(got) > 2000 || !strings.Contains(got, "on "+name+" line 1") || !strings.Contains(got, " … ") {
			t.Errorf("%s: %d bytes: %.300s", name, len(got), got)
		}
	}
}

func TestWrapKeepsOptionsWhole(t *testing.T) {
	o := Options{Width: 20}
	if diff := cmp.Diff("Use a -var or the\n-var-file option,\nor\na-very-long-word-that-does-not-fit\nat all", o.wrap("Use a -var or the -var-file option, or a-very-long-word-that-does-not-fit at all", 0)); diff != "" {
		t.Error(diff)
	}
}

// TestWrapKeepsCommandsWhole has commands on a terminal, which can be copied, and elsewhere, where the breaks
// are those that programs know.
func TestWrapKeepsCommandsWhole(t *testing.T) {
	for text, want := range map[string]string{
		"List what it has with: mayfly state list":                    "List what it has\nwith:\nmayfly state list",
		"To do so, run: mayfly init -upgrade, or wait for it.":        "To do so, run:\nmayfly init -upgrade,\nor wait for it.",
		"Run: mayfly login example.com. Then plan once more.":         "Run:\nmayfly login example.com.\nThen plan once more.",
		"Run: mayfly fmt . in all of these":                           "Run:\nmayfly fmt . in all of these",
		"It is recorded by \"mayfly init\", and read by it.":          "It is recorded by\n\"mayfly init\", and\nread by it.",
		"Remove it (with \"mayfly state rm\"). Then go on":            "Remove it (with\n\"mayfly state rm\").\nThen go on",
		"See elsewhere (\"mayfly init\")":                             "See elsewhere\n(\"mayfly init\")",
		"To go on, run: tofu state list":                              "To go on, run:\ntofu state list",
		"The word \"mayfly alone is no command here":                  "The word \"mayfly\nalone is no command\nhere",
		"In this text mayfly init is not a command to run, nor here:": "In this text mayfly\ninit is not a\ncommand to run, nor\nhere:",
		"  Run: mayfly init -upgrade -lockfile=readonly":              "  Run: mayfly init -upgrade -lockfile=readonly",
	} {
		if diff := cmp.Diff(want, Options{Width: 22, KeepCommands: true, Command: "tofu"}.wrap(text, 1)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	if diff := cmp.Diff("List what it has with: mayfly\nstate list", Options{Width: 35}.wrap("List what it has with: mayfly state list", 0)); diff != "" {
		t.Error(diff)
	}
}

// TestDiagnosticsInOneLine has many problems in a generated file of a single line: each shows its
// surroundings, and what one more costs does not depend on the length of the line.
func TestDiagnosticsInOneLine(t *testing.T) {
	allocated := func(n int) uint64 {
		src := document.Sources{"f.tf.json": []byte(`{"` + strings.Repeat("é", 1000*n) + `"}`)}
		var list diag.List
		for i := range n {
			at := hcl.Pos{Line: 1, Column: 3 + 1000*i, Byte: 2 + 2000*i}
			end := hcl.Pos{Line: 1, Column: at.Column + 2, Byte: at.Byte + 4}
			list = append(list, diag.Diagnostic{Severity: diag.Error, Summary: fmt.Sprint("Bad ", i), Subject: &hcl.Range{Filename: "f.tf.json", Start: at, End: end}})
		}
		text := render(t, list, src, Options{})
		side := strings.Repeat("é", longestCode/2)
		if n > 1 && strings.Count(text, "1: {\""+side[2:2*(longestCode/2-1)]+" … "+side) == 0 {
			t.Errorf("the beginning of the line is not what is shown: %.2000s", text)
		}
		if got := strings.Count(text, " … "); got < 2*n-2 || got > 2*n {
			t.Errorf("%d of %d sides are cut", got, 2*n)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = render(t, list, src, Options{})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := allocated(100), allocated(200); float64(large) > 2.2*float64(small) {
		t.Errorf("%d bytes were allocated for 100 problems, %d for 200", small, large)
	}
}
