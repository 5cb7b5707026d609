package store

import (
	"context"

	"github.com/mayfly-iac/mayfly/diag"
)

// Adviser is implemented by stores that know how their service is set up.
type Adviser interface {
	// Advise returns warnings about settings of the service that endanger states or show their values. It
	// contacts the service and changes nothing.
	Advise(ctx context.Context) diag.List
}

// AdviceOf returns the warnings of a store that is an Adviser; nil for others.
func AdviceOf(ctx context.Context, s Store) diag.List {
	if a, ok := s.(Adviser); ok {
		return a.Advise(ctx)
	}
	return nil
}
