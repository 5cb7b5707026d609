package selection

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// Advise completes errors about blocks that cannot be planned for want of a value: the last one gets the
// advice, or if that is empty, commands that apply everything else first. If there are such errors, the
// result is sorted.
func Advise(diags diag.List, excludes []addr.Target, advice string) diag.List {
	sorted := diags.Sorted()
	var blocks []string
	last := 0
	for i, d := range sorted {
		if unknown, ok := d.Extra.(diag.Unknown); ok && len(unknown.Exclude) > 0 {
			last = i
			for _, b := range unknown.Exclude {
				if !slices.Contains(blocks, b) {
					blocks = append(blocks, b)
				}
			}
		}
	}
	if len(blocks) == 0 {
		return diags
	}
	if advice == "" {
		advice = adviseExclude(blocks, excludes)
	}
	sorted[last].Detail += "\n\n" + advice
	return sorted
}

// InvokeAdvice returns the advice for a plan that only invokes actions, "" without any: everything that they
// need has to be applied before.
func InvokeAdvice(actions []addr.Instance) string {
	if len(actions) == 0 {
		return ""
	}
	command := "mayfly apply"
	for _, a := range actions {
		command += " -invoke=" + diag.Argument(a.String())
	}
	return "A plan with -invoke changes nothing else. To apply what is missing, then invoke again, run:\n  mayfly apply -converge\n  " + command
}

// adviseExclude returns commands that apply everything but the blocks first. They name all of them, because a
// plan fails as long as one remains; their dependents are left out with them.
func adviseExclude(blocks []string, excludes []addr.Target) string {
	these := "this"
	if len(blocks) > 1 {
		these = "these"
	}
	for _, given := range excludes {
		blocks = append(blocks, given.String())
	}
	command := "mayfly apply"
	for i, b := range blocks {
		if !slices.Contains(blocks[:i], b) {
			command += " -exclude=" + diag.Argument(b)
		}
	}
	return "To create everything else first, then " + these + ", run:\n  " + command + "\n  mayfly apply\n\nOr let the plan find that out, and go on by itself:\n  mayfly apply -converge"
}
