package selection

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// UndeclaredAction says that the configuration does not declare an action, with the one that is meant or
// those that there are. names are the addresses of all, sorted.
func UndeclaredAction(a addr.Instance, names []string) string {
	text := "The configuration declares no such action."
	switch hint := diag.DidYouMean(a.Config().String(), names); {
	case len(names) == 0:
		text = "The configuration declares no actions."
	case hint != "":
		text += hint
	case len(names) <= 8:
		text += " It declares " + diag.Series("and", names) + "."
	}
	return text
}
