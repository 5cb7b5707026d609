package provider

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
)

// Unfinished is the Extra of the error about an action whose provider ended its answer without saying that
// the action has ended. After an interrupt, this is how SDKs end one.
type Unfinished struct{}

// NoActions implements the operations on actions for providers that have none.
type NoActions struct{}

// PlanAction implements Reader.
func (NoActions) PlanAction(_ context.Context, typeName string, _ cty.Value) (Deferred, diag.List) {
	return "", noAction(typeName)
}

// InvokeAction implements Changer.
func (NoActions) InvokeAction(_ context.Context, typeName string, _ cty.Value, _ func(string)) diag.List {
	return noAction(typeName)
}

func noAction(typeName string) diag.List {
	return diag.Errorf("Unsupported type", "The provider has no action %q.", typeName)
}
