package engine

import (
	"errors"

	"github.com/mayfly-iac/mayfly/diag"
)

// Rules of the contract that package schema leaves to the operation.
var (
	errNull    = errors.New("the object is null, although it must exist")
	errNotNull = errors.New("the object is not null, although it is to be destroyed")
)

func missingType(o *orphan) diag.List {
	return diag.Errorf("No schema available for resource type",
		"The state holds %s, but the provider %s no longer has the resource type %q, so it cannot be destroyed. Install a version of the provider that has it, or remove the object from the state.",
		o.obj, o.provider.Provider.ForDisplay(), o.obj.Resource.Type).WithAddress(o.obj.Instance.String())
}
