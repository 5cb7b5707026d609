// Package diag holds diagnostics: the errors and warnings that a person can act on, with the place in the configuration they are about.
//
// It may import hcl (ranges, expressions) and cty (paths). It must not know how diagnostics are shown, nor any other package of this module.
package diag

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Severity tells errors from warnings.
type Severity uint8

// The severities.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one error or warning. Summary says what is wrong in a few words, Detail why it matters and what to do, in sentences.
// Neither may contain a value that is sensitive or ephemeral.
type Diagnostic struct {
	Severity Severity
	Summary  string
	Detail   string

	// Address is the object that the diagnostic is about ("with ..."), "" if none.
	Address string
	// Subject is the tight source range; Context a wider one for the snippet.
	Subject *hcl.Range
	Context *hcl.Range
	// Expression and EvalContext let the renderer show the values in play; it redacts marked ones.
	Expression  hcl.Expression
	EvalContext *hcl.EvalContext
	// Path is an attribute path that a provider named, not yet resolved to a source range: see List.InConfigBody.
	Path cty.Path
	// Extra steers control flow in code that knows the type; texts never do.
	Extra any
}

// List is a collection of diagnostics in the order in which they were found. The zero value is empty and ready to use.
type List []Diagnostic

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	for i := range l {
		if l[i].Severity == Error {
			return true
		}
	}
	return false
}

// Err returns the list as a Go error, or nil if it holds no errors.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return listError{l}
}

type listError struct{ list List }

func (e listError) Error() string {
	var parts []string
	for _, d := range e.list {
		if d.Severity == Error {
			parts = append(parts, d.String())
		}
	}
	return strings.Join(parts, "; ")
}

// String returns severity, position, summary and detail on one line, for logs and tests.
func (d Diagnostic) String() string {
	var sb strings.Builder
	if d.Subject != nil {
		sb.WriteString(d.Subject.String() + ": ")
	}
	sb.WriteString(d.Summary)
	if d.Detail != "" {
		sb.WriteString(": " + d.Detail)
	}
	return sb.String()
}

// Errorf returns a list with one error that has no source position.
func Errorf(summary, format string, args ...any) List {
	return List{{Summary: summary, Detail: fmt.Sprintf(format, args...)}}
}

// Warnf returns a list with one warning that has no source position.
func Warnf(summary, format string, args ...any) List {
	return List{{Severity: Warning, Summary: summary, Detail: fmt.Sprintf(format, args...)}}
}

// At returns a list with one error at rng.
func At(rng hcl.Range, summary, format string, args ...any) List {
	return List{{Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: rng.Ptr()}}
}

// FromHCL converts diagnostics of HCL's packages.
func FromHCL(in hcl.Diagnostics) List {
	var l List
	for _, d := range in {
		if d == nil {
			continue
		}
		sev := Error
		if d.Severity == hcl.DiagWarning {
			sev = Warning
		}
		l = append(l, Diagnostic{
			Severity: sev, Summary: d.Summary, Detail: d.Detail, Subject: d.Subject, Context: d.Context,
			Expression: d.Expression, EvalContext: d.EvalContext, Extra: d.Extra,
		})
	}
	return l
}

// WithAddress sets the address on all diagnostics that have none yet, and returns the list.
func (l List) WithAddress(address string) List {
	for i := range l {
		if l[i].Address == "" {
			l[i].Address = address
		}
	}
	return l
}

// AsWarnings turns every error into a warning, in place, and returns the list.
func (l List) AsWarnings() List {
	for i := range l {
		l[i].Severity = Warning
	}
	return l
}

// InConfigBody gives every diagnostic that has a Path and no Subject the source range of the deepest attribute or block of body that the
// path leads to, or the body's own range. It returns the list.
func (l List) InConfigBody(body hcl.Body) List {
	for i := range l {
		d := &l[i]
		if d.Subject != nil || body == nil {
			continue
		}
		rng := rangeOf(body, d.Path)
		d.Subject = &rng
	}
	return l
}

func rangeOf(body hcl.Body, path cty.Path) hcl.Range {
	fallback := body.MissingItemRange()
	if len(path) == 0 {
		return fallback
	}
	step, ok := path[0].(cty.GetAttrStep)
	if !ok {
		return fallback
	}
	if attrs, _ := body.JustAttributes(); attrs[step.Name] != nil {
		return attrRange(attrs[step.Name], path[1:])
	}
	return blockRange(body, step.Name, path[1:], fallback)
}

func attrRange(attr *hcl.Attribute, rest cty.Path) hcl.Range {
	expr := attr.Expr
	for _, step := range rest {
		next := childExpr(expr, step)
		if next == nil {
			break
		}
		expr = next
	}
	return expr.Range()
}

func childExpr(expr hcl.Expression, step cty.PathStep) hcl.Expression {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return mapItem(expr, step.Name)
	case cty.IndexStep:
		if !step.Key.IsKnown() || step.Key.IsNull() || step.Key.IsMarked() {
			return nil
		}
		if step.Key.Type() == cty.String {
			return mapItem(expr, step.Key.AsString())
		}
		if step.Key.Type() == cty.Number {
			items, diags := hcl.ExprList(expr)
			n, _ := step.Key.AsBigFloat().Int64()
			if !diags.HasErrors() && n >= 0 && int(n) < len(items) {
				return items[n]
			}
		}
	}
	return nil
}

func mapItem(expr hcl.Expression, name string) hcl.Expression {
	pairs, diags := hcl.ExprMap(expr)
	if diags.HasErrors() {
		return nil
	}
	for _, p := range pairs {
		v, diags := p.Key.Value(nil)
		if !diags.HasErrors() && v.Type() == cty.String && v.IsKnown() && !v.IsNull() && !v.IsMarked() && v.AsString() == name {
			return p.Value
		}
	}
	return nil
}

func blockRange(body hcl.Body, name string, rest cty.Path, fallback hcl.Range) hcl.Range {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: name}}})
	if content == nil || len(content.Blocks) == 0 {
		return fallback
	}
	blocks, index := content.Blocks.OfType(name), 0
	if len(rest) > 0 {
		if step, ok := rest[0].(cty.IndexStep); ok {
			if step.Key.IsKnown() && !step.Key.IsMarked() && step.Key.Type() == cty.Number {
				n, _ := step.Key.AsBigFloat().Int64()
				index = int(n)
			}
			rest = rest[1:]
		}
	}
	if index < 0 || index >= len(blocks) {
		return blocks[0].DefRange
	}
	if len(rest) == 0 {
		return blocks[index].DefRange
	}
	return rangeOf(blocks[index].Body, rest)
}
