package diag

import (
	"iter"
	"maps"
	"slices"
)

// InOrder yields the entries of a map ordered by key, so that diagnostics have the same order in every run.
func InOrder[T any](m map[string]T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
