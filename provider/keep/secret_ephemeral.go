package keep

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// secretEphemeral is the ephemeral keep_secret, the only way to read a value back.
type secretEphemeral struct{ ephemeralHolder }

var _ ephemeral.EphemeralResourceWithConfigure = (*secretEphemeral)(nil)

// secretEphemeralModel is its configuration and result.
type secretEphemeralModel struct {
	Name    types.String `tfsdk:"name"`
	Value   types.String `tfsdk:"value"`
	Version types.Int64  `tfsdk:"version"`
}

// Metadata implements ephemeral.EphemeralResource.
func (e *secretEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "keep_secret"
}

// Schema implements ephemeral.EphemeralResource.
func (e *secretEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "Reads a secret from the keep store.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Required: true, Validators: []validator.String{nameValidator{secretIDPrefix}},
				Description: "The secret's name or id. Refer to the id of a keep_secret to read it only once it exists: unlike the name, the id is unknown before.",
			},
			"value":   schema.StringAttribute{Computed: true, Description: "The value last stored."},
			"version": schema.Int64Attribute{Computed: true, Description: "The version of that value."},
		},
	}
}

// Open implements ephemeral.EphemeralResource. There is nothing to renew or close: the value is a copy.
func (e *secretEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m secretEphemeralModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	kept := e.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	found, value, err := kept.Reveal(ctx, bareName(m.Name.ValueString(), secretIDPrefix))
	defer clear(value)
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	m.Value = types.StringValue(string(value))
	m.Version = types.Int64Value(found.Version)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
