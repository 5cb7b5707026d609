package provider

import (
	"context"
	"errors"
	"slices"

	"github.com/mayfly-iac/mayfly/diag"
)

// OneInterrupt returns diags with only one of the errors about calls and evaluations that an interrupt ended,
// the first that has a place if any has. It is for commands that change nothing: the others add nothing.
func OneInterrupt(diags diag.List) diag.List {
	ended := func(d diag.Diagnostic) bool { err, _ := d.Extra.(error); return errors.Is(err, context.Canceled) }
	kept := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return ended(d) && d.Subject != nil })
	if kept < 0 {
		kept = slices.IndexFunc(diags, ended)
	}
	var out diag.List
	for i, d := range diags {
		if i == kept || !ended(d) {
			out = append(out, d)
		}
	}
	return out
}
