// Package diag defines diagnostics: errors and warnings that the user can act on, with the place in the
// configuration they are about.
//
// It may import hcl (ranges, expressions) and cty (paths). It must not know how diagnostics are shown, nor
// any other package of this module.
package diag

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// Diagnostic is one error or warning. Summary names the problem in a few words; Detail says in sentences why
// it matters and how to solve it. Neither may contain a sensitive or ephemeral value.
type Diagnostic struct {
	Severity Severity
	Summary  string
	Detail   string

	// Address is the object that the diagnostic is about ("with ..."), "" if none.
	Address string
	// Subject is the exact source range; Context is a wider one for the snippet.
	Subject *hcl.Range
	Context *hcl.Range
	// Source is the text of Subject's file for the snippet, if that file is not part of the configuration.
	// It contains no secrets. It is nil if the text is unknown or must not be shown.
	Source []byte
	// Expression and EvalContext let the renderer show the values of references; it redacts marked ones.
	Expression  hcl.Expression
	EvalContext *hcl.EvalContext
	// Statements maps references to descriptions of their values, such as "is object with 3 attributes",
	// where EvalContext lacks a value or must not show all of it.
	Statements map[string]string
	// Parts does the same for parts of Expression that are not references. It contains no secrets.
	Parts []Part
	// Path is an attribute path from a provider that is not resolved to a source range yet: see
	// List.InConfigBody.
	Path cty.Path
	// Extra carries typed data for callers that base control flow on a diagnostic; they must not use its
	// texts.
	Extra any
}

// Part describes the value of a part of an expression.
type Part struct {
	Range     hcl.Range // where the part is written
	Path      string    // path from the part's value to the element shown, such as "[0].a"
	Statement string    // such as "is 3"
}

// CheckWarning is the Extra of a diagnostic from a check block. Such diagnostics are never merged, even if
// they are alike, and a later evaluation of the check replaces them.
type CheckWarning struct {
	Undecided bool // the result is known only after apply
}

// Unmet is the Extra of a diagnostic about a condition of an object that is not met.
type Unmet struct {
	Object string // the address of the object, such as "module.a[0].aws_instance.web" or "var.name"
}

// Assertion is the Extra of the warning about an assertion of a test run that is not met.
type Assertion struct {
	Undecided bool // it was not evaluated to true or false, because something in it is unknown
	// Unavailable are attributes in it whose values providers have computed in earlier runs, and that the
	// state does not keep: why it was not evaluated.
	Unavailable []string
	// Difference has the two sides of a comparison for equality that is not met, if neither is secret.
	Difference *Difference
}

// Difference is two values that were expected to be equal. Neither has marks, or is unknown anywhere.
type Difference struct{ Left, Right cty.Value }

// Once is the Extra of a diagnostic that nothing else stands for: no later command has another one, or it is
// about one option of several. It is shown in full, and never merged.
type Once struct{}

// Once returns the diagnostics as ones that nothing else stands for.
func (l List) Once() List {
	for i := range l {
		l[i].Extra = Once{}
	}
	return l
}

// Unknown is the Extra of an error about a value that is unknown where it must be known. If there are other
// errors, it is likely to be their consequence.
type Unknown struct {
	// Exclude has the arguments of the option -exclude that leave out everything that needs the value;
	// none if nothing does.
	Exclude []string
}

// AboutUnknown reports whether the Extra of d is Unknown.
func (d Diagnostic) AboutUnknown() bool {
	_, ok := d.Extra.(Unknown)
	return ok
}

// Deprecation is the Extra of a warning about the use of a deprecated part of a module.
type Deprecation struct {
	// Local reports whether the module is called by a relative path, so that its caller can change it.
	Local bool
}

// List is a collection of diagnostics in the order in which they were found. The zero value is empty and
// ready to use.
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

// Sorted returns the list in source order: diagnostics without a place first, then file by file from top to
// bottom. Diagnostics at the same place keep their order.
func (l List) Sorted() List {
	l = slices.Clone(l)
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		switch {
		case a.Subject == nil && b.Subject == nil:
			return 0
		case a.Subject == nil:
			return -1
		case b.Subject == nil:
			return 1
		}
		return cmp.Or(cmp.Compare(a.Subject.Filename, b.Subject.Filename), cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte))
	})
	return l
}

// Err returns the list as a Go error, or nil if it has no errors.
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return listError{l}
}

// listError is a List as a Go error, for interfaces that return one. A List itself is not an error, so that
// an empty one is never a non-nil error.
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

