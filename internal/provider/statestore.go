package provider

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// StateKeeper is a Reader of a provider that may be able to keep states.
type StateKeeper interface {
	// StateStores returns access to the state stores of the provider.
	StateStores() StateStores
}

// StateStoreCatalog is a Catalog with the state stores of a provider.
type StateStoreCatalog interface {
	// StateStore returns the schema of a type of state store, or nil if there is no such type.
	StateStore(typeName string) (*schema.Schema, diag.List)
	// StateStoreTypes returns the sorted names of the types.
	StateStoreTypes() []string
}

// StateStores are the operations on states that a provider keeps. The provider must have been configured
// before ConfigureStateStore, and that must have succeeded, once for the type, before everything below it.
// Reader has the rules.
type StateStores interface {
	ValidateStateStore(ctx context.Context, typeName string, config cty.Value) diag.List
	ConfigureStateStore(ctx context.Context, typeName string, config cty.Value) diag.List

	// ReadState returns the bytes of a state; none if there is no such state.
	ReadState(ctx context.Context, typeName, id string) ([]byte, diag.List)
	// WriteState replaces the bytes of a state, of which there is at least one.
	WriteState(ctx context.Context, typeName, id string, data []byte) diag.List
	// States returns the IDs of the states in any order.
	States(ctx context.Context, typeName string) ([]string, diag.List)
	DeleteState(ctx context.Context, typeName, id string) diag.List
	// LockState locks a state for the named operation, and returns the ID of the lock; "" if the store has no
	// locks. Refused reports whether the provider itself refused, and so most likely the state is locked.
	LockState(ctx context.Context, typeName, id, operation string) (lock string, refused bool, _ diag.List)
	UnlockState(ctx context.Context, typeName, id, lock string) diag.List
}
