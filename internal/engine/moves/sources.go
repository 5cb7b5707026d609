package moves

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Sources returns the addresses from which moved blocks take objects elsewhere. It leaves out addresses
// without a key from which objects of the same block or call get one: they name the arrived objects as well.
func Sources(tree *config.Tree) []addr.Target {
	var out []addr.Target
	all, _ := parseAll(tree)
	for _, mv := range all {
		from := mv.from
		if from.Resource != nil && from.Key == addr.NoKey && sameBlock(from, mv.to) || from.Resource == nil && from.Module.Module() == mv.to.Module.Module() {
			continue
		}
		path := mv.module.Instance()
		for _, step := range from.Module.Path() {
			_, name, key := step.Parent()
			path = path.Child(name, key)
		}
		from.Module = path
		out = append(out, from)
	}
	return out
}

func sameBlock(a, b addr.Target) bool {
	return *a.Resource == *b.Resource && a.Module.Module() == b.Module.Module()
}

// Concerned returns a function that reports whether a moved block takes an instance elsewhere.
func Concerned(tree *config.Tree) func(addr.Instance) bool {
	all, _ := parseAll(tree)
	x := newIndex(all)
	return func(a addr.Instance) bool {
		to, _, moves := x.next(a)
		return moves && to != a
	}
}
