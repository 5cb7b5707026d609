package arch

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// maxSilentFailures bounds the messages of failing comparisons in tests that do not say both sides: the log
// of a failed run must show the value that was wanted. The bound may only fall.
const maxSilentFailures = 1239

// TestFailureMessages counts the messages of Errorf and Fatalf after a comparison that do not have the form
// "got …, want …": a value, and then the wanted one. With -v, it prints their places.
func TestFailureMessages(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		if !s.test && !strings.HasSuffix(s.pkg, "/storetest") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if f, ok := n.(*ast.IfStmt); ok && comparesValues(f.Cond) {
				for _, call := range silentFailures(f.Body) {
					found++
					if testing.Verbose() {
						t.Logf("%s: it says nothing of the wanted value", s.at(call.Pos()))
					}
				}
			}
			return true
		})
	}
	switch {
	case found > maxSilentFailures:
		t.Errorf("got %d messages of failed comparisons without both values, want at most %d: write \"got …, want …\"; -v lists them", found, maxSilentFailures)
	case found < maxSilentFailures*(100-slack)/100:
		t.Errorf("got %d messages of failed comparisons without both values, want the bound lowered from %d", found, maxSilentFailures)
	}
}

// comparesValues reports whether a condition is that two values differ. Comparisons with nil, and with an
// empty difference, whose text shows both sides, are none.
func comparesValues(cond ast.Expr) bool {
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BinaryExpr:
			found = found || x.Op == token.NEQ && !isName(x.X, "nil") && !isName(x.Y, "nil") && !isName(x.X, "diff")
		case *ast.UnaryExpr:
			call, ok := x.X.(*ast.CallExpr)
			if !ok || x.Op != token.NOT {
				return true
			}
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				found = found || strings.Contains(f.Sel.Name, "Equal")
			case *ast.Ident:
				found = found || strings.Contains(f.Name, "Equal")
			}
		}
		return true
	})
	return found
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// silentFailures returns the calls of Errorf and Fatalf among the statements of a block whose message does
// not name a value and then the wanted one.
func silentFailures(body *ast.BlockStmt) (out []*ast.CallExpr) {
	for _, stmt := range body.List {
		x, ok := stmt.(*ast.ExprStmt)
		if !ok {
			continue
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != "Errorf" && f.Sel.Name != "Fatalf" {
			continue
		}
		if format, ok := call.Args[0].(*ast.BasicLit); ok && !saysBoth(format) {
			out = append(out, call)
		}
	}
	return out
}

// saysBoth reports whether a format prints a value and then the wanted one.
func saysBoth(format *ast.BasicLit) bool {
	text, err := strconv.Unquote(format.Value)
	got, _, ok := strings.Cut(text, "want")
	return err == nil && ok && strings.Contains(got, "%")
}
