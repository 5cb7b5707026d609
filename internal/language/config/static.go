package config

import (
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
)

// Static evaluates an expression of module m that must be known before the configuration is complete: a
// module source or version, or an argument of a backend. The modules from the root to m and the calls
// between them are loaded. Without errors, the value is wholly known and, except for arguments of backends,
// unmarked. Variables in it are resolved with the values for the root module, so Static is a function of the
// run, not of the configuration.
type Static func(m *Module, expr hcl.Expression) (cty.Value, diag.List)

// Resolve evaluates the source and version of a call of m, if they are expressions. It does so once and
// reports errors only the first time. The call is changed: Source and Version are set as if they had been
// written as constants.
func (l *Loader) Resolve(m *Module, call *ModuleCall) diag.List {
	var diags diag.List
	if expr := call.sourceExpr; expr != nil {
		call.sourceExpr = nil
		text, ds := l.staticText(m, "source", expr)
		if diags = append(diags, ds...); !ds.HasErrors() {
			if strings.TrimSpace(text) == "" {
				return append(diags, emptySource(expr.Range())...)
			}
			call.Source, call.SourceSet = text, true
		}
	}
	if expr := call.versionExpr; expr != nil {
		call.versionExpr = nil
		text, ds := l.staticText(m, "version", expr)
		if diags = append(diags, ds...); ds.HasErrors() {
			return diags
		}
		if _, err := version.NewConstraint(text); err != nil {
			return append(diags, badConstraint(expr.Range())...)
		}
		call.Version = VersionConstraint{Text: text, Range: expr.Range()}
	}
	if call.SourceSet && call.Local() && call.versionRange != nil {
		diags = append(diags, versionOfLocal(*call.versionRange, call.Source)...)
		call.versionRange = nil
	}
	return diags
}

// staticText evaluates an argument of a module call that must be a string. name is the argument's.
func (l *Loader) staticText(m *Module, name string, expr hcl.Expression) (string, diag.List) {
	if l.Static == nil {
		return "", diag.At(expr.Range(), "Unsupported module "+name,
			"The argument %q of this module call is an expression, which cannot be evaluated here. Write it without references.", name)
	}
	v, diags := l.Static(m, expr)
	if diags.HasErrors() {
		return "", diags
	}
	v, err := convert.Convert(v, cty.String)
	switch {
	case err != nil:
		return "", append(diags, diag.At(expr.Range(), "Unsuitable value type", "Unsuitable value for %q: %s.", name, err)...)
	case v.IsNull() || !v.IsKnown():
		return "", append(diags, diag.At(expr.Range(), "Unsuitable value type", "The argument %q must not be null. Remove it, or give it a constant value.", name)...)
	}
	return v.AsString(), diags
}

func emptySource(rng hcl.Range) diag.List {
	return diag.At(rng, "Invalid module source address", "The source of a module must not be empty. A local directory starts with \"./\" or \"../\".")
}

func versionOfLocal(rng hcl.Range, source string) diag.List {
	return diag.At(rng, "Invalid registry module source address",
		"The argument \"version\" applies only to modules from a registry, but %q is a local directory. Remove the version, or correct the source.", source)
}

func badConstraint(rng hcl.Range) diag.List {
	return diag.At(rng, "Invalid version constraint",
		"This is not a valid version constraint. Write for example \">= 1.2.0\" or \"~> 3.1\", with commas between several conditions.")
}

// constant returns the value of an expression without references and function calls.
func constant(expr hcl.Expression) (cty.Value, bool) {
	if len(expr.Variables()) > 0 {
		return cty.NilVal, false
	}
	v, diags := expr.Value(nil)
	return v, !diags.HasErrors()
}

// staticBody is a body whose expressions are evaluated statically if no context is given. So decoding a
// backend block requires no knowledge of modules and variables.
type staticBody struct {
	hcl.Body
	module *Module
	static Static
}

// Shape returns the body with its expressions evaluated as far as partial can without the values of
// variables. Expressions with errors are unknown.
func (b *Backend) Shape(m *Module, partial Static) hcl.Body { return shape(b.Body, m, partial) }

// Shape is Backend.Shape for the configuration of the provider.
func (p *StoreProvider) Shape(m *Module, partial Static) hcl.Body { return shape(p.Body, m, partial) }

func shape(body hcl.Body, m *Module, partial Static) hcl.Body {
	if s, ok := body.(staticBody); ok {
		body = s.Body
	}
	return staticBody{body, m, func(m *Module, expr hcl.Expression) (cty.Value, diag.List) {
		v, diags := partial(m, expr)
		if diags.HasErrors() {
			return cty.DynamicVal, nil
		}
		return v, nil
	}}
}

// Content implements hcl.Body.
func (b staticBody) Content(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Diagnostics) {
	content, diags := b.Body.Content(s)
	return b.content(content), diags
}

// PartialContent implements hcl.Body.
func (b staticBody) PartialContent(s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body, hcl.Diagnostics) {
	content, rest, diags := b.Body.PartialContent(s)
	if rest != nil {
		rest = staticBody{rest, b.module, b.static}
	}
	return b.content(content), rest, diags
}

// JustAttributes implements hcl.Body.
func (b staticBody) JustAttributes() (hcl.Attributes, hcl.Diagnostics) {
	attrs, diags := b.Body.JustAttributes()
	return b.attributes(attrs), diags
}

// content wraps decoded content: its expressions, and the bodies of its blocks.
func (b staticBody) content(c *hcl.BodyContent) *hcl.BodyContent {
	if c == nil {
		return nil
	}
	out := *c
	out.Attributes, out.Blocks = b.attributes(c.Attributes), nil
	for _, block := range c.Blocks {
		inner := *block
		inner.Body = staticBody{block.Body, b.module, b.static}
		out.Blocks = append(out.Blocks, &inner)
	}
	return &out
}

func (b staticBody) attributes(attrs hcl.Attributes) hcl.Attributes {
	out := make(hcl.Attributes, len(attrs))
	for name, attr := range attrs {
		a := *attr
		a.Expr = staticExpr{attr.Expr, b.module, b.static}
		out[name] = &a
	}
	return out
}

// staticExpr is an expression of a staticBody. With an evaluation context, it behaves like the original:
// then the caller resolves its references.
type staticExpr struct {
	hcl.Expression
	module *Module
	static Static
}

// UnwrapExpression returns the original expression, for callers that examine its form.
func (e staticExpr) UnwrapExpression() hcl.Expression { return e.Expression }

// Value implements hcl.Expression.
func (e staticExpr) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if ctx != nil {
		return e.Expression.Value(ctx)
	}
	if v, ok := constant(e.Expression); ok {
		return v, nil
	}
	v, diags := e.static(e.module, e.Expression)
	return v, diags.ToHCL()
}
