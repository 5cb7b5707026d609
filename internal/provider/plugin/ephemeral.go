package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// OpenEphemeral implements provider.Reader. It returns Private even if the rest of a response is unusable,
// because the provider may have opened something that must be closed.
func (c *client) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	x := c.exchange(ctx, "OpenEphemeralResource", typeName)
	s := x.resource(addr.Ephemeral)
	resp := call[tfplugin6.OpenEphemeralResource_Response](x, &tfplugin6.OpenEphemeralResource_Request{
		TypeName: typeName, Config: x.encode(s, config, "configuration"), ClientCapabilities: x.capabilities(),
	})
	out := provider.OpenResponse{Opened: x.answered && !x.failed(), Lost: x.lost, Private: resp.Private, Deferred: deferredReason(resp.Deferred)}
	if !x.failed() {
		out.RenewAt = x.time(resp.RenewAt)
		out.Result = x.decode(s, resp.Result)
	}
	return out, x.diags
}

// RenewEphemeral implements provider.Reader. Private is the one to use from now on: the given one if the
// provider sends no other.
func (c *client) RenewEphemeral(ctx context.Context, typeName string, private []byte) (provider.RenewResponse, diag.List) {
	x := c.exchange(ctx, "RenewEphemeralResource", typeName)
	resp := call[tfplugin6.RenewEphemeralResource_Response](x, &tfplugin6.RenewEphemeralResource_Request{TypeName: typeName, Private: private})
	out := provider.RenewResponse{Private: resp.Private}
	if resp.Private == nil {
		out.Private = private
	}
	if !x.failed() {
		out.RenewAt = x.time(resp.RenewAt)
	}
	return out, x.diags
}

// CloseEphemeral implements provider.Reader. The caller limits the time with ctx (E54).
func (c *client) CloseEphemeral(ctx context.Context, typeName string, private []byte) diag.List {
	x := c.exchange(ctx, "CloseEphemeralResource", typeName)
	call[tfplugin6.CloseEphemeralResource_Response](x, &tfplugin6.CloseEphemeralResource_Request{TypeName: typeName, Private: private})
	return x.diags
}
