package mock

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// PlanAction implements provider.Reader.
func (m *mock) PlanAction(ctx context.Context, typeName string, config cty.Value) (provider.Deferred, diag.List) {
	return "", m.action(ctx, typeName, config)
}

// InvokeAction implements provider.Changer: the action of a mocked provider does nothing.
func (m *mock) InvokeAction(ctx context.Context, typeName string, config cty.Value, _ func(string)) diag.List {
	return m.action(ctx, typeName, config)
}

// action refuses a configuration that lacks something.
func (m *mock) action(ctx context.Context, typeName string, config cty.Value) diag.List {
	b, diags := m.block(ctx, addr.Action, typeName)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, complete(b, config)...)
}
