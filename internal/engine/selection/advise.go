package selection

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// AdviseExclude completes errors about blocks whose instances are unknown: the last one gets a command that
// applies everything else first. The command names all of these blocks, because a plan fails as long as one
// remains; their dependents are left out with them. If there are such errors, the result is sorted.
func AdviseExclude(diags diag.List, excludes []addr.Target) diag.List {
	sorted := diags.Sorted()
	var blocks []string
	last := 0
	for i, d := range sorted {
		if unknown, ok := d.Extra.(diag.Unknown); ok && unknown.Exclude != "" {
			blocks, last = append(blocks, unknown.Exclude), i
		}
	}
	if len(blocks) == 0 {
		return diags
	}
	these := "this"
	if len(blocks) > 1 {
		these = "these"
	}
	command := "mayfly apply"
	for _, b := range blocks {
		command += " -exclude=" + diag.Argument(b)
	}
	for _, given := range excludes {
		command += " -exclude=" + diag.Argument(given.String())
	}
	sorted[last].Detail += "\n\nTo create everything else first, then " + these + ", run:\n  " + command + "\n  mayfly apply\n\nOr let the plan find that out, and go on by itself:\n  mayfly apply -converge"
	return sorted
}
