package arch

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// TestFailureMessages checks that the messages of Errorf and Fatalf after a comparison have the form
// "got …, want …": a value, and then the wanted one. So the log of a failed run is enough to see the mistake.
func TestFailureMessages(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test && !strings.HasSuffix(s.pkg, "/storetest") {
			continue
		}
		for _, call := range silent(s.file) {
			t.Errorf("%s: the message of a failed comparison lacks the value or the wanted one: write \"got …, want …\"", s.at(call.Pos()))
		}
	}
}

// TestSilentFailures checks that the rule finds the messages that break it, and no others.
func TestSilentFailures(t *testing.T) {
	for text, want := range map[string]int{
		`if a != b { t.Errorf("%v", a) }`:                                     1,
		`if a != b { t.Fatalf("want it to be %v", b) }`:                       1,
		`if a != b { t.Errorf("f: got %v, want %v", a, b) }`:                  0,
		`if a != b { t.Errorf("%v"); t.Fatalf("%v") }`:                        2,
		`if a != b { t.Error(a) }`:                                            0,
		`if !slices.Equal(a, b) || c { t.Errorf("%v", a) }`:                   1,
		`if !equal(a) { t.Errorf("%v", a) } else if !a { t.Errorf("%v", a) }`: 0,
		`if err != nil { t.Errorf("%v", err) }`:                               0,
		`if diff := d(); diff != "" { t.Errorf("(-want +got):\n%s", diff) }`:  0,
		`if err := f(); err == nil && a != b { t.Errorf("%v", a) }`:           1,
	} {
		s, err := parse("x/x_test.go", "package x\nfunc f() {\n"+text+"\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := silent(s.file); len(got) != want {
			t.Errorf("%s: got %d messages that break the rule, want %d", text, len(got), want)
		}
	}
}

// silent returns the calls of Errorf and Fatalf after a comparison whose message does not name a value and
// then the wanted one.
func silent(file *ast.File) (out []*ast.CallExpr) {
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.IfStmt); ok && comparesValues(f.Cond) {
			out = append(out, silentFailures(f.Body)...)
		}
		return true
	})
	return out
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
