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

// NoActionInstance returns an error about an action that -invoke names, and that is none of the instances
// whose addresses are given.
func NoActionInstance(a addr.Instance, have []string) diag.List {
	switch {
	case len(have) == 0:
		return NotInvoked(a, "It has no instances: its count is 0, or its for_each is empty.")
	case a.Key == addr.NoKey:
		return NotInvoked(a, "It has several instances, and each is invoked by its own address, such as -invoke="+diag.Argument(have[0])+". The option can be given more than once.")
	}
	return NotInvoked(a, "There is no such instance."+diag.DidYouMean(a.String(), have))
}

// NotInvoked returns an error about an action that -invoke names.
func NotInvoked(a addr.Instance, why string) diag.List {
	return diag.Errorf("Action cannot be invoked", "-invoke names %s. %s%s", a, why, ShownKey(a))
}
