package keep

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

var (
	_ datasource.DataSourceWithConfigure = (*namesData)(nil)
	_ datasource.DataSourceWithConfigure = (*leasesData)(nil)
)

// namesData is keep_secret_names.
type namesData struct{ dataHolder }

// namesModel is its configuration and state.
type namesModel struct {
	Prefix types.String `tfsdk:"prefix"`
	Names  types.List   `tfsdk:"names"`
}

// Metadata implements datasource.DataSource.
func (d *namesData) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "keep_secret_names"
}

// Schema implements datasource.DataSource.
func (d *namesData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "The names of the secrets in the keep store.",
		Attributes: map[string]schema.Attribute{
			"prefix": schema.StringAttribute{Optional: true, Description: "List only names that begin so."},
			"names":  schema.ListAttribute{Computed: true, ElementType: types.StringType, Description: "The names, sorted."},
		},
	}
}

// Read implements datasource.DataSource. Names are not secret; values are not read.
func (d *namesData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m namesModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	kept := d.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	names, err := kept.SecretNames(ctx, m.Prefix.ValueString())
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	elements := make([]attr.Value, len(names))
	for i, name := range names {
		elements[i] = types.StringValue(name)
	}
	list, diags := types.ListValue(types.StringType, elements)
	resp.Diagnostics.Append(diags...)
	m.Names = list
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// leasesData is keep_leases.
type leasesData struct{ dataHolder }

// leasesModel is its state; there is nothing to configure.
type leasesModel struct {
	Leases types.List `tfsdk:"leases"`
}

// leaseType is the type of one element of leases.
var leaseType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"id": types.StringType, "purpose": types.StringType, "expires_at": types.StringType,
}}

// Metadata implements datasource.DataSource.
func (d *leasesData) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "keep_leases"
}

// Schema implements datasource.DataSource.
func (d *leasesData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "The live leases of the keep store.",
		Attributes: map[string]schema.Attribute{
			"leases": schema.ListAttribute{
				Computed: true, ElementType: leaseType,
				Description: "One object per lease, soonest expiry first: id, purpose (may be null), expires_at (RFC 3339).",
			},
		},
	}
}

// Read implements datasource.DataSource. It lists live leases only, and never their tokens.
func (d *leasesData) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	kept := d.session.open(&resp.Diagnostics)
	if kept == nil {
		return
	}
	live, err := kept.Leases(ctx)
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	elements := make([]attr.Value, len(live))
	for i, l := range live {
		purpose := types.StringNull()
		if l.Purpose != "" {
			purpose = types.StringValue(l.Purpose)
		}
		object, diags := types.ObjectValue(leaseType.AttrTypes, map[string]attr.Value{
			"id": types.StringValue(l.ID), "purpose": purpose, "expires_at": types.StringValue(l.ExpiresAt.Format(time.RFC3339Nano)),
		})
		resp.Diagnostics.Append(diags...)
		elements[i] = object
	}
	list, diags := types.ListValue(leaseType, elements)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &leasesModel{Leases: list})...)
}
