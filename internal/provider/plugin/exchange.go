package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// exchange is one RPC from values to values. After an error, from the engine or the provider, encoding,
// calling and decoding do nothing, so that an operation reads as a sequence without branches. It is used by
// one goroutine.
type exchange struct {
	ctx      context.Context
	c        *client
	rpc      string // named as in protocol 6
	typeName string // type that the call is about; "" for the provider itself
	diags    diag.List
	answered bool
	lost     bool                      // the provider ended, and may have received the call
	sent     []*tfplugin6.DynamicValue // overwritten after the call: they may contain secrets
}

// exchange begins an exchange. Nothing is sent yet.
func (c *client) exchange(ctx context.Context, rpc, typeName string) *exchange {
	return &exchange{ctx: ctx, c: c, rpc: rpc, typeName: typeName}
}

// failed reports whether there was an error. Warnings do not end an exchange.
func (x *exchange) failed() bool { return x.diags.HasErrors() }

// subject names the provider, and the type if there is one.
func (x *exchange) subject() string {
	if x.typeName == "" {
		return "provider " + x.c.name
	}
	return fmt.Sprintf("%s of provider %s", x.typeName, x.c.name)
}

// send makes the RPC, and in any case overwrites the values encoded for it.
func (x *exchange) send(req, resp proto.Message) {
	defer x.wipeSent()
	if x.failed() {
		return
	}
	if err := x.c.invoke(x.ctx, x.rpc, req, resp); err != nil {
		x.lost = isLost(err)
		x.diags = append(x.diags, x.c.callError(x.ctx, x.rpc, err)...)
		return
	}
	x.answered = true
}

// wipeSent overwrites the values encoded for the call.
func (x *exchange) wipeSent() {
	for _, v := range x.sent {
		wipe(v)
	}
	x.sent = nil
}

// call makes the RPC, adds the provider's own diagnostics, and returns the response: an empty one after an
// error.
func call[M any, P interface {
	*M
	proto.Message
	GetDiagnostics() []*tfplugin6.Diagnostic
}](x *exchange, req proto.Message) P {
	resp := P(new(M))
	x.send(req, resp)
	x.report(resp.GetDiagnostics())
	return resp
}

// report adds the provider's own diagnostics.
func (x *exchange) report(in []*tfplugin6.Diagnostic) { x.diags = append(x.diags, diagnostics(in)...) }

// resource returns the schema of the exchange's type.
func (x *exchange) resource(mode addr.Mode) *schema.Schema { return x.resourceOf(mode, x.typeName) }

// resourceOf is resource for another type of the provider.
func (x *exchange) resourceOf(mode addr.Mode, typeName string) *schema.Schema {
	cat := x.catalog()
	if cat == nil {
		return nil
	}
	s, diags := cat.Resource(mode, typeName)
	x.diags = append(x.diags, diags...)
	if s == nil && !diags.HasErrors() {
		x.fail("Unsupported type", "Provider %s has no %s type %q.", x.c.name, modeNames[mode], typeName)
	}
	return s
}

// modeNames are the words for types of each mode in errors.
var modeNames = map[addr.Mode]string{addr.Managed: "resource", addr.Data: "data source", addr.Ephemeral: "ephemeral resource", addr.List: "list resource", addr.Action: "action"}

// catalog returns the provider's schemas, or nil if they can't be read, which is then an error of the
// exchange.
func (x *exchange) catalog() *catalog {
	if x.failed() {
		return nil
	}
	cat, diags := x.c.loadCatalog(x.ctx)
	if diags.HasErrors() {
		x.diags = append(x.diags, diags...)
		return nil
	}
	return cat
}

// fail adds an error of this side.
func (x *exchange) fail(summary, format string, args ...any) {
	x.diags = append(x.diags, diag.Errorf(summary, format, args...)...)
}

// encode returns v as a value of the schema; what names it in errors.
func (x *exchange) encode(s *schema.Schema, v cty.Value, what string) *tfplugin6.DynamicValue {
	if x.failed() {
		return nil
	}
	return x.encodeType(s.Block.Type(), s.Block, v, what)
}

// encodeType is encode for a type, which is the type of block unless block is nil.
func (x *exchange) encodeType(ty cty.Type, block *schema.Block, v cty.Value, what string) *tfplugin6.DynamicValue {
	if x.failed() {
		return nil
	}
	out, err := encodeValue(v, ty, block)
	if err != nil {
		x.wireFailure("Value does not fit the provider's schema", "The "+what+" for %s cannot be sent with the call %s: %s.", err)
	}
	x.sent = append(x.sent, out)
	return out
}

// decode returns a value of the schema's type: null if the provider sent none, cty.NilVal if the exchange
// has failed.
func (x *exchange) decode(s *schema.Schema, in *tfplugin6.DynamicValue) cty.Value {
	if x.failed() {
		return cty.NilVal
	}
	return x.decodeType(s.Block.Type(), in)
}

// wipe overwrites an encoded value.
func wipe(v *tfplugin6.DynamicValue) {
	clear(v.GetMsgpack())
	clear(v.GetJson())
}

// decodeType is decode for a type, and works even after errors that the provider reported along with a
// value. It overwrites in.
func (x *exchange) decodeType(ty cty.Type, in *tfplugin6.DynamicValue) cty.Value {
	defer wipe(in)
	v, err := decodeValue(in, ty)
	if err != nil {
		x.wireFailure("Provider returned an invalid value",
			"The value that %s returned from the call %s cannot be used: %s.\n\nThis is a bug in the provider: report it to its developers.", err)
		return cty.NilVal
	}
	return v
}

