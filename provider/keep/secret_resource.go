package keep

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// secretResource is the managed keep_secret. Its value is only written: the ephemeral keep_secret reads it.
type secretResource struct{ resourceHolder }

var (
	_ resource.ResourceWithConfigure   = (*secretResource)(nil)
	_ resource.ResourceWithImportState = (*secretResource)(nil)
)

// secretModel is its configuration, plan and state. ValueWO has a value in the configuration only.
type secretModel struct {
	ID             types.String `tfsdk:"id"`
	Name           types.String `tfsdk:"name"`
	ValueWO        types.String `tfsdk:"value_wo"`
	ValueWOVersion types.Int64  `tfsdk:"value_wo_version"`
	Version        types.Int64  `tfsdk:"version"`
	Description    types.String `tfsdk:"description"`
}

// Metadata implements resource.Resource.
func (r *secretResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "keep_secret"
}

// Schema implements resource.Resource.
func (r *secretResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "A secret in the keep store.",
		Attributes: map[string]schema.Attribute{
			"id": idAttribute(secretIDPrefix), "name": nameAttribute("secret"),
			"value_wo": schema.StringAttribute{
				Required: true, WriteOnly: true, Sensitive: true,
				Description: "The value. It is stored on creation and whenever value_wo_version changes, and never read back.",
			},
			"value_wo_version": schema.Int64Attribute{
				Optional:    true,
				Description: "Change this number to store the present value_wo.",
			},
			"version": schema.Int64Attribute{
				Computed: true, Description: "1 for the first value stored, one more for each since.",
				PlanModifiers: []planmodifier.Int64{versionPlan{}},
			},
			"description": schema.StringAttribute{Optional: true, Description: "Free text, not secret."},
		},
	}
}

// versionPlan keeps the version unless a new value is going to be stored. Without it, the version would be
// unknown in the plan of any update, and everything that refers to it with it.
type versionPlan struct{}

// Description implements planmodifier.Int64.
func (versionPlan) Description(context.Context) string {
	return "changes only when value_wo_version does"
}

// MarkdownDescription implements planmodifier.Int64.
func (m versionPlan) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

// PlanModifyInt64 implements planmodifier.Int64.
func (versionPlan) PlanModifyInt64(ctx context.Context, req planmodifier.Int64Request, resp *planmodifier.Int64Response) {
	if req.State.Raw.IsNull() || req.StateValue.IsNull() {
		return
	}
	var before, after types.Int64
	at := path.Root("value_wo_version")
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, at, &before)...)
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, at, &after)...)
	if !resp.Diagnostics.HasError() && before.Equal(after) {
		resp.PlanValue = req.StateValue
	}
}

// Create implements resource.Resource. It fails if the name is taken.
func (r *secretResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m secretModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	value := writeOnlyValue(ctx, req.Config, &resp.Diagnostics)
	defer clear(value)
	kept := r.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	made, err := kept.CreateSecret(ctx, m.Name.ValueString(), m.Description.ValueStringPointer(), value)
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	m.Version = types.Int64Value(made.Version)
	m.settle()
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Read implements resource.Resource. It reads everything but the value.
func (r *secretResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m secretModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	found, ok := refresh(ctx, r.session, resp, m.ID, m.Name, !m.Version.IsNull(), (*store.Store).Secret)
	if !ok {
		return
	}
	m.Version = types.Int64Value(found.Version)
	m.Description = types.StringPointerValue(found.Description)
	m.settle()
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Update implements resource.Resource. A new value is stored only if value_wo_version has changed: whether
// the value itself has, cannot be known.
func (r *secretResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, prior secretModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	var value []byte
	if !m.ValueWOVersion.Equal(prior.ValueWOVersion) {
		value = writeOnlyValue(ctx, req.Config, &resp.Diagnostics)
	}
	defer clear(value)
	kept := r.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	made, err := kept.UpdateSecret(ctx, m.Name.ValueString(), m.Description.ValueStringPointer(), value)
	if err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	// Keep a planned version, even if another user has stored a value meanwhile: the next refresh shows
	// that as drift.
	if m.Version.IsUnknown() {
		m.Version = types.Int64Value(made.Version)
	}
	m.settle()
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Delete implements resource.Resource.
func (r *secretResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.session.deleteByName(ctx, req, resp, (*store.Store).DeleteSecret)
}

// ImportState implements resource.ResourceWithImportState.
func (r *secretResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	importByName(ctx, req.ID, secretIDPrefix, resp)
}

// settle sets the stored form of the attributes: the id follows from the name, and the value is dropped.
func (m *secretModel) settle() {
	m.ID = types.StringValue(secretIDPrefix + m.Name.ValueString())
	m.ValueWO = types.StringNull()
}

// writeOnlyValue reads value_wo from the configuration, the only place that ever contains it. Without
// errors, the result is not nil.
func writeOnlyValue(ctx context.Context, config tfsdk.Config, diags *diag.Diagnostics) []byte {
	at := path.Root("value_wo")
	var v types.String
	diags.Append(config.GetAttribute(ctx, at, &v)...)
	if v.IsNull() || v.IsUnknown() {
		diags.AddAttributeError(at, "No value to store", "value_wo has no known value at this moment. "+
			"Check what it refers to: an ephemeral value must be available in apply, not only while planning.")
		return nil
	}
	return append([]byte{}, v.ValueString()...)
}
