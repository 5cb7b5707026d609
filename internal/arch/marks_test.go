package arch

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// unmarkers are the functions of the packages that call providers and programs that take all marks off a
// value without remembering what is ephemeral in it.
var unmarkers = map[string]string{
	"internal/engine.object":                    "is a value that a provider has returned, with marks that say how to store it",
	"internal/engine.readForCheck":              "is a value that a provider has returned, with marks that say how to store it",
	"internal/engine/provision.run":             "the engine has had the guard remember the arguments, whose marks decide what is shown of output and errors",
	"internal/engine/provision.execute":         "the same, for the connection",
	"internal/engine/provision.CheckArguments":  "looks at the arguments without passing them on",
	"internal/engine/provision.CheckConnection": "the same, for the connection",
}

// TestValuesLeaveByOneWay lists who takes marks off values in the packages that give them to providers and
// programs: all others use Guard.Reveal or Checker.Given, which remember what is ephemeral.
func TestValuesLeaveByOneWay(t *testing.T) {
	packages := []string{"internal/engine", "internal/engine/object", "internal/engine/ephemeral", "internal/engine/provision", "internal/engine/contract", "internal/provider/processes"}
	found := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || s.generated || !slices.Contains(packages, s.pkg) {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := s.pkg + "." + f.Name.Name
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || !strings.HasPrefix(sel.Sel.Name, "UnmarkDeep") {
					return true
				}
				found[name] = true
				if unmarkers[name] == "" {
					t.Errorf("%s: %s takes marks off a value: use Guard.Reveal or Checker.Given, which remember what is ephemeral in it", s.at(sel.Pos()), name)
				}
				return true
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unmarkers)) {
		if !found[name] {
			t.Errorf("%s takes no marks off any more: take it off the list", name)
		}
	}
}
