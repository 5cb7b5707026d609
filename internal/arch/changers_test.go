package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestOnlyAppliesChange holds the engine's packages to a provider.Reader: what they do with a provider leaves
// infrastructure alone. Only package ephemeral, which starts providers and ends them, and the engine's
// options name a whole Provider, and only applier.go calls the operations that change something, in one
// function each, which only files of an apply call.
func TestOnlyAppliesChange(t *testing.T) {
	whole := []string{"internal/engine/engine.go", "internal/engine/ephemeral/pool.go", "internal/engine/ephemeral/provider.go"}
	changes := 0
	for _, s := range sources(t) {
		if s.test || s.pkg != "internal/engine" && !strings.HasPrefix(s.pkg, "internal/engine/") {
			continue
		}
		file := strings.TrimPrefix(s.name, "internal/engine/")
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				from, _ := n.X.(*ast.Ident)
				switch {
				case n.Sel.Name == "ApplyResource" || n.Sel.Name == "InvokeAction" || from != nil && from.Name == "provider" && n.Sel.Name == "Changer":
					if changes++; file != "applier.go" {
						t.Errorf("%s: got a change asked of a provider, want it only in applyChange and invokeAction in applier.go", s.at(n.Pos()))
					}
				case from != nil && from.Name == "provider" && n.Sel.Name == "Provider" && !slices.Contains(whole, s.name):
					t.Errorf("%s: hold a provider.Reader", s.at(n.Pos()))
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "applyChange" || f.Name == "invokeAction") && s.pkg == "internal/engine" && !strings.HasPrefix(file, "apply") {
					t.Errorf("%s: only an apply changes something", s.at(n.Pos()))
				}
			}
			return true
		})
	}
	if changes != 4 {
		t.Errorf("found %d places that change something, want the 4 in applier.go", changes)
	}
}
