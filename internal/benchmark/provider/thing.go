package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// thing is bench_thing: its output is its input. The operations that EnvPauses names take as many
// milliseconds as it says.
type thing struct{}

type thingModel struct {
	ID            types.String `tfsdk:"id"`
	Input         types.String `tfsdk:"input"`
	Output        types.String `tfsdk:"output"`
	Millis        types.Int64  `tfsdk:"millis"`
	SecretWO      types.String `tfsdk:"secret_wo"`
	SecretVersion types.Int64  `tfsdk:"secret_version"`
}

// Metadata implements resource.Resource.
func (*thing) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "bench_thing"
}

// Schema implements resource.Resource.
func (*thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"id":             schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
		"input":          schema.StringAttribute{Optional: true},
		"output":         schema.StringAttribute{Computed: true},
		"millis":         schema.Int64Attribute{Optional: true},
		"secret_wo":      schema.StringAttribute{Optional: true, WriteOnly: true},
		"secret_version": schema.Int64Attribute{Optional: true},
	}}
}

// Create implements resource.Resource.
func (*thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	pause(pauseCreate, m.Millis)
	m.ID = types.StringValue("thing-" + m.Input.ValueString())
	m.Output = m.Input
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// ModifyPlan implements resource.ResourceWithModifyPlan: the plan stays as it is.
func (*thing) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !pauses[pausePlan] || req.Plan.Raw.IsNull() {
		return
	}
	var millis types.Int64
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("millis"), &millis)...)
	pause(pausePlan, millis)
}

// Read implements resource.Resource: nothing changes outside.
func (*thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	pauseStored(ctx, pauseRead, req.State, &resp.Diagnostics)
}

// Update implements resource.Resource.
func (*thing) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	m.Output = m.Input
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

// Delete implements resource.Resource.
func (*thing) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	pauseStored(ctx, pauseDelete, req.State, &resp.Diagnostics)
}

// pauseStored pauses for an operation on a thing that exists.
func pauseStored(ctx context.Context, operation string, s tfsdk.State, diags *diag.Diagnostics) {
	if !pauses[operation] {
		return
	}
	var millis types.Int64
	diags.Append(s.GetAttribute(ctx, path.Root("millis"), &millis)...)
	pause(operation, millis)
}

// attributesOfFiller make a schema of about 40 kB.
const attributesOfFiller = 40

// filler is a resource type that is there for the size of its schema.
type filler struct{ number int }

// Metadata implements resource.Resource.
func (f *filler) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = fmt.Sprintf("bench_type%d", f.number)
}

// Schema implements resource.Resource.
func (f *filler) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attrs := map[string]schema.Attribute{"name": schema.StringAttribute{Optional: true}}
	for i := range attributesOfFiller {
		attrs[fmt.Sprintf("argument_%d", i)] = schema.StringAttribute{Optional: true, MarkdownDescription: description}
	}
	resp.Schema = schema.Schema{Attributes: attrs}
}

// Create implements resource.Resource.
func (f *filler) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Read implements resource.Resource.
func (f *filler) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update implements resource.Resource.
func (f *filler) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete implements resource.Resource.
func (f *filler) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
