package arch

import (
	"go/ast"
	"maps"
	"slices"
	"testing"
)

// maxReceiver bounds the methods that a type declares itself: what has more does several things.
const maxReceiver = 40

// largeReceivers are types with more methods, with how many they may have. A number may fall and not rise.
var largeReceivers = map[string]int{
	"cmd/mayfly.app":                         168,
	"workdir.Dir":                            102,
	"internal/engine.planner":                93,
	"internal/language/config.decoder":       91,
	"internal/testing/simprovider.core":      53,
	"internal/language/eval.Run":             50,
	"internal/engine.applier":                53,
	"internal/engine/explain.Explainer":      42,
	"internal/testing/simprovider.violation": 41,
}

// TestReceivers holds types to a number of methods, which says more about what takes part in everything than
// lines do.
func TestReceivers(t *testing.T) {
	methods := map[string]int{}
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[s.pkg+"."+receiverName(f.Recv.List[0].Type)]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		limit := max(maxReceiver, largeReceivers[name])
		if n := methods[name]; n > limit {
			t.Errorf("%s has %d methods, more than %d: take out what has a name of its own", name, n, limit)
		}
	}
	for name, limit := range largeReceivers {
		if n := methods[name]; n <= maxReceiver {
			t.Errorf("%s has %d methods: delete its line", name, n)
		} else if n < limit {
			t.Errorf("%s has %d methods: its line says %d", name, n, limit)
		}
	}
}

// receiverName returns the name of the type in a receiver such as *Cell[T].
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
