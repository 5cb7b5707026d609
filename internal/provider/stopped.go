package provider

import (
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
)

// Stopped is the Extra of the diagnostics about a provider whose process ended while it was needed. Every
// operation of such a provider fails with one; the first explains how it ended, the others have Repeat set,
// so that a caller can leave them out. A change that was under way has not: an object may exist of which
// nothing else tells.
type Stopped struct {
	Provider string
	Repeat   bool
}

// WithoutRepeats leaves out the errors of calls to a provider that had ended before, if the error that
// explains how it ended is there: one crash is one error, however many resources the provider has. diags is
// changed in place, and its order is kept.
func WithoutRepeats(diags diag.List) diag.List {
	explained := map[string]struct{}{}
	for _, d := range diags {
		if s, ok := d.Extra.(Stopped); ok && !s.Repeat {
			explained[s.Provider] = struct{}{}
		}
	}
	return slices.DeleteFunc(diags, func(d diag.Diagnostic) bool {
		s, ok := d.Extra.(Stopped)
		_, known := explained[s.Provider]
		return ok && s.Repeat && known
	})
}

// OnlyRepeats reports whether all of the diagnostics are that the provider had ended before. It returns
// true for no diagnostics.
func OnlyRepeats(diags diag.List) bool {
	return !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
		s, ok := d.Extra.(Stopped)
		return !ok || !s.Repeat
	})
}
