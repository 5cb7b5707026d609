// Package generate writes the block of a resource in the configuration language, from an object that exists:
// the text with which a configuration can begin to manage an imported object.
//
// It may import addr, schema, cty and HCL's writer. It must not know providers, plans or state. Values that
// the schema calls sensitive, and write-only ones, are never written: null stands in their place, with a
// comment.
package generate

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/jsonvalue"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// Header is the beginning of a file of generated blocks.
const Header = "# __generated__ by Mayfly\n# Read these blocks, complete what is null but required, and move them to where they belong.\n"

// Comment is the line before a generated block: where it comes from. from is the id that was imported, "" if
// it was an identity.
func Comment(from string) string {
	if from == "" {
		return "# __generated__ by Mayfly\n"
	}
	return "# __generated__ by Mayfly from " + quoted(from) + "\n"
}

// Resource returns the block of a managed resource whose object is v, a known value of the block's type
// without marks. Attributes that only the provider sets are left out, and so are deprecated ones, unless only
// the configuration can have set them. provider is the provider argument, such as "aws.west", or "" for none.
// The text is formatted and ends without a line break.
func Resource(r addr.Resource, provider string, b *schema.Block, v cty.Value) string {
	var w writer
	w.line("resource ", quoted(r.Type), " ", quoted(r.Name), " {")
	if provider != "" {
		w.line("provider = ", provider)
	}
	w.top = true
	w.block(b, v)
	w.text.WriteString("}")
	return string(hclwrite.Format([]byte(w.text.String())))
}

// Import returns an import block for the object with an identity, a known value without marks. The resource
// block names the provider.
func Import(to addr.Resource, identity cty.Value) string {
	var w writer
	w.line("import {")
	w.line("to = ", to.String())
	w.line("identity = {")
	for it := identity.ElementIterator(); it.Next(); {
		if name, v := it.Element(); !v.IsNull() {
			w.line(keyExpr(name.AsString()), " = ", expr(v))
		}
	}
	w.line("}")
	w.text.WriteString("}")
	return string(hclwrite.Format([]byte(w.text.String())))
}

// writer collects the text of one block. The text is formatted at the end, so it writes no indentation.
type writer struct {
	text strings.Builder
	top  bool // of the resource's own attributes
}

// line writes a line.
func (w *writer) line(parts ...string) {
	for _, p := range parts {
		w.text.WriteString(p)
	}
	w.text.WriteByte('\n')
}

// block writes the content of a block: arguments and then nested blocks, each in the order of their names.
func (w *writer) block(b *schema.Block, v cty.Value) {
	top := w.top
	w.top = false
	for _, name := range names(b.Attributes) {
		a := b.Attributes[name]
		// The id that older SDKs add to every resource can be set by its schema, but is never meant to be.
		if top && name == "id" && a.Optional && a.Computed {
			continue
		}
		w.attribute(name, a, v.GetAttr(name))
	}
	for _, name := range names(b.Blocks) {
		w.nested(name, b.Blocks[name], v.GetAttr(name))
	}
}

// attribute writes one argument, if a configuration may have it.
func (w *writer) attribute(name string, a *schema.Attribute, v cty.Value) {
	if !a.Required && (!a.Optional || a.Deprecated && (a.Computed || v.IsNull())) {
		return
	}
	if a.Sensitive || a.WriteOnly {
		w.line(name, " = null # ", comment(a))
		return
	}
	w.text.WriteString(name + " = ")
	switch {
	case v.IsNull() || !v.IsKnown():
		w.text.WriteString("null")
	case a.Nested != nil:
		w.objects(a.Nested, v)
	case v.Type() == cty.String:
		w.text.WriteString(stringExpr(v.AsString()))
	default:
		w.text.WriteString(expr(v))
	}
	w.line()
}

// comment says why a value is not written.
func comment(a *schema.Attribute) string {
	switch {
	case a.Sensitive && a.WriteOnly:
		return "sensitive write-only"
	case a.Sensitive:
		return "sensitive"
	}
	return "write-only"
}

// objects writes the value of a nested attribute.
func (w *writer) objects(o *schema.Object, v cty.Value) {
	switch o.Nesting {
	case schema.Map:
		if v.LengthInt() == 0 {
			w.text.WriteString("{}")
			return
		}
		w.line("{")
		for it := v.ElementIterator(); it.Next(); {
			key, one := it.Element()
			w.text.WriteString(keyExpr(key.AsString()) + " = ")
			w.object(o, one)
			w.line()
		}
		w.text.WriteString("}")
	case schema.List, schema.Set:
		if v.LengthInt() == 0 {
			w.text.WriteString("[]")
			return
		}
		w.line("[")
		for it := v.ElementIterator(); it.Next(); {
			_, one := it.Element()
			w.object(o, one)
			w.line(",")
		}
		w.text.WriteString("]")
	default:
		w.object(o, v)
	}
}

// object writes one object of a nested attribute.
func (w *writer) object(o *schema.Object, v cty.Value) {
	if v.IsNull() || !v.IsKnown() {
		w.text.WriteString("null")
		return
	}
	w.line("{")
	for _, name := range names(o.Attributes) {
		w.attribute(name, o.Attributes[name], v.GetAttr(name))
	}
	w.text.WriteString("}")
}

// nested writes the blocks of one type.
func (w *writer) nested(name string, n *schema.NestedBlock, v cty.Value) {
	if v.IsNull() || !v.IsKnown() || n.Deprecated && n.MinItems == 0 {
		return
	}
	switch n.Nesting {
	case schema.Map:
		for it := v.ElementIterator(); it.Next(); {
			key, one := it.Element()
			w.one(name+" "+quoted(key.AsString()), &n.Block, one)
		}
	case schema.List, schema.Set:
		for it := v.ElementIterator(); it.Next(); {
			_, one := it.Element()
			w.one(name, &n.Block, one)
		}
	default:
		w.one(name, &n.Block, v)
	}
}

// one writes one nested block.
func (w *writer) one(head string, b *schema.Block, v cty.Value) {
	w.line(head, " {")
	w.block(b, v)
	w.line("}")
}

// stringExpr is an expression for a string: one that is a JSON document as jsonencode writes it becomes a
// call of jsonencode.
func stringExpr(text string) string {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return quoted(text)
	}
	ty, err := ctyjson.ImpliedType([]byte(text))
	if err != nil {
		return quoted(text)
	}
	v, err := jsonvalue.Unmarshal([]byte(text), ty)
	if err != nil {
		return quoted(text)
	}
	if again, err := ctyjson.Marshal(v, ty); err != nil || string(again) != text {
		return quoted(text) // to say the same in other words could be a change to the provider
	}
	return "jsonencode(" + expr(v) + ")"
}

// expr returns the expression of a known value.
func expr(v cty.Value) string { return string(hclwrite.TokensForValue(v).Bytes()) }

// quoted returns a string in quotes, with escapes and without interpolation.
func quoted(text string) string { return expr(cty.StringVal(text)) }

// keyExpr returns the key of an object or map, in quotes if it is not an identifier.
func keyExpr(key string) string {
	if hclsyntax.ValidIdentifier(key) {
		return key
	}
	return quoted(key)
}

// names returns the keys of a map in order.
func names[T any](m map[string]T) []string {
	return slices.Sorted(maps.Keys(m))
}
