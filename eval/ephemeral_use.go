package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/schema"
	"github.com/mayfly-iac/mayfly/value"
)

// checkEphemeralUse reports ephemeral values outside write-only attributes of a resource or data block.
func checkEphemeralUse(v cty.Value, b *ResourceBlock) diag.List {
	var diags diag.List
	for _, path := range value.PathsWith(v, value.Ephemeral) {
		if writeOnlyAt(b.Schema.Block, path) {
			continue
		}
		name := schema.PathString(path)
		if name == "" {
			name = "this block"
		}
		detail := fmt.Sprintf("%q cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.", name)
		if b.Config.Addr.Mode == addr.Data {
			detail = fmt.Sprintf("%q cannot accept an ephemeral value because it belongs to a data block, whose arguments are written to the state.", name)
		}
		if sibling := writeOnlySibling(b.Schema.Block, path); sibling != "" {
			detail += fmt.Sprintf(" The write-only attribute %q is meant for such values.", sibling)
		}
		d := diag.List{{Summary: "Invalid use of an ephemeral value", Detail: detail, Path: path}}
		diags = append(diags, explainOrigin(d.InConfigBody(b.Config.Body), b)...)
	}
	return diags
}

// explainOrigin completes the one diagnostic of the list: where the value became ephemeral, at the expression that brings it, which may
// stand in a dynamic block, and how to keep its ephemeral parts out.
func explainOrigin(d diag.List, b *ResourceBlock) diag.List {
	places := []hcl.Range{*d[0].Subject}
	if alternatives := dynamicRanges(b.Config.Body, d[0].Path); len(alternatives) > 0 && !alternatives[0].Overlaps(*d[0].Subject) {
		places = alternatives
		d[0].Subject = alternatives[0].Ptr()
	}
	if o, ok := b.originAt(places...); ok {
		d[0].Detail += fmt.Sprintf("\n\nThe value is ephemeral because of %s.", o)
		if !d[0].Subject.Overlaps(o.ref.Range) {
			d[0].Subject = o.ref.Range.Ptr()
		}
	}
	d[0].Detail += " If null may stand in its place, pass it through the ephemeralasnull function."
	return d
}

// writeOnlyAt reports whether the path leads to or into a write-only attribute.
func writeOnlyAt(b *schema.Block, path cty.Path) bool { return b.InWriteOnly(path) }

// writeOnlySibling returns the name of the write-only variant of a top-level attribute, if there is one.
func writeOnlySibling(b *schema.Block, path cty.Path) string {
	if len(path) == 0 {
		return ""
	}
	step, ok := path[0].(cty.GetAttrStep)
	if !ok {
		return ""
	}
	if a := b.Attributes[step.Name+"_wo"]; a != nil && a.WriteOnly {
		return step.Name + "_wo"
	}
	return ""
}

// refuseEphemeral returns an error if v carries an ephemeral value, saying where it stands and why it must not.
func refuseEphemeral(v cty.Value, rng hcl.Range, why string) diag.List {
	if !value.Contains(v, value.Ephemeral) {
		return nil
	}
	return diag.At(rng, "Invalid use of an ephemeral value", "%s", why)
}

// deprecatedUses warns of values in a body that come from deprecated outputs.
func deprecatedUses(v cty.Value, body hcl.Body) diag.List {
	if !v.ContainsMarked() {
		return nil
	}
	var diags diag.List
	_, marked := v.UnmarkDeepWithPaths()
	for _, pm := range marked {
		for m := range pm.Marks {
			if d, ok := m.(value.Deprecated); ok {
				w := diag.List{{Severity: diag.Warning, Summary: "Value derived from a deprecated source", Detail: "This value comes from " + d.By + ", which is deprecated: " + d.Message, Path: pm.Path}}
				diags = append(diags, w.InConfigBody(body)...)
			}
		}
	}
	return diags
}
