package event

import (
	"encoding/json"

	"github.com/mayfly-iac/mayfly/addr"
)

// ListObserver receives the results of lists as they come. Calls are serialized. The provider of a result
// waits meanwhile, so that a query needs no more memory for many results than for few.
type ListObserver interface {
	ListStarted(ListStart)
	// ListFound receives a result. If it returns false, the query ends without errors.
	ListFound(*ListResult) bool
	// ListCompleted is not called for a list that failed.
	ListCompleted(ListEnd)
}

// ListStart says that a list begins. Config is its configuration in JSON, in which sensitive arguments are
// null.
type ListStart struct {
	List   addr.Instance
	Config json.RawMessage
}

// ListResult is a result of a list. It never carries a value that is sensitive or ephemeral.
type ListResult struct {
	List addr.Instance
	Name string // for people
	// Identity and Object are in JSON. Sensitive attributes are null in the object, which is nil unless the
	// list includes objects.
	Identity, Object json.RawMessage
	IdentityText     string // the identity in one line, as in "name=web,zone=main"
	IdentityVersion  int64
	// Resource and Import are a resource block and an import block for the object; "" unless the query
	// generates configuration.
	Resource, Import string
}

// ListEnd says that a list is complete.
type ListEnd struct {
	List    addr.Instance
	Results int
}
