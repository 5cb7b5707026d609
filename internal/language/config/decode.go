package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/mayfly-iac/mayfly/diag"
)

// Semantic is the Extra of an error in the meaning of a configuration rather than in its form: the modules
// and providers that it needs are known nevertheless. "mayfly init" ignores such errors: it may run to get
// the providers whose schemas help to find the mistake.
type Semantic struct{}

// semantic returns an error marked as Semantic.
func semantic(rng hcl.Range, summary, format string, args ...any) diag.List {
	diags := diag.At(rng, summary, format, args...)
	diags[0].Extra = Semantic{}
	return diags
}

// Formal returns the diagnostics except errors marked as Semantic.
func Formal(diags diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(diags), func(d diag.Diagnostic) bool {
		_, marked := d.Extra.(Semantic)
		return marked
	})
}

// decoder turns the blocks of one module's files into a Module and collects diagnostics. Decoding never
// stops at an error: a block with a mistake is decoded as far as possible, and left out of the module only
// if its name is invalid or taken. A decoder is used by one goroutine. Kinds of blocks that need more than a
// function have decoders of their own, which share the module and the reader.
type decoder struct {
	*reader
	m *Module
	// ephemeralRootOutputs permits ephemeral outputs in the root module, as for a module under test.
	ephemeralRootOutputs bool
	// terraform makes constraints on Terraform count in place of those on OpenTofu.
	terraform bool
}

// reader reads the arguments and nested blocks that a block may have, whatever its kind, and collects the
// errors in them.
type reader struct{ problems }

// problems are diagnostics that are being collected.
type problems struct{ diags diag.List }

func (p *problems) errorAt(rng hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, diag.At(rng, summary, format, args...)...)
}

// semanticAt reports an error marked as Semantic.
func (p *problems) semanticAt(rng hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, semantic(rng, summary, format, args...)...)
}

func (p *problems) warnAt(rng hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, diag.At(rng, summary, format, args...).AsWarnings()...)
}

// hcl records diagnostics of the parser and reports whether there are no errors among them.
func (d *reader) hcl(diags hcl.Diagnostics) bool {
	d.diags = append(d.diags, diag.FromHCL(diags)...)
	return !diags.HasErrors()
}

// schema builds a body schema; an argument name that ends in "!" is required. Block types are given as "type"
// or "type label ...".
//
//	schema("value! sensitive", "precondition", "provisioner type")
func schema(attrs string, blocks ...string) *hcl.BodySchema {
	s := &hcl.BodySchema{}
	for _, name := range strings.Fields(attrs) {
		name, required := strings.CutSuffix(name, "!")
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name, Required: required})
	}
	for _, b := range blocks {
		words := strings.Fields(b)
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: words[0], LabelNames: words[1:]})
	}
	return s
}

// content decodes a whole body by schema and reports everything that the schema lacks.
func (d *reader) content(body hcl.Body, s *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(s)
	d.hcl(diags)
	return content
}

// attributes returns all arguments of a body that must not have blocks. Unlike hcl.Body.JustAttributes,
// which examines the body as written, it ignores blocks that were extracted before.
func (d *reader) attributes(body hcl.Body) hcl.Attributes {
	attrs, _ := body.JustAttributes()
	s := &hcl.BodySchema{}
	for _, attr := range inOrder(attrs) {
		s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: attr.Name})
	}
	return d.content(body, s).Attributes
}

// partial extracts the schema's items from body and returns the rest, together with the content of a "_"
// block: arguments there may have the names of meta-arguments.
//
//	provisioner "acme" {
//	  _ { when = "now" } # the provisioner's own argument, not the meta-argument
//	}
func (d *reader) partial(body hcl.Body, s *hcl.BodySchema) (*hcl.BodyContent, hcl.Body) {
	s = &hcl.BodySchema{Attributes: s.Attributes, Blocks: append(slices.Clip(s.Blocks), hcl.BlockHeaderSchema{Type: "_"})}
	content, rest, diags := body.PartialContent(s)
	d.hcl(diags)
	if escape := d.single(content, "_", "meta-argument escaping block"); escape != nil {
		rest = hcl.MergeBodies([]hcl.Body{rest, escape.Body})
	}
	return content, rest
}

// single returns the only block of a type, or nil if there is none. If there are several, it reports that
// and returns the first.
func (d *reader) single(content *hcl.BodyContent, typ, what string) *hcl.Block {
	var first *hcl.Block
	for _, b := range content.Blocks {
		if b.Type != typ {
			continue
		}
		if first == nil {
			first = b
			continue
		}
		d.errorAt(b.DefRange, fmt.Sprintf("Duplicate %s", what), "There is already a %s at %s. Only one is allowed here.", what, diag.Place(first.DefRange))
	}
	return first
}

