package keep

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// noteResource is keep_note: a record in the same store whose text is not secret.
type noteResource struct{ resourceHolder }

var (
	_ resource.ResourceWithConfigure   = (*noteResource)(nil)
	_ resource.ResourceWithImportState = (*noteResource)(nil)
)

// noteModel is its configuration, plan and state.
type noteModel struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
	Text types.String `tfsdk:"text"`
}

// note returns the record to store.
func (m *noteModel) note() store.Note {
	return store.Note{Name: m.Name.ValueString(), Text: m.Text.ValueString()}
}

// Metadata implements resource.Resource.
func (r *noteResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "keep_note"
}

// Schema implements resource.Resource.
func (r *noteResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "A plain text record in the keep store.",
		Attributes: map[string]schema.Attribute{
			"id": idAttribute(noteIDPrefix), "name": nameAttribute("note"),
			"text": schema.StringAttribute{Required: true, Description: "The text. It stands in plan and state: nothing secret belongs here."},
		},
	}
}

// Create implements resource.Resource. It fails if the name is taken.
func (r *noteResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m noteModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	kept := r.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := kept.CreateNote(ctx, m.note()); err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	m.ID = types.StringValue(noteIDPrefix + m.Name.ValueString())
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Read implements resource.Resource.
func (r *noteResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m noteModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	found, ok := refresh(ctx, r.session, resp, m.ID, m.Name, !m.Text.IsNull(), (*store.Store).Note)
	if !ok {
		return
	}
	m.Text = types.StringValue(found.Text)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Update implements resource.Resource. Only the text can change.
func (r *noteResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m noteModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	kept := r.session.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := kept.UpdateNote(ctx, m.note()); err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Delete implements resource.Resource.
func (r *noteResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	r.session.deleteByName(ctx, req, resp, (*store.Store).DeleteNote)
}

// ImportState implements resource.ResourceWithImportState.
func (r *noteResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	importByName(ctx, req.ID, noteIDPrefix, resp)
}
