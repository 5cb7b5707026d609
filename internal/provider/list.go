package provider

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// Lister lists objects that exist, whether or not a state has them. It is a part of Reader, under the same
// rules.
type Lister interface {
	// ValidateList validates the configuration of a list and the arguments beside it.
	ValidateList(ctx context.Context, req ListRequest) diag.List
	// List calls found with each result as soon as it has come, one at a time, and receives no further ones
	// meanwhile. If found returns false, the rest is not received. The end of ctx ends the call at once. The
	// returned diagnostics are about the call; a result has its own.
	List(ctx context.Context, req ListRequest, found func(ListResult) bool) diag.List
}

// ListRequest asks for objects of a type.
type ListRequest struct {
	Type          string // of the objects, and of the list
	Config        cty.Value
	IncludeObject bool
	Limit         int64 // a provider may exceed it; unknown while validating if it is 0
}

// ListResult is one result. Parts that the provider did not send are cty.NilVal. The diagnostics may have
// errors, and then the rest need not mean anything.
type ListResult struct {
	Name     string // for people
	Identity cty.Value
	Object   cty.Value
	Diags    diag.List
}

// NoLists implements Lister for providers that have no types of lists.
type NoLists struct{}

// ValidateList implements Lister.
func (NoLists) ValidateList(_ context.Context, req ListRequest) diag.List { return noList(req.Type) }

// List implements Lister.
func (NoLists) List(_ context.Context, req ListRequest, _ func(ListResult) bool) diag.List {
	return noList(req.Type)
}

func noList(typeName string) diag.List {
	return diag.Errorf("Unsupported type", "The provider cannot list objects of the type %q.", typeName)
}
