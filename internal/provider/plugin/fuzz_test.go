package plugin

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/tfplugin6"
)

// operation is a call of a provider. It returns the value that the provider answers with, NilVal if there is
// none.
type operation func(ctx context.Context, c *client) (cty.Value, diag.List)

var operations = []operation{
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		resp, diags := c.ReadResource(ctx, provider.ReadRequest{Type: "fake_a", Prior: simple("x", cty.NullVal(cty.String)), Identity: keyed("k")})
		return resp.New, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		v := simple("x", cty.StringVal("y"))
		resp, diags := c.PlanResource(ctx, provider.PlanRequest{Type: "fake_a", Prior: cty.NullVal(v.Type()), Proposed: v, Config: v})
		return resp.Planned, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		v := simple("x", cty.StringVal("y"))
		resp, diags := c.ApplyResource(ctx, provider.ApplyRequest{Type: "fake_a", Prior: cty.NullVal(v.Type()), Planned: v, Config: v})
		return resp.New, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		resp, diags := c.ReadData(ctx, provider.DataRequest{Type: "fake_d", Config: simple("x", cty.NullVal(cty.String))})
		return resp.State, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		resp, diags := c.ImportResource(ctx, provider.ImportRequest{Type: "fake_a", ID: "i"})
		if len(resp.Objects) == 0 {
			return cty.NilVal, diags
		}
		return resp.Objects[0].State, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		resp, diags := c.MoveResource(ctx, provider.MoveRequest{SourceProvider: addr.Provider{Type: "o", Namespace: "o", Hostname: "example.com"}, SourceType: "other", SourceJSON: []byte("{}"), TargetType: "fake_a"})
		return resp.Target, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		return c.UpgradeResource(ctx, provider.UpgradeRequest{Type: "fake_a", JSON: []byte("{}")})
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		return c.UpgradeIdentity(ctx, provider.UpgradeRequest{Type: "fake_a", JSON: []byte("{}")})
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		resp, diags := c.OpenEphemeral(ctx, "fake_e", simple("x", cty.NullVal(cty.String)))
		return resp.Result, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		_, diags := c.RenewEphemeral(ctx, "fake_e", []byte("p"))
		return cty.NilVal, diags
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		return cty.NilVal, c.ValidateResource(ctx, addr.Managed, "fake_a", simple("x", cty.NullVal(cty.String)))
	},
	func(ctx context.Context, c *client) (cty.Value, diag.List) {
		v, err := c.CallFunction(ctx, "f", []cty.Value{cty.StringVal("x")})
		if err != nil {
			return cty.NilVal, diag.Errorf("Error in function call", "%s", err)
		}
		return v, nil
	},
}

// answered are the RPCs of these operations, named as in protocol 6.
var answered = []string{
	"ReadResource", "PlanResourceChange", "ApplyResourceChange", "ReadDataSource", "ImportResourceState", "MoveResourceState", "UpgradeResourceState",
	"UpgradeResourceIdentity", "OpenEphemeralResource", "RenewEphemeralResource", "ValidateResourceConfig", "CallFunction",
}

// FuzzResponses answers calls in both protocols with any bytes: no panic, and either an error that says
// something or a value without parts that the schema does not have.
func FuzzResponses(f *testing.F) {
	var response atomic.Pointer[[]byte]
	clients := [2]*client{answering(f, 6, &response), answering(f, 5, &response)}
	v := simple("x", cty.StringVal("y"))
	state := encoded(f, dynamic(v, v.Type()))
	asJSON := encoded(f, &tfplugin6.DynamicValue{Json: []byte(`{"name":"x","value":null}`)})
	for i := range operations {
		f.Add(uint8(i), false, field(1, state))
		f.Add(uint8(i), true, slices.Concat(field(1, asJSON), field(2, []byte("private"))))
	}
	f.Add(uint8(1), false, encoded(f, &tfplugin6.PlanResourceChange_Response{PlannedState: dynamic(v, v.Type()), PlannedPrivate: []byte("p")}))
	f.Add(uint8(0), false, encoded(f, &tfplugin6.ReadResource_Response{Diagnostics: []*tfplugin6.Diagnostic{{Severity: 1, Summary: "s", Detail: "d"}}}))
	f.Fuzz(func(t *testing.T, which uint8, five bool, data []byte) {
		response.Store(&data)
		c := clients[0]
		if five {
			c = clients[1]
		}
		got, diags := operations[int(which)%len(operations)](t.Context(), c)
		for _, d := range diags {
			if d.Summary == "" && d.Detail == "" {
				t.Error("a diagnostic that says nothing")
			}
		}
		if !diags.HasErrors() && got != cty.NilVal && got.IsKnown() && !got.IsNull() && got.Type().IsObjectType() && !got.Type().HasAttribute("name") &&
			!got.Type().HasAttribute("key") {
			t.Errorf("got a value of another type: %#v, want an object with a name or a key", got)
		}
	})
}

// answering returns a provider with a fixed schema that answers all calls with the same bytes.
func answering(tb testing.TB, protocol int, response *atomic.Pointer[[]byte]) *client {
	tb.Helper()
	fixed := map[string]proto.Message{
		"GetProviderSchema": bytesMessage(slices.Concat(simpleResponse(tb), entry(fieldFunctions, "f", encoded(tb, &tfplugin6.Function{
			Parameters: []*tfplugin6.Function_Parameter{{Name: "p", Type: []byte(`"string"`)}}, Return: &tfplugin6.Function_Return{Type: []byte(`"dynamic"`)},
		})))),
		"GetResourceIdentitySchemas": &tfplugin6.GetResourceIdentitySchemas_Response{IdentitySchemas: map[string]*tfplugin6.ResourceIdentitySchema{
			"fake_a": {IdentityAttributes: []*tfplugin6.ResourceIdentitySchema_IdentityAttribute{{Name: "key", Type: []byte(`"string"`), RequiredForImport: true}}},
		}},
	}
	desc := &grpc.ServiceDesc{ServiceName: fmt.Sprintf("tfplugin%d.Provider", protocol), HandlerType: (*any)(nil)}
	add := func(rpc string, answer func() proto.Message) {
		if name, ok := methods5[rpc]; ok && protocol == 5 {
			rpc = name
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{
			MethodName: rpc,
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				if err := decode(&emptypb.Empty{}); err != nil {
					return nil, err
				}
				return answer(), nil
			},
		})
	}
	for rpc, m := range fixed {
		add(rpc, func() proto.Message { return m })
	}
	for _, rpc := range answered {
		add(rpc, func() proto.Message { return bytesMessage(*response.Load()) })
	}
	p := connectInMemory(func(s *grpc.Server) { s.RegisterService(desc, struct{}{}) }, protocol)
	tb.Cleanup(func() { _ = p.Close() })
	return p.(*client)
}