// static evaluates an argument that must be a constant of the given type. Otherwise it reports that and
// returns cty.NilVal.
func (d *reader) static(attr *hcl.Attribute, ty cty.Type) cty.Value {
	v, diags := attr.Expr.Value(nil)
	if !d.hcl(diags) {
		return cty.NilVal
	}
	v, err := convert.Convert(v, ty)
	switch {
	case err != nil:
		d.errorAt(attr.Expr.Range(), "Unsuitable value type", "Unsuitable value for %q: %s.", attr.Name, err)
		return cty.NilVal
	case v.IsNull() || !v.IsWhollyKnown():
		d.errorAt(attr.Expr.Range(), "Unsuitable value type", "The argument %q must not be null. Remove it, or give it a constant value.", attr.Name)
		return cty.NilVal
	}
	return v
}

// text returns the constant string of an optional argument, or "" if it is absent or invalid.
func (d *reader) text(content *hcl.BodyContent, name string) string {
	if attr := content.Attributes[name]; attr != nil {
		if v := d.static(attr, cty.String); v != cty.NilVal {
			return v.AsString()
		}
	}
	return ""
}

// flag returns the constant bool of an optional argument, or def.
func (d *reader) flag(content *hcl.BodyContent, name string, def bool) bool {
	if attr := content.Attributes[name]; attr != nil {
		if v := d.static(attr, cty.Bool); v != cty.NilVal {
			return v.True()
		}
	}
	return def
}

// keyword returns the keyword of an optional argument and true. A quoted keyword gives a warning. For any
// other word it reports an error that lists the allowed ones, and returns false.
func (d *reader) keyword(attr *hcl.Attribute, allowed ...string) (string, bool) {
	word := hcl.ExprAsKeyword(attr.Expr)
	if s, ok := quotedText(attr.Expr); ok && word == "" {
		word = s
		d.warnQuoted(attr.Expr, "Quoted keywords are deprecated", "keywords", "keyword")
	}
	if slices.Contains(allowed, word) {
		return word, true
	}
	d.errorAt(attr.Expr.Range(), fmt.Sprintf("Invalid %q keyword", attr.Name),
		"The %q argument requires one of the following keywords: %s.%s", attr.Name, strings.Join(allowed, " or "), diag.DidYouMean(word, allowed))
	return "", false
}

// warnQuoted warns about quotes around something that is not a string. In JSON there is no other way to
// write it, so there is no warning.
func (d *reader) warnQuoted(expr hcl.Expression, summary, what, one string) {
	if hcljson.IsJSONExpression(expr) {
		return
	}
	d.warnAt(expr.Range(), summary, "In this context, %s are written without quotes. Remove the quotes surrounding this %s to silence this warning.", what, one)
}

// quotedText returns the text of an expression that is a constant string in quotes. Templates without
// interpolations count as well. The second result is false for all other expressions, and for strings in
// JSON that contain an interpolation.
func quotedText(expr hcl.Expression) (string, bool) {
	if key, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		expr = key.Wrapped
	}
	if _, ok := expr.(*hclsyntax.TemplateExpr); !ok && !hcljson.IsJSONExpression(expr) {
		return "", false
	}
	v, diags := expr.Value(nil)
	if diags.HasErrors() || v.IsNull() || !v.IsKnown() || v.Type() != cty.String {
		return "", false
	}
	return v.AsString(), true
}

// unquote returns expr itself or the expression inside its quotes. JSON requires the quoted form wherever a
// reference is expected. Old configurations in native syntax use it too, which gives a warning. The inner
// expression is parsed with the position of the text in the file, so that errors about it point into the
// quotes. It returns nil if the text in quotes is not an expression, which was reported.
func (d *reader) unquote(expr hcl.Expression) hcl.Expression {
	s, ok := quotedText(expr)
	if !ok {
		return expr
	}
	start := expr.StartRange().Start
	start.Byte++
	start.Column++
	src := []byte(s)
	if diags := CheckExpression(src, expr.Range().Filename); diags.HasErrors() {
		d.diags = append(d.diags, diags...)
		return nil
	}
	inner, diags := hclsyntax.ParseExpression(src, expr.Range().Filename, start)
	d.diags = append(d.diags, expressionSyntax(diags, src, expr.Range().Filename, start)...)
	if diags.HasErrors() {
		return nil
	}
	d.warnQuoted(expr, "Quoted references are deprecated", "references", "reference")
	return inner
}

