package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	registry "github.com/opentofu/registry-address/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

var (
	resourceSchema  = schema("count for_each provider depends_on", "lifecycle", "connection", "provisioner type", "locals")
	lifecycleSchema = schema("create_before_destroy prevent_destroy ignore_changes ephemeral_attributes replace_triggered_by enabled destroy", "precondition", "postcondition", "action_trigger")
)

// resourceDecoder decodes resource, data, ephemeral and check blocks.
type resourceDecoder struct {
	*reader
	m *Module
}

var modes = map[string]addr.Mode{"resource": addr.Managed, "data": addr.Data, "ephemeral": addr.Ephemeral}

// modeNames are the words for the resources of each mode in diagnostics.
var modeNames = map[addr.Mode]string{addr.Managed: "resource", addr.Data: "data resource", addr.Ephemeral: "ephemeral resource", addr.List: "list", addr.Action: "action"}

func (d *resourceDecoder) resource(block *hcl.Block) {
	if r := d.resourceBody(block); r != nil {
		d.addResource(r)
	}
}

// addResource adds a resource to the module. A second one of the same address can only be one that a check
// block contains; others were reported when blocks were collected.
func (d *resourceDecoder) addResource(r *Resource) {
	if first := d.m.Resources[r.Addr]; first != nil {
		d.errorAt(r.Range, fmt.Sprintf("Duplicate %s %q configuration", r.Addr.Mode, r.Addr.Type),
			"A block for the %s %s named %q is already at %s. Rename one of them.",
			r.Addr.Type, modeNames[r.Addr.Mode], r.Addr.Name, diag.Place(first.Range))
		return
	}
	d.m.Resources[r.Addr] = r
	d.m.Order = append(d.m.Order, r)
}

// resourceBody decodes a resource, data or ephemeral block, and returns nil if its labels are not valid
// names. All three share one schema, so that a meta-argument in the wrong kind of block gets an error that
// says so instead of one about an unknown argument.
func (d *resourceDecoder) resourceBody(block *hcl.Block) *Resource {
	mode := modes[block.Type]
	r := &Resource{
		Addr: addr.Resource{Mode: mode, Type: block.Labels[0], Name: block.Labels[1]}, Module: d.m,
		Range: block.DefRange, TypeRange: block.LabelRanges[0],
	}
	okType, okName := d.name(block, 0, modeNames[mode]+" type"), d.name(block, 1, modeNames[mode]+" name")
	if !okType || !okName {
		return nil
	}
	content, rest := d.partial(block.Body, resourceSchema)
	r.Body = rest
	if attr := content.Attributes["provider"]; attr != nil {
		r.Provider = d.providerRef(attr.Expr)
	}
	if _, err := registry.ParseProviderPart(r.ImpliedProvider()); err != nil && content.Attributes["provider"] == nil {
		d.errorAt(r.TypeRange, "Invalid resource type", "The type %q starts with %q, which can't be the name of a provider: %s. Set the \"provider\" argument if the type is right.",
			r.Addr.Type, r.ImpliedProvider(), err)
	}
	r.DependsOn = d.dependsOn(content)
	d.repetition(&r.Repeat, content)
	if b := d.single(content, "lifecycle", "lifecycle block"); b != nil {
		d.lifecycle(r, b)
	}
	d.conflicts(r.Repeat)
	if mode == addr.Managed {
		r.Connection = d.connection(content)
		r.Provisioners = d.provisioners(content, r.Connection)
	} else {
		d.managedOnlyBlocks(mode, content)
	}
	for _, b := range content.Blocks.OfType("locals") {
		d.errorAt(b.TypeRange, fmt.Sprintf("Reserved block type name in %s block", block.Type), "The block type name \"locals\" is reserved for use in a future version.")
	}
	return r
}

// managedOnlyBlocks refuses provisioners and connections in data and ephemeral blocks (E31).
func (d *resourceDecoder) managedOnlyBlocks(mode addr.Mode, content *hcl.BodyContent) {
	for _, b := range content.Blocks {
		if b.Type == "provisioner" || b.Type == "connection" {
			d.errorAt(b.DefRange, fmt.Sprintf("Invalid configuration block for %s", modeNames[mode]),
				"The block type %q cannot be used in %ss. This is meant to be used strictly in \"resource\" blocks.", b.Type, modeNames[mode])
		}
	}
}

// lifecycle decodes a lifecycle block. Conditions and "enabled" are for all modes, everything else is for
// managed resources.
func (d *resourceDecoder) lifecycle(r *Resource, block *hcl.Block) {
	content := d.content(block.Body, lifecycleSchema)
	r.Lifecycle.Range = block.DefRange
	if attr := content.Attributes["enabled"]; attr != nil {
		r.Repeat.Enabled = attr.Expr
	}
	r.Lifecycle.Preconditions = d.conditions(content, "precondition")
	r.Lifecycle.Postconditions = d.conditions(content, "postcondition")
	if r.Addr.Mode != addr.Managed {
		d.managedOnlyArguments(r.Addr.Mode, content)
		return
	}
	lc := &r.Lifecycle
	lc.ActionTriggers = d.actionTriggers(content)
	lc.CreateBeforeDestroy = d.flag(content, "create_before_destroy", false)
	if attr := content.Attributes["prevent_destroy"]; attr != nil {
		lc.PreventDestroy = attr.Expr
	}
	if attr := content.Attributes["ignore_changes"]; attr != nil {
		lc.IgnoreChanges, lc.IgnoreAll = d.ignoreChanges(attr)
	}
	if attr := content.Attributes["ephemeral_attributes"]; attr != nil {
		lc.EphemeralAttributes = d.ephemeralAttributes(attr)
	}
	if attr := content.Attributes["replace_triggered_by"]; attr != nil {
		lc.ReplaceTriggeredBy = d.replaceTriggers(attr)
	}
	if attr := content.Attributes["destroy"]; attr != nil {
		if v := d.static(attr, cty.Bool); v != cty.NilVal {
			destroy := v.True()
			lc.Destroy = &destroy
		}
	}
}

// managedOnlyArguments refuses lifecycle arguments and blocks that only managed resources have.
func (d *resourceDecoder) managedOnlyArguments(mode addr.Mode, content *hcl.BodyContent) {
	for _, b := range content.Blocks.OfType("action_trigger") {
		d.errorAt(b.DefRange, "Invalid action_trigger block", "Actions are triggered by changes of an object, and a %s has none. Only \"resource\" blocks can have triggers.", modeNames[mode])
	}
	for _, attr := range inOrder(content.Attributes) {
		if attr.Name == "enabled" {
			continue
		}
		if mode == addr.Ephemeral {
			d.errorAt(attr.NameRange, "Invalid lifecycle configuration for ephemeral resource",
				"The lifecycle argument %q cannot be used in ephemeral resources. This is meant to be used strictly in \"resource\" blocks.", attr.Name)
		} else {
			d.errorAt(attr.NameRange, "Invalid data resource lifecycle argument",
				"The argument %q controls how objects are changed, but a data block only reads. Remove it.", attr.Name)
		}
	}
}
