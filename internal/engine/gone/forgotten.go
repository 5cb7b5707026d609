package gone

import (
	"fmt"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// maxForgottenShown bounds the list in a warning.
const maxForgottenShown = 20

// Forgotten returns a warning that lists the objects which will no longer be managed. Other changes show the
// outcome for the object; here the object goes on existing unmanaged, which must not be overlooked.
func Forgotten(p *plan.Plan) diag.List {
	var names strings.Builder
	n := 0
	for _, c := range p.Changes {
		if c.Action != plan.Forget {
			continue
		}
		if n++; n <= maxForgottenShown {
			fmt.Fprintf(&names, "\n  - %s", c.Object())
		}
	}
	if n == 0 {
		return nil
	}
	if n > maxForgottenShown {
		fmt.Fprintf(&names, "\n  - and %d more", n-maxForgottenShown)
	}
	return diag.Warnf("Resource will be removed from the state",
		"Applying this plan makes Mayfly forget these objects, which continue to exist:\n%s\n\nTo manage them again, import them.", names.String())
}