// traversal interprets expr as an absolute reference without computed parts. Otherwise it reports that and
// returns nil.
func (d *reader) traversal(expr hcl.Expression) hcl.Traversal {
	inner := d.unquote(expr)
	if inner == nil {
		return nil
	}
	t, diags := hcl.AbsTraversalForExpr(inner)
	if !d.hcl(diags) {
		return nil
	}
	return t
}

// constraint decodes a version constraint argument and checks its syntax. It returns the zero value if the
// argument is not a constant string or not a constraint.
func (d *reader) constraint(attr *hcl.Attribute) VersionConstraint {
	v := d.static(attr, cty.String)
	if v == cty.NilVal {
		return VersionConstraint{}
	}
	return d.constraintText(v.AsString(), attr.Expr.Range())
}

// constraintText checks the syntax of a version constraint that comes from rng. An invalid one counts as
// absent.
func (d *reader) constraintText(text string, rng hcl.Range) VersionConstraint {
	if _, err := version.NewConstraint(text); err != nil {
		d.diags = append(d.diags, badConstraint(rng)...)
		return VersionConstraint{}
	}
	return VersionConstraint{Text: text, Range: rng}
}

// name checks a label that becomes part of an address.
func (d *reader) name(block *hcl.Block, label int, what string) bool {
	return d.identifier(block.Labels[label], block.LabelRanges[label], what)
}

// identifier reports an error and returns false unless name can be written in a reference. what names the
// kind of object in the message.
func (d *reader) identifier(name string, rng hcl.Range, what string) bool {
	if hclsyntax.ValidIdentifier(name) {
		return true
	}
	d.errorAt(rng, "Invalid "+what,
		"%q is not a valid name. A name must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.", name)
	return false
}

var conditionSchema = schema("condition! error_message!")

// condition decodes a precondition, postcondition, validation or assert block, and returns nil if an
// argument is missing. A condition without references is an error, because it is always met or never.
func (d *reader) condition(block *hcl.Block) *Condition {
	content := d.content(block.Body, conditionSchema)
	cond, msg := content.Attributes["condition"], content.Attributes["error_message"]
	if cond == nil || msg == nil {
		return nil
	}
	if len(cond.Expr.Variables()) == 0 {
		d.errorAt(cond.Expr.Range(), fmt.Sprintf("Invalid %s expression", block.Type),
			"This condition refers to nothing, so its result is always the same. Make it test some object of the configuration, or remove the block.")
		return nil
	}
	return &Condition{Condition: cond.Expr, ErrorMessage: msg.Expr, Range: block.DefRange}
}

// conditions decodes all blocks of a type that are conditions, in source order, without the invalid ones.
func (d *reader) conditions(content *hcl.BodyContent, typ string) []*Condition {
	var out []*Condition
	for _, b := range content.Blocks {
		if b.Type == typ {
			if c := d.condition(b); c != nil {
				out = append(out, c)
			}
		}
	}
	return out
}

// inOrder returns attributes in source order.
func inOrder(attrs hcl.Attributes) []*hcl.Attribute {
	return slices.SortedFunc(maps.Values(attrs), func(a, b *hcl.Attribute) int { return compareRange(a.NameRange, b.NameRange) })
}

// compareRange orders ranges by file name and then by position, as cmp.Compare orders numbers.
func compareRange(a, b hcl.Range) int {
	if c := strings.Compare(a.Filename, b.Filename); c != 0 {
		return c
	}
	return a.Start.Byte - b.Start.Byte
}

// repetition takes count and for_each.
func (d *reader) repetition(rep *Repetition, content *hcl.BodyContent) {
	if attr := content.Attributes["count"]; attr != nil {
		rep.Count = attr.Expr
	}
	if attr := content.Attributes["for_each"]; attr != nil {
		rep.ForEach = attr.Expr
	}
}

// conflicts reports a block that is repeated in more than one way.
func (d *reader) conflicts(rep Repetition) {
	var given []string
	var last hcl.Expression
	for _, m := range []struct {
		name string
		expr hcl.Expression
	}{{"count", rep.Count}, {"for_each", rep.ForEach}, {"enabled", rep.Enabled}} {
		if m.expr != nil {
			given, last = append(given, m.name), m.expr
		}
	}
	if len(given) > 1 {
		d.errorAt(last.Range(), `Invalid combination of "count", "enabled", and "for_each"`,
			"Each of %s decides how many instances there are. Keep one of them.",
			quoteList(given, "and"))
	}
}
