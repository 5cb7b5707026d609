package engine

import (
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/provider/plugin"
)

// withoutRepeats leaves out the errors of calls to a provider that had ended before, if the error that tells
// how it ended is there: one crash is one error, however many resources the provider has.
func withoutRepeats(diags diag.List) diag.List {
	told := map[string]struct{}{}
	for _, d := range diags {
		if s, ok := d.Extra.(plugin.Stopped); ok && !s.Repeat {
			told[s.Provider] = struct{}{}
		}
	}
	return slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
		s, ok := d.Extra.(plugin.Stopped)
		_, known := told[s.Provider]
		return ok && s.Repeat && known
	})
}

// onlyRepeats reports whether the diagnostics say no more than that the provider had ended before.
func onlyRepeats(diags diag.List) bool {
	return !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
		s, ok := d.Extra.(plugin.Stopped)
		return !ok || !s.Repeat
	})
}
