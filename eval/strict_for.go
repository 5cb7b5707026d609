package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/value"
)

// loop is a for expression. HCL takes the marks off a collection before it looks at the elements, and puts them on the result. That loses them if the
// result is unknown, and what is reported about an element does not know that it is secret.
type loop struct{ *hclsyntax.ForExpr }

// Value implements hcl.Expression.
func (l loop) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	coll := evaluated(l.CollExpr, ctx)
	seen := &skipped{}
	whole := *l.ForExpr
	whole.CollExpr = coll
	if l.CondExpr != nil {
		whole.CondExpr = guarding{Expression: l.CondExpr, of: l.ForExpr, seen: seen}
	}
	if l.KeyExpr != nil {
		whole.KeyExpr = guarding{Expression: l.KeyExpr, of: l.ForExpr, seen: seen, key: true}
	}
	v, diags := whole.Value(ctx)
	if diags.HasErrors() {
		return v, l.withheld(ctx, coll, seen, diags)
	}
	if v.IsKnown() {
		return v, diags
	}
	if !coll.v.IsKnown() {
		seen.look(l.ForExpr, l.child(ctx, cty.DynamicVal, cty.DynamicVal))
	}
	v = v.WithSameMarks(coll.v)
	if seen.ephemeral {
		v = v.Mark(value.Ephemeral)
	}
	return v, diags
}

func (l loop) child(ctx *hcl.EvalContext, key, val cty.Value) *hcl.EvalContext {
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{l.ValVar: val}
	if l.KeyVar != "" {
		child.Variables[l.KeyVar] = key
	}
	return child
}

// skipped tells about the elements that an evaluation did not look at because it is unknown whether, or under what key, they will be there.
type skipped struct {
	ephemeral bool // one of them may be ephemeral
	secretKey cty.ValueMarks
}

// look evaluates what the loop would make of an element.
func (s *skipped) look(e *hclsyntax.ForExpr, ctx *hcl.EvalContext) {
	for _, x := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if x == nil || s.ephemeral {
			continue
		}
		v, diags := x.Value(ctx)
		s.ephemeral = !diags.HasErrors() && value.Contains(v, value.Ephemeral)
	}
}

// guarding is the condition or the key of a loop.
type guarding struct {
	hclsyntax.Expression
	of   *hclsyntax.ForExpr
	seen *skipped
	key  bool
}

// Value implements hcl.Expression.
func (g guarding) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	v, diags := g.Expression.Value(ctx)
	if !diags.HasErrors() && !v.IsKnown() && !unknownElement(ctx, g.of) {
		g.seen.look(g.of, ctx)
	}
	if _, secret := value.Redacted(v.Marks()); secret && g.key {
		g.seen.secretKey = v.Marks()
	}
	return v, diags
}

// unknownElement reports whether the context is that of HCL's trial of the condition, before there are elements.
func unknownElement(ctx *hcl.EvalContext, e *hclsyntax.ForExpr) bool {
	return ctx.Variables[e.ValVar].RawEquals(cty.DynamicVal)
}

// withheld returns what may be told about errors in a loop. If the collection is secret, it is gone through again with the elements marked like it: their
// values are then hidden from the errors and from the functions that make up their texts.
func (l loop) withheld(ctx *hcl.EvalContext, coll *evaluatedExpr, seen *skipped, diags hcl.Diagnostics) hcl.Diagnostics {
	marks := coll.v.Marks()
	word, secret := value.Redacted(marks)
	if !secret {
		if word, secret = value.Redacted(seen.secretKey); secret {
			return aboutKeys(diags, word, func(x hcl.Expression) bool { _, ok := x.(guarding); return ok })
		}
		return diags
	}
	plain, _ := coll.v.Unmark()
	if !plain.IsKnown() || plain.IsNull() || !plain.CanIterateElements() {
		return diags
	}
	items := make([]cty.Value, 0, plain.LengthInt())
	for k, v := range plain.Elements() {
		items = append(items, cty.ObjectVal(map[string]cty.Value{"key": k.WithMarks(marks), "value": v.WithMarks(marks)}))
	}
	whole := *l.ForExpr
	whole.CollExpr = &evaluatedExpr{Expression: l.CollExpr, v: cty.TupleVal(items)}
	whole.KeyVar, whole.ValVar = "", itemName
	whole.ValExpr = l.item(l.ValExpr)
	if l.KeyExpr != nil {
		whole.KeyExpr = l.item(l.KeyExpr)
	}
	if l.CondExpr != nil {
		whole.CondExpr = l.item(l.CondExpr)
	}
	_, hidden := whole.Value(ctx)
	return aboutKeys(hidden, word, func(x hcl.Expression) bool { _, ok := x.(itemExpr); return ok })
}

// aboutKeys takes the texts out of errors that HCL itself raises about what a part of the loop gave: they show keys.
func aboutKeys(diags hcl.Diagnostics, word string, ours func(hcl.Expression) bool) hcl.Diagnostics {
	for _, d := range diags {
		if d.Expression != nil && ours(d.Expression) {
			d.Detail = "For at least one of the elements this gives what cannot be used here. Keys must be strings, not null, and unlike each other unless \"...\" " +
				"after the value groups them; conditions must be true or false. Which element it is, is withheld because it could reveal a value: " + word + "."
		}
	}
	return diags
}

// itemName can be no name in a configuration.
const itemName = "an element"

func (l loop) item(e hclsyntax.Expression) itemExpr { return itemExpr{Expression: e, of: l} }

// itemExpr is a part of a loop over marked elements.
type itemExpr struct {
	hclsyntax.Expression
	of loop
}

// Value implements hcl.Expression.
func (e itemExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	key, val := cty.DynamicVal, cty.DynamicVal
	if item := ctx.Variables[itemName]; item.IsKnown() {
		key, val = item.GetAttr("key"), item.GetAttr("value")
	}
	v, diags := e.Expression.Value(e.of.child(ctx, key, val))
	for _, d := range diags {
		if d.Expression != nil && d.EvalContext == nil {
			d.EvalContext = ctx
		}
	}
	return v, diags
}
