package functions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/tests/internal/calls"
)

const tableFile = "testdata/table.txt"

// TestCalls holds each outcome against the table. With MAYFLY_UPDATE_GOLDEN=1 it rewrites what of the table
// is about this engine.
func TestCalls(t *testing.T) {
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	head, table, err := calls.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	update := os.Getenv("MAYFLY_UPDATE_GOLDEN") != ""
	console := open(t)
	for i := range table {
		c := &table[i]
		ours, matters := calls.Differing(c.Outcome, evaluate(console, c.Expr))
		switch {
		case matters != (c.Why != ""):
			t.Errorf("%s: a difference needs a reason, and only a difference: %+v, the reason is %q", c.Expr, ours, c.Why)
		case ours != c.Ours && !update:
			t.Errorf("%s:\n got %+v\nwant %+v", c.Expr, ours, c.Ours)
		}
		c.Ours = ours
	}
	if len(table) < 2500 {
		t.Errorf("%d expressions, want at least 2500", len(table))
	}
	if update {
		filetest.Write(t, file, calls.Format(head, table))
	}
}

// TestEveryFunctionIsCalled finds functions that the table does not have. Those that OpenTofu does not have
// are tested where they are.
func TestEveryFunctionIsCalled(t *testing.T) {
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	for name := range funcs.Table(funcs.Options{Console: true}) {
		plain := strings.TrimPrefix(name, funcs.CorePrefix)
		if plain == "list" || plain == "map" || plain == "convert" || plain == "fingerprint" || strings.HasPrefix(plain, "assume") || name == funcs.CorePrefix+"type" {
			continue
		}
		if strings.Count(string(text), "> "+name+"(") == 0 {
			t.Errorf("the table has no call of %s", name)
		}
	}
}

// open starts a console in a copy of the configuration.
func open(t *testing.T) *engine.Console {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/config")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	manager, err := inmem.New().Manager("default")
	if err != nil {
		t.Fatal(err)
	}
	p, diags := mayfly.Open(t.Context(), mayfly.Options{Launcher: &mayfly.Launcher{}, State: mayfly.StateOptions{Store: manager}})
	fail(t, diags)
	t.Cleanup(func() { p.Close() })
	op, diags := p.Begin(t.Context(), "console", mayfly.BeginOptions{})
	fail(t, diags)
	t.Cleanup(func() { op.End() })
	c, diags := op.Console(t.Context(), mayfly.ConsoleOptions{})
	fail(t, diags)
	t.Cleanup(func() { c.Close() })
	return c
}

func fail(t *testing.T, diags diag.List) {
	t.Helper()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
}

func evaluate(c *engine.Console, expr string) calls.Outcome {
	text, failed := shown(c, expr)
	if failed != "" {
		return calls.Outcome{Error: failed}
	}
	ty, _ := shown(c, "type("+expr+")")
	return calls.Outcome{Value: text, Type: ty}
}

// shown returns what the console shows for an expression, or its first error.
func shown(c *engine.Console, expr string) (text, failed string) {
	v, diags := c.Evaluate(expr + "\n")
	if i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }); i >= 0 {
		return "", calls.Error(diags[i].Summary, diags[i].Detail)
	}
	if ty, err := funcs.TypeOf(v); err == nil {
		return calls.OneLine(funcs.TypeText(ty)), ""
	}
	return calls.OneLine(view.FormatValue(v, view.Options{})), ""
}