// State sets the description of a reference in the diagnostic's expression, in place of its value in
// EvalContext.
func (d *Diagnostic) State(reference, statement string) {
	if d.Statements == nil {
		d.Statements = map[string]string{}
	}
	d.Statements[reference] = statement
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

// WithAddress sets the address on all diagnostics that have none yet, and returns the list.
func (l List) WithAddress(address string) List {
	for i := range l {
		if l[i].Address == "" {
			l[i].Address = address
		}
	}
	return l
}

// WithSource sets the source text of all diagnostics in the named file that have none yet, and returns the
// list.
func (l List) WithSource(filename string, text []byte) List {
	for i := range l {
		if d := &l[i]; d.Source == nil && d.Subject != nil && d.Subject.Filename == filename {
			d.Source = text
		}
	}
	return l
}

// Except returns the diagnostics whose summary and place occur in none of the others. Diagnostics without a
// place are compared by their whole text.
func (l List) Except(others List) List {
	seen := make(map[string]struct{}, len(others))
	for _, d := range others {
		seen[d.placed()] = struct{}{}
	}
	return slices.DeleteFunc(slices.Clone(l), func(d Diagnostic) bool {
		_, ok := seen[d.placed()]
		return ok
	})
}

func (d Diagnostic) placed() string {
	if d.Subject == nil {
		return d.Summary + "\x00" + d.Detail
	}
	return d.Summary + "\x00" + d.Subject.String()
}

// AsWarnings turns every error into a warning, in place, and returns the list.
func (l List) AsWarnings() List {
	for i := range l {
		l[i].Severity = Warning
	}
	return l
}

// InConfigBody sets the Subject of every diagnostic that has only a Path: to the range of the deepest
// attribute or block of body on that path, or to the body's own range. It returns the list.
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

// rangeOf returns the place that a path leads to in a body. If nothing is there, it is the place where
// something is missing.
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
		return RangeOf(attrs[step.Name].Expr, path[1:])
	}
	return blockRange(body, step.Name, path[1:], fallback)
}

// RangeOf returns the range of the deepest part of an expression on a path into its value.
func RangeOf(expr hcl.Expression, path cty.Path) hcl.Range {
	for _, step := range path {
		next := childExpr(expr, step)
		if next == nil {
			break
		}
		expr = next
	}
	return expr.Range()
}

// childExpr returns the expression for one step into the value of expr, nil if its source does not show
// it, as within a function call.
func childExpr(expr hcl.Expression, step cty.PathStep) hcl.Expression {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return mapItem(expr, step.Name)
	case cty.IndexStep:
		if key, ok := keyName(step); ok {
			return mapItem(expr, key)
		}
		index, ok := keyIndex(step)
		if !ok {
			return nil
		}
		items, diags := hcl.ExprList(expr)
		if diags.HasErrors() {
			if _, diags := hcl.ExprMap(expr); index == 0 && !diags.HasErrors() {
				return expr // JSON syntax allows an object in place of a list with one element
			}
			return nil
		}
		if index < len(items) {
			return items[index]
		}
	}
	return nil
}

func usableKey(key cty.Value, ty cty.Type) bool {
	return key != cty.NilVal && !key.IsMarked() && key.Type() == ty && key.IsKnown() && !key.IsNull()
}

// keyName returns the key of a step into a map.
func keyName(step cty.IndexStep) (string, bool) {
	if !usableKey(step.Key, cty.String) {
		return "", false
	}
	return step.Key.AsString(), true
}

// keyIndex returns the index of a step into a list. Elements of sets have no index: their keys are values.
func keyIndex(step cty.IndexStep) (int, bool) {
	if !usableKey(step.Key, cty.Number) {
		return 0, false
	}
	n, _ := step.Key.AsBigFloat().Int64()
	return int(n), n >= 0 && n <= math.MaxInt32
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

// blockRange returns the place of a path that leads into the blocks called name: the place of the attribute
// if it is written down, else of its block.
func blockRange(body hcl.Body, name string, rest cty.Path, fallback hcl.Range) hcl.Range {
	blocks := blocksOf(body, name)
	if len(blocks) == 0 {
		return fallback
	}
	block := blocks[0]
	if step, ok := firstIndex(rest); ok {
		rest = rest[1:]
		if block = chooseBlock(blocks, step); block == nil {
			return blocks[0].DefRange
		}
	}
	if len(rest) == 0 {
		return block.DefRange
	}
	if rng := rangeOf(block.Body, rest); rng != block.Body.MissingItemRange() {
		return rng
	}
	return block.DefRange
}

// blocksOf returns the blocks of a type, with one label if the schema keeps them in a map.
func blocksOf(body hcl.Body, name string) hcl.Blocks {
	for _, labels := range [][]string{nil, {"key"}} {
		content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: name, LabelNames: labels}}})
		if content != nil && len(content.Blocks) > 0 {
			return content.Blocks
		}
	}
	return nil
}

func firstIndex(path cty.Path) (cty.IndexStep, bool) {
	if len(path) == 0 {
		return cty.IndexStep{}, false
	}
	step, ok := path[0].(cty.IndexStep)
	return step, ok
}

// chooseBlock returns the block that a step selects, or nil if that cannot be determined.
func chooseBlock(blocks hcl.Blocks, step cty.IndexStep) *hcl.Block {
	if key, ok := keyName(step); ok {
		for _, b := range blocks {
			if len(b.Labels) > 0 && b.Labels[0] == key {
				return b
			}
		}
		return nil
	}
	if index, ok := keyIndex(step); ok && index < len(blocks) {
		return blocks[index]
	}
	if len(blocks) == 1 {
		return blocks[0]
	}
	return nil
}
