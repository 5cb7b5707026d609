package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"
)

// followers are the functions that follow references: those with a switch over what a reference leads to.
// Others ask the graph of blocks or the resolver, so that they cannot answer the same question in another
// way.
var followers = map[string]string{
	"internal/language/eval/blocks.targets":  "leads to blocks: the graph is built on it",
	"internal/language/eval/blocks.checkRef": "finds what is not declared, which has no block",
	"internal/language/eval.find":            "leads to objects and instances",
	"internal/language/eval/static.ref":      "evaluates what must be known before there are blocks",
}

// readers are the functions that know the words that references begin with.
var readers = map[string]string{
	"internal/language/lang.ParseRef": "is the grammar of references",
}

// TestReferencesAreFollowedInOnePlace counts the walkers over references.
func TestReferencesAreFollowedInOnePlace(t *testing.T) {
	kinds := []string{"lang.Variable", "lang.Local", "lang.Resource", "lang.Module"}
	holdSwitches(t, followers, kinds, "switches over what a reference leads to: ask eval/blocks for edges, or eval's resolver")
}

// TestReferencesHaveOneGrammar counts the parsers of references.
func TestReferencesHaveOneGrammar(t *testing.T) {
	words := []string{`"var"`, `"local"`, `"each"`, `"count"`, `"self"`, `"path"`}
	holdSwitches(t, readers, words, "reads the words that references begin with: use lang.ParseRef")
}

// holdSwitches checks that exactly the allowed functions have a switch with at least two of the cases.
func holdSwitches(t *testing.T, allowed map[string]string, cases []string, what string) {
	t.Helper()
	found := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !hasSwitch(f, cases) {
				continue
			}
			name := s.pkg + "." + f.Name.Name
			found[name] = true
			if allowed[name] == "" {
				t.Errorf("%s: %s %s", s.at(f.Pos()), name, what)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if !found[name] {
			t.Errorf("%s has no such switch any more: take it off the list", name)
		}
	}
}

// hasSwitch reports whether a function has a switch with at least two of the cases.
func hasSwitch(f *ast.FuncDecl, cases []string) bool {
	has := false
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok {
			return true
		}
		matched := 0
		for _, clause := range s.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				if slices.Contains(cases, caseText(e)) {
					matched++
				}
			}
		}
		has = has || matched > 1
		return true
	})
	return has
}

// caseText returns the text of a case that is a string or a name of another package, "" for any other.
func caseText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return strconv.Quote(text)
		}
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return pkg.Name + "." + e.Sel.Name
		}
	}
	return ""
}
