package engine

import (
	"github.com/mayfly-iac/mayfly/diag"
)

func missingType(o *orphan) diag.List {
	return diag.Errorf("No schema available for resource type",
		"The state holds %s, but the provider %s no longer has the resource type %q, so it cannot be destroyed. Install a version of the provider that has it, or remove the object from the state.",
		o.obj, o.provider.Provider.ForDisplay(), o.obj.Resource.Type).WithAddress(o.obj.Instance.String())
}
