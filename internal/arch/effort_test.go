package arch

import (
	"go/ast"
	"testing"
)

// TestOnlyTestsSaveEffort keeps the hashes of programs slow: only a TestMain may have them quick.
func TestOnlyTestsSaveEffort(t *testing.T) {
	const pkg = "internal/base/effort"
	saved := 0
	for _, s := range sources(t) {
		if s.pkg == pkg {
			continue
		}
		for _, d := range s.file.Decls {
			f, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "Save" {
					return true
				}
				if from, _ := sel.X.(*ast.Ident); from == nil || from.Name != "effort" {
					return true
				}
				if saved++; !s.test || f == nil || f.Name.Name != "TestMain" {
					t.Errorf("%s: got effort saved here, want it only in a TestMain", s.at(n.Pos()))
				}
				return true
			})
		}
		for _, spec := range s.file.Imports {
			if spec.Path.Value == `"`+module+"/"+pkg+`"` && spec.Name != nil {
				t.Errorf("%s: import package effort by its own name, by which this test finds it", s.at(spec.Pos()))
			}
		}
	}
	if saved == 0 {
		t.Error("found no test that saves effort")
	}
}
