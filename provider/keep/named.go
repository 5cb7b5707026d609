package keep

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mayfly-iac/mayfly/provider/keep/store"
)

// This file has what the resources for named records in the store share.

// idAttribute is the attribute "id". It keeps its value, and is unknown until the record exists.
func idAttribute(prefix string) schema.StringAttribute {
	return schema.StringAttribute{
		Computed: true, Description: prefix + " and the name.",
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

// nameAttribute is the attribute "name". Records are not renamed: another name replaces the object.
func nameAttribute(kind string) schema.StringAttribute {
	return schema.StringAttribute{
		Required: true, Description: "The name; another name is another " + kind + ".",
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
		Validators:    []validator.String{nameValidator{}},
	}
}

// refresh looks a record up for a resource's Read, and removes one that no longer exists from the state. It
// reports whether the record was found. While the store is unknown, a complete record stays as it was last
// seen; right after an import only the name is known.
func refresh[R any](ctx context.Context, s *session, resp *resource.ReadResponse, id, name types.String, complete bool, find func(*store.Store, context.Context, string) (R, error)) (found R, ok bool) {
	if resp.Diagnostics.HasError() {
		return found, false
	}
	if s.unsettled() && complete {
		s.warnUnrefreshed(&resp.Diagnostics, id.ValueString())
		return found, false
	}
	kept := s.open(&resp.Diagnostics)
	if kept == nil {
		return found, false
	}
	found, err := find(kept, ctx, name.ValueString())
	if err != nil && gone(&resp.Diagnostics, err) {
		resp.State.RemoveResource(ctx)
	}
	return found, err == nil
}

// deleteByName deletes the record that a state names.
func (s *session) deleteByName(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse, remove func(*store.Store, context.Context, string) error) {
	var name types.String
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("name"), &name)...)
	kept := s.open(&resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := remove(kept, ctx, name.ValueString()); err != nil {
		addError(&resp.Diagnostics, err)
	}
}

// importByName starts an import: the read that follows it fills in the rest. id may be a name or an id.
func importByName(ctx context.Context, id, prefix string, resp *resource.ImportStateResponse) {
	name := bareName(id, prefix)
	if err := store.CheckName(name); err != nil {
		addError(&resp.Diagnostics, err)
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("name"), name)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), prefix+name)...)
}
