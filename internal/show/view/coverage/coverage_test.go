package coverage

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// TestReport reports on an output that nothing reads, in a file whose name is markup.
func TestReport(t *testing.T) {
	at := hcl.Range{Filename: "<b>.tf", Start: hcl.Pos{Line: 3, Column: 1}, End: hcl.Pos{Line: 3, Column: 5}}
	e, _ := hclsyntax.ParseExpression([]byte("1"), at.Filename, hcl.InitialPos)
	set := coverage.New(map[string]struct{}{".": {}})
	empty := New(set)
	m := &blocks.Module{Config: &config.Module{Dir: "."}, Outputs: map[string]*blocks.Value{}}
	m.Outputs["o"] = &blocks.Value{Kind: blocks.OutputValue, Name: "o", Module: m, Range: at, Expr: &lang.Expr{Expression: e, Source: e}}
	set.Declare(&blocks.Config{Modules: map[addr.Module]*blocks.Module{addr.RootModule: m}})
	unread := New(set)
	set.Note(coverage.Output, at, coverage.Read)
	for _, test := range []struct {
		of        *Report
		text      []string
		html, not string
	}{
		{empty, []string{"nothing was planned"}, "nothing was planned", "<table"},
		{unread, []string{"0 of 1 outcomes", "<b>.tf:3  output.o: never read"}, "&lt;b&gt;.tf", "<b>"},
		{New(set), []string{"1 of 1 outcomes exercised (100 %)"}, "✓ read", "never"},
	} {
		var text, page strings.Builder
		if err := test.of.Text(&text); err != nil {
			t.Error(err)
		}
		if err := test.of.HTML(&page); err != nil {
			t.Error(err)
		}
		for _, want := range test.text {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, &text)
			}
		}
		_, body, _ := strings.Cut(page.String(), "<body>")
		if !strings.Contains(body, test.html) || strings.Contains(body, test.not) {
			t.Errorf("want %q, not %q in\n%s", test.html, test.not, body)
		}
	}
}
