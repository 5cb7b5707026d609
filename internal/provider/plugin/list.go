package plugin

import (
	"context"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// ValidateList implements provider.Reader.
func (c *client) ValidateList(ctx context.Context, req provider.ListRequest) diag.List {
	x := c.exchange(ctx, validations[addr.List], req.Type)
	limit := cty.UnknownVal(cty.Number)
	if req.Limit > 0 {
		limit = cty.NumberIntVal(req.Limit)
	}
	call[tfplugin6.ValidateListResourceConfig_Response](x, &tfplugin6.ValidateListResourceConfig_Request{
		TypeName: req.Type, Config: x.encode(x.resource(addr.List), req.Config, "configuration"),
		IncludeResourceObject: x.encodeType(cty.Bool, nil, cty.BoolVal(req.IncludeObject), "argument include_resource"),
		Limit:                 x.encodeType(cty.Number, nil, limit, "argument limit"),
	})
	return x.diags
}

// List implements provider.Reader.
func (c *client) List(ctx context.Context, req provider.ListRequest, found func(provider.ListResult) bool) diag.List {
	x := c.exchange(ctx, "ListResource", req.Type)
	in := &tfplugin6.ListResource_Request{
		TypeName: req.Type, Config: x.encode(x.resource(addr.List), req.Config, "configuration"),
		IncludeResourceObject: req.IncludeObject, Limit: req.Limit,
	}
	defer x.wipeSent()
	x.identitySchema(req.Type) // decoding the results needs it: ask now, so that an error is one of the call
	if x.failed() {
		return x.diags
	}
	err := c.calls.Receive(ctx, c.method(x.rpc), in, func(response []byte) bool {
		result, ok := x.listResult(response)
		return ok && found(result)
	})
	if err != nil {
		x.diags = append(x.diags, c.callError(ctx, x.rpc, err)...)
	}
	return x.diags
}

// listResult decodes a result, which has the diagnostics about it. It returns false, with an error of the
// call, if the response is not well-formed.
func (x *exchange) listResult(response []byte) (provider.ListResult, bool) {
	var in tfplugin6.ListResource_Event
	if err := proto.Unmarshal(response, &in); err != nil {
		x.fail("Provider returned an invalid value", "A result that %s returned from the call %s is not well-formed. This is a bug in the provider: "+
			"report it to its developers.", x.subject(), x.rpc)
		return provider.ListResult{}, false
	}
	one := x.c.exchange(x.ctx, x.rpc, x.typeName)
	one.report(in.Diagnostic)
	out := provider.ListResult{Name: bounded(in.DisplayName), Identity: one.decodeIdentity(x.typeName, in.Identity)}
	if hasValue(in.ResourceObject) {
		if s := one.resource(addr.Managed); s != nil {
			out.Object = one.decode(s, in.ResourceObject)
		}
		if out.Object.IsNull() { // which SDKs send for an object that they were not given
			out.Object = cty.NilVal
		}
	}
	out.Diags = one.diags
	return out, true
}
