package provider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// secret is bench_secret: something that is open for a while. Opening and closing take as many milliseconds
// as it says, each, if EnvPauses names them.
type secret struct{ counts *counts }

type secretModel struct {
	Name   types.String `tfsdk:"name"`
	Millis types.Int64  `tfsdk:"millis"`
	Value  types.String `tfsdk:"value"`
}

// Metadata implements ephemeral.EphemeralResource.
func (*secret) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "bench_secret"
}

// Schema implements ephemeral.EphemeralResource.
func (*secret) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"name":   schema.StringAttribute{Required: true},
		"millis": schema.Int64Attribute{Optional: true},
		"value":  schema.StringAttribute{Computed: true},
	}}
}

// Configure implements ephemeral.EphemeralResourceWithConfigure.
func (s *secret) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	s.counts, _ = req.ProviderData.(*counts)
}

// opening is the private data that Close needs.
type opening struct {
	At     time.Time
	Millis int64
}

// Open implements ephemeral.EphemeralResource.
func (s *secret) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m secretModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	pause(pauseOpen, m.Millis)
	m.Value = types.StringValue("value of " + m.Name.ValueString())
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	b, err := json.Marshal(opening{time.Now(), m.Millis.ValueInt64()})
	if err != nil {
		resp.Diagnostics.AddError("No time", err.Error())
	}
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "opening", b)...)
}

// Close implements ephemeral.EphemeralResourceWithClose.
func (s *secret) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	b, diags := req.Private.GetKey(ctx, "opening")
	resp.Diagnostics.Append(diags...)
	var o opening
	if err := json.Unmarshal(b, &o); err != nil {
		resp.Diagnostics.AddError("Lost private data", err.Error())
		return
	}
	s.counts.closed(time.Since(o.At))
	pause(pauseClose, types.Int64Value(o.Millis))
}
