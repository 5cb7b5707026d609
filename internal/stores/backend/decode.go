package backend

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const listSeparator = string(os.PathListSeparator)

// Decode evaluates the arguments in a body, which is a backend block or a file with settings for one. Values
// keep their marks.
func (k *Kind) Decode(body hcl.Body) (map[string]cty.Value, diag.List) { return k.decode(body, false) }

// Check checks the names and types of the arguments in a body, but not for secrets; see CheckPublic. Values
// may be unknown.
func (k *Kind) Check(body hcl.Body) diag.List {
	_, diags := k.decode(body, true)
	return diags
}

// decode returns the values of the arguments in a body, which may be unknown only if that is allowed. Names
// that do not exist are reported at their places, and everything else is checked all the same.
func (k *Kind) decode(body hcl.Body, unknown bool) (map[string]cty.Value, diag.List) {
	if k.Provided != nil {
		return k.Provided.decode(body, unknown)
	}
	values := map[string]cty.Value{}
	want := &hcl.BodySchema{}
	for _, name := range slices.Sorted(maps.Keys(k.Block.Attributes)) {
		want.Attributes = append(want.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, name := range slices.Sorted(maps.Keys(k.Block.Blocks)) {
		want.Blocks = append(want.Blocks, hcl.BlockHeaderSchema{Type: name})
	}
	var diags diag.List
	all, _ := body.JustAttributes() // blocks are reported below
	for _, name := range inOrder(all) {
		if k.Block.Attributes[name] == nil && k.Block.Blocks[name] == nil {
			want.Attributes = append(want.Attributes, hcl.AttributeSchema{Name: name}) // it is reported once
			diags = append(diags, diag.At(all[name].NameRange, "Unsupported argument", "The backend %q has no argument %q.%s It has %s.",
				k.Name, name, k.similar(name), diag.Names(k.Block.Names()))...)
		}
	}
	content, hd := body.Content(want)
	diags = append(diags, diag.FromHCL(hd)...)
	for _, name := range inOrder(content.Attributes) {
		if k.Block.Attributes[name] == nil {
			continue
		}
		v, ds := k.evaluate(content.Attributes[name], unknown)
		if diags = append(diags, ds...); !ds.HasErrors() {
			values[name] = v
		}
	}
	diags = append(diags, k.decodeBlocks(content.Blocks, values)...)
	return values, append(diags, k.deprecated(values, content)...)
}

func inOrder(attrs hcl.Attributes) []string {
	return slices.SortedFunc(maps.Keys(attrs), func(a, b string) int {
		return attrs[a].NameRange.Start.Byte - attrs[b].NameRange.Start.Byte
	})
}

// evaluate returns the value of an argument, which may be unknown if that is allowed.
func (k *Kind) evaluate(attr *hcl.Attribute, unknown bool) (cty.Value, diag.List) {
	v, hd := attr.Expr.Value(nil)
	if hd.HasErrors() {
		return cty.NilVal, diag.FromHCL(hd)
	}
	v, err := k.convert(attr.Name, v)
	if err != nil || !unknown && !v.IsWhollyKnown() {
		return cty.NilVal, diag.At(attr.Expr.Range(), "Invalid backend configuration", "The argument %q of the backend %q must be a %s.%s",
			attr.Name, k.Name, k.typeName(attr.Name), k.shape(attr.Name))
	}
	if isHollow(k, attr.Name, v) {
		return cty.NilVal, diag.At(attr.Expr.Range(), "Invalid backend configuration", "%s", hollow(attr.Name))
	}
	if unknown {
		return v, nil
	}
	return v, k.checkPublic(attr, v)
}

// isHollow reports whether a value is an empty text where that cannot be.
func isHollow(k *Kind, name string, v cty.Value) bool {
	return slices.Contains(k.solid, name) && isEmptyText(v)
}

// hollow is the sentence about an argument that is an empty text. Other programs look for the first part.
func hollow(name string) string {
	return fmt.Sprintf("The %q attribute value must not be empty. Leave the argument out, or set it to null, for the usual place.", name)
}

// checkPublic refuses secrets in an argument that says where the state is.
func (k *Kind) checkPublic(attr *hcl.Attribute, v cty.Value) diag.List {
	if !slices.Contains(k.where, attr.Name) {
		return nil
	}
	for _, mark := range []value.Mark{value.Ephemeral, value.Sensitive} {
		if value.Contains(v, mark) {
			return k.notPublic(attr, mark)
		}
	}
	return nil
}

func (k *Kind) notPublic(attr *hcl.Attribute, mark value.Mark) diag.List {
	summary := map[value.Mark]string{value.Ephemeral: "Ephemeral value not allowed", value.Sensitive: "Sensitive value not allowed"}[mark]
	return diag.At(attr.Expr.Range(), summary, "The argument %q of the backend %q says where the state is. This is shown and recorded in files, so it must not come from a value that is %s. Use another value here.",
		attr.Name, k.Name, mark)
}

// CheckPublic refuses secrets in the arguments of a body that say where the state is. Values may be unknown.
func (k *Kind) CheckPublic(body hcl.Body) diag.List {
	var diags diag.List
	attrs, _ := body.JustAttributes() // Check reports the rest
	for _, name := range k.where {
		if attr := attrs[name]; attr != nil {
			v, hd := attr.Expr.Value(nil)
			if !hd.HasErrors() {
				diags = append(diags, k.checkPublic(attr, v)...)
			}
		}
	}
	return diags
}

// convert converts a value to the type of an argument. Attributes that an object lacks become null, and those
// that the type lacks are dropped.
func (k *Kind) convert(name string, v cty.Value) (cty.Value, error) {
	ty := k.typeOf(name)
	if a := k.Block.Attributes[name]; a != nil && a.Nested != nil {
		parts := slices.Collect(maps.Keys(a.Nested.Attributes))
		optional := slices.DeleteFunc(parts, func(part string) bool { return a.Nested.Attributes[part].Required })
		ty = cty.ObjectWithOptionalAttrs(ty.AttributeTypes(), optional)
	}
	return convert.Convert(v, ty)
}

// shape says which attributes an object has that is not of the form of an argument.
func (k *Kind) shape(name string) string {
	a := k.Block.Attributes[name]
	if a == nil || a.Nested == nil {
		return ""
	}
	parts := slices.Collect(maps.Keys(a.Nested.Attributes))
	text := " Its attributes are " + diag.Names(parts) + "."
	required := slices.DeleteFunc(parts, func(part string) bool { return !a.Nested.Attributes[part].Required })
	if len(required) > 0 {
		text += " Required: " + diag.Names(required) + "."
	}
	return text
}

// decodeBlocks decodes the blocks within the body.
func (k *Kind) decodeBlocks(blocks hcl.Blocks, values map[string]cty.Value) diag.List {
	var diags diag.List
	for name, all := range blocks.ByType() {
		if len(all) > 1 {
			diags = append(diags, diag.At(all[1].DefRange, "Duplicate "+name+" block", "The backend %q may have one block %q. The other one is at %s.", k.Name, name, diag.Place(all[0].DefRange))...)
			continue
		}
		nested := k.Block.Blocks[name]
		v, ds := nested.Decode(all[0].Body, nil)
		if diags = append(diags, ds...); ds.HasErrors() {
			continue
		}
		switch {
		case k.typeOf(name).IsListType():
			v = cty.ListVal([]cty.Value{v})
		case k.typeOf(name).IsSetType():
			v = cty.SetVal([]cty.Value{v})
		}
		values[name] = v
	}
	return diags
}

// deprecated warns of arguments that should not be used any more.
func (k *Kind) deprecated(values map[string]cty.Value, content *hcl.BodyContent) diag.List {
	var diags diag.List
	for _, d := range k.Block.DeprecatedUses(k.Object(values)) {
		if step, ok := d.Path[0].(cty.GetAttrStep); ok && content.Attributes[step.Name] != nil {
			d.Subject = content.Attributes[step.Name].NameRange.Ptr()
		}
		d.Path = nil
		diags = append(diags, d)
	}
	return diags
}

// SetText returns the value of an argument from the text of an option -backend-config.
func (k *Kind) SetText(name, text string) (cty.Value, diag.List) {
	const summary = "Invalid backend configuration argument"
	a := k.Block.Attributes[name]
	if a == nil {
		return cty.NilVal, diag.Errorf(summary, "An option -backend-config sets the argument %q, which the %s does not have.%s It has %s.",
			name, k, diag.DidYouMean(name, settable(k)), diag.Names(settable(k)))
	}
	v, err := convert.Convert(cty.StringVal(text), k.typeOf(name))
	if err != nil {
		return cty.NilVal, diag.Errorf(summary, "An option -backend-config sets the argument %q of the %s, which must be a %s.", name, k, k.typeName(name))
	}
	if isHollow(k, name, v) {
		return cty.NilVal, diag.Errorf(summary, "An option -backend-config sets the argument %q of the %s. %s", name, k, hollow(name))
	}
	return v, nil
}

// settable returns the names of the arguments that options may set.
func settable(k *Kind) []string {
	if k.Provided != nil {
		return k.Provided.loose.Names()
	}
	return k.Block.Names()
}

func (k *Kind) similar(name string) string { return diag.DidYouMean(name, k.Block.Names()) }
