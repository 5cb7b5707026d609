package selection

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Unrefreshed reports targets to be refreshed that select no object of the state. It is an error if the
// configuration has a similar address, or the block can have no such key.
func Unrefreshed(tree *config.Tree, targets []addr.Target) (diags diag.List) {
	if len(targets) == 0 {
		return nil
	}
	there := newInventory(tree, func(func(addr.Instance) bool) {}, nil)
	for _, t := range targets {
		why, severity := there.lacks(t)
		if why == "" {
			why = "The state has no such object."
		}
		why = strings.TrimPrefix(why+shownKey(t, "refresh-target"), " ")
		diags = append(diags, diag.Diagnostic{Severity: severity, Summary: "Nothing matches -refresh-target", Detail: fmt.Sprintf("The option -refresh-target=%q refreshes nothing. %s", t, why)})
	}
	return diags
}
