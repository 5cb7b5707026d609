package keep

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// passwordEphemeral is keep_password: a new random string each time it is opened. It does not use the
// store.
type passwordEphemeral struct{}

var _ ephemeral.EphemeralResourceWithValidateConfig = (*passwordEphemeral)(nil)

// passwordModel is its configuration and result.
type passwordModel struct {
	Length          types.Int64  `tfsdk:"length"`
	Lower           types.Bool   `tfsdk:"lower"`
	Upper           types.Bool   `tfsdk:"upper"`
	Numeric         types.Bool   `tfsdk:"numeric"`
	Special         types.Bool   `tfsdk:"special"`
	MinLower        types.Int64  `tfsdk:"min_lower"`
	MinUpper        types.Int64  `tfsdk:"min_upper"`
	MinNumeric      types.Int64  `tfsdk:"min_numeric"`
	MinSpecial      types.Int64  `tfsdk:"min_special"`
	OverrideSpecial types.String `tfsdk:"override_special"`
	Exclude         types.String `tfsdk:"exclude"`
	Result          types.String `tfsdk:"result"`
}

// Metadata implements ephemeral.EphemeralResource.
func (e *passwordEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "keep_password"
}

// Schema implements ephemeral.EphemeralResource. Arguments with a default are computed too: the result
// shows what was used.
func (e *passwordEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	use := func(what string) schema.BoolAttribute {
		return schema.BoolAttribute{Optional: true, Computed: true, Description: "Whether to use " + what + ". Default: true."}
	}
	least := func(what string) schema.Int64Attribute {
		return schema.Int64Attribute{Optional: true, Computed: true, Description: "At least so many " + what + ". Default: 0."}
	}
	resp.Schema = schema.Schema{
		Description: "Makes a random password. It needs no store.",
		Attributes: map[string]schema.Attribute{
			"length":           schema.Int64Attribute{Optional: true, Computed: true, Description: "Number of characters, 1 to 4096. Default: 24."},
			"lower":            use("lower-case letters"),
			"upper":            use("upper-case letters"),
			"numeric":          use("digits"),
			"special":          use("special characters"),
			"min_lower":        least("lower-case letters"),
			"min_upper":        least("upper-case letters"),
			"min_numeric":      least("digits"),
			"min_special":      least("special characters"),
			"override_special": schema.StringAttribute{Optional: true, Description: "The special characters to use instead of " + defaultSpecial},
			"exclude":          schema.StringAttribute{Optional: true, Description: "Characters never to use, of whatever class."},
			"result":           schema.StringAttribute{Computed: true, Description: "The password."},
		},
	}
}

// ValidateConfig implements ephemeral.EphemeralResourceWithValidateConfig. Arguments depend on each other,
// so nothing is checked until all are known.
func (e *passwordEphemeral) ValidateConfig(ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	if !req.Config.Raw.IsFullyKnown() {
		return
	}
	var m passwordModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if !resp.Diagnostics.HasError() {
		m.recipe(&resp.Diagnostics)
	}
}

// Open implements ephemeral.EphemeralResource. Every opening makes another password, in plan and in apply
// as well.
func (e *passwordEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m passwordModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	r := m.recipe(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	result, err := r.generate()
	if err != nil {
		resp.Diagnostics.AddError("No random numbers", "The system's source of random numbers failed: "+err.Error())
		return
	}
	m.Result = types.StringValue(result)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}

// recipe returns the prepared recipe for the arguments, with defaults filled in.
func (m *passwordModel) recipe(diags *diag.Diagnostics) recipe {
	if m.Length.IsNull() {
		m.Length = types.Int64Value(defaultPasswordLength)
	}
	for _, use := range []*types.Bool{&m.Lower, &m.Upper, &m.Numeric, &m.Special} {
		if use.IsNull() {
			*use = types.BoolValue(true)
		}
	}
	for _, least := range []*types.Int64{&m.MinLower, &m.MinUpper, &m.MinNumeric, &m.MinSpecial} {
		if least.IsNull() {
			*least = types.Int64Value(0)
		}
	}
	special := defaultSpecial
	if !m.OverrideSpecial.IsNull() {
		special = m.OverrideSpecial.ValueString()
	}
	r := recipe{length: m.Length.ValueInt64(), classes: []class{
		{"lower", m.Lower.ValueBool(), []rune("abcdefghijklmnopqrstuvwxyz"), m.MinLower.ValueInt64()},
		{"upper", m.Upper.ValueBool(), []rune("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), m.MinUpper.ValueInt64()},
		{"numeric", m.Numeric.ValueBool(), []rune("0123456789"), m.MinNumeric.ValueInt64()},
		{"special", m.Special.ValueBool(), []rune(special), m.MinSpecial.ValueInt64()},
	}}
	if err := r.prepare(m.Exclude.ValueString()); err != nil {
		diags.AddError("Impossible password", "These arguments can't be met: "+err.Error()+".")
	}
	return r
}