// decodeApplied is decodeType for the object that an apply returns. The object exists, so it must not be lost
// for a value in it that nests too deeply. That value becomes null, and since the rest still nests deeper
// than can be stored, the engine reports it.
func (x *exchange) decodeApplied(ty cty.Type, in *tfplugin6.DynamicValue) cty.Value {
	if data, some := pruned(in.GetMsgpack()); some {
		wipe(in)
		in = &tfplugin6.DynamicValue{Msgpack: data}
	}
	return x.decodeType(ty, in)
}

// wireFailure adds an error whose format takes the subject, the RPC and err.
func (x *exchange) wireFailure(summary, format string, err error) {
	d := diag.Diagnostic{Summary: summary, Detail: fmt.Sprintf(format, x.subject(), x.rpc, err)}
	if wire, ok := errors.AsType[*wireError](err); ok {
		d.Path = wire.path
	}
	x.diags = append(x.diags, d)
}

// meta encodes the value of a provider_meta block, if there is one.
func (x *exchange) meta(v cty.Value) *tfplugin6.DynamicValue {
	if v == cty.NilVal || v.IsNull() {
		return nil
	}
	cat := x.catalog()
	if cat == nil {
		return nil
	}
	s, diags := cat.Meta()
	x.diags = append(x.diags, diags...)
	if s == nil {
		return nil
	}
	return x.encode(s, v, "provider_meta block")
}

// identity encodes an identity. It returns nil if the provider has no identity, or no longer one, for the
// type.
func (x *exchange) identity(v cty.Value) *tfplugin6.ResourceIdentityData {
	if x.failed() || v == cty.NilVal || v.IsNull() {
		return nil
	}
	s := x.identitySchema(x.typeName)
	if s == nil {
		return nil
	}
	data := x.encodeType(s.Type(), nil, v, "identity")
	if data == nil {
		return nil
	}
	return &tfplugin6.ResourceIdentityData{IdentityData: data}
}

// identitySchema returns the schema of a type's identity, or nil if it has none or after an error.
func (x *exchange) identitySchema(typeName string) *schema.Identity {
	s, diags := x.c.identity(x.ctx, typeName)
	x.diags = append(x.diags, diags...)
	return s
}

// decodeIdentity returns an identity of the type, or cty.NilVal if the provider sent none.
func (x *exchange) decodeIdentity(typeName string, in *tfplugin6.ResourceIdentityData) cty.Value {
	if x.failed() {
		return cty.NilVal
	}
	return x.decodeIdentityAnyway(typeName, in)
}

// decodeIdentityAnyway is decodeIdentity for exchanges that may have failed: an object that was created has
// its identity even if the provider reports an error as well.
func (x *exchange) decodeIdentityAnyway(typeName string, in *tfplugin6.ResourceIdentityData) cty.Value {
	if !hasValue(in.GetIdentityData()) {
		return cty.NilVal
	}
	before := len(x.diags)
	s := x.identitySchema(typeName)
	if s == nil && len(x.diags) > before {
		return cty.NilVal // there is no schema, which has been reported
	}
	if s == nil {
		x.fail("Provider returned an invalid identity", "Provider %s returned an identity for a resource of type %s from the call %s, but "+
			"declares no identity for that type. This is a bug in the provider: report it to its developers.", x.c.name, typeName, x.rpc)
		return cty.NilVal
	}
	return x.decodeType(s.Type(), in.IdentityData)
}

// time converts the time of the next renewal; zero if there is none.
func (x *exchange) time(in *timestamppb.Timestamp) time.Time {
	if in == nil {
		return time.Time{}
	}
	if err := in.CheckValid(); err != nil {
		x.fail("Provider returned an invalid time", "The time of renewal that %s returned from the call %s is not valid. This is a bug in "+
			"the provider: report it to its developers.", x.subject(), x.rpc)
		return time.Time{}
	}
	return in.AsTime()
}

// capabilities returns the capabilities that every request announces. Deferral is among them if the caller
// allows it: otherwise a provider must answer.
func (x *exchange) capabilities() *tfplugin6.ClientCapabilities {
	return &tfplugin6.ClientCapabilities{WriteOnlyAttributesAllowed: true, DeferralAllowed: provider.DeferralAllowed(x.ctx)}
}

// planCapabilities returns the capabilities for planning: private data from a plan is returned to the
// provider when the change is planned again.
func (x *exchange) planCapabilities() *tfplugin6.ClientCapabilities {
	caps := x.capabilities()
	caps.StorePlannedPrivate = true
	return caps
}

// deferredReason returns why a provider deferred a change, or "" if it did not.
func deferredReason(in *tfplugin6.Deferred) provider.Deferred {
	if in == nil {
		return ""
	}
	switch in.Reason {
	case tfplugin6.Deferred_RESOURCE_CONFIG_UNKNOWN:
		return provider.DeferredConfigUnknown
	case tfplugin6.Deferred_PROVIDER_CONFIG_UNKNOWN:
		return provider.DeferredProviderConfig
	case tfplugin6.Deferred_ABSENT_PREREQ:
		return provider.DeferredAbsent
	default:
		return provider.DeferredUnexplained
	}
}
