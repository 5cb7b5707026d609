package eval

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// explain adds to evaluation errors the information needed to fix them. If several errors in an expression
// have the same remedy, it keeps the first. It modifies and returns diags.
func (sc *scope) explain(exprs []*lang.Expr, diags diag.List) diag.List {
	type remedied struct {
		x      *lang.Expr
		remedy string
	}
	given := map[remedied]bool{}
	out := diags[:0]
	for _, d := range diags {
		x, remedy := sc.explainOne(exprs, &d)
		r := remedied{x, remedy}
		if remedy != "" && given[r] {
			continue
		}
		given[r] = true
		out = append(out, d)
	}
	return out
}

// explainOne explains one error. It returns the expression that contains the error, and the remedy that it
// added, if any.
func (sc *scope) explainOne(exprs []*lang.Expr, d *diag.Diagnostic) (x *lang.Expr, added string) {
	if d.Severity != diag.Error || d.Expression == nil || d.EvalContext == nil {
		return nil, ""
	}
	if call, ok := d.Extra.(hclsyntax.FunctionCallUnknownDiagExtra); ok {
		d.Detail += sc.namespaceHint(call, d.EvalContext)
		return nil, ""
	}
	if x = exprAt(exprs, d.Expression.Range()); x == nil {
		return nil, ""
	}
	d.Expression = sourceOf(x, d.Expression)
	parts := sc.partsIn(x)
	for _, p := range parts {
		d.State(p.name, "is "+p.shape())
	}
	if step, ok := lang.FailedStep(d.Expression, d.EvalContext); ok {
		d.Detail = sc.addAdvice(d.Detail, step, parts)
		return x, ""
	}
	added = lang.Remedy(x.Source, d, !sc.m.Addr.IsRoot())
	d.Detail += added
	return x, added
}

// addAdvice appends advice to the detail of an error about a step.
func (sc *scope) addAdvice(detail string, step lang.Step, parts []shownPart) string {
	advice := step.Advice()
	if call := sc.callOf(step); call != nil && step.Attr == "" && !call.Form().Keyed() {
		name := "module." + call.block.Config.Name
		advice = name + " has neither \"count\" nor \"for_each\" set, so references to it have no index: " + name + ".OUTPUT."
	}
	for _, p := range parts {
		if step.Path != nil && diag.Reference(step.Path) == p.name {
			advice = p.advice(step)
		}
	}
	if advice == "" {
		return detail
	}
	return detail + " " + advice
}

// callOf returns the module call that a step is applied to, nil if it is applied to something else.
func (sc *scope) callOf(step lang.Step) *Call {
	if len(step.Path) != 2 || step.Path.RootName() != "module" {
		return nil
	}
	attr, ok := step.Path[1].(hcl.TraverseAttr)
	if !ok {
		return nil
	}
	return sc.m.calls[attr.Name]
}

// namespaceHint returns a sentence on how to call provider-defined functions, for a call in an unknown
// namespace.
func (sc *scope) namespaceHint(call hclsyntax.FunctionCallUnknownDiagExtra, ctx *hcl.EvalContext) string {
	namespace := call.CalledFunctionNamespace()
	for ; ctx != nil; ctx = ctx.Parent() {
		for known := range ctx.Functions {
			if strings.HasPrefix(known, namespace) {
				return ""
			}
		}
	}
	if provider := strings.TrimSuffix(namespace, "::"); sc.m.block.Config.Uses(provider) || provider == "terraform" {
		return fmt.Sprintf(" Did you mean provider::%s%s?", namespace, call.CalledFunctionName())
	}
	return " Functions of a provider are called as provider::PROVIDER::FUNCTION."
}

// exprAt returns the expression that contains a range, nil if there is none.
func exprAt(exprs []*lang.Expr, rng hcl.Range) *lang.Expr {
	for _, x := range exprs {
		if all := x.Source.Range(); all.Filename == rng.Filename && all.Start.Byte <= rng.Start.Byte && rng.End.Byte <= all.End.Byte {
			return x
		}
	}
	return nil
}

// sourceOf returns the source expression of x from which evaluation derived e, or e itself if there is none.
// Only a source expression shows its references.
func sourceOf(x *lang.Expr, e hcl.Expression) hcl.Expression {
	node, ok := x.Source.(hclsyntax.Node)
	if !ok {
		return e
	}
	found := e
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if written, ok := n.(hclsyntax.Expression); ok && written.Range() == e.Range() {
			found = written
		}
		return nil
	})
	return found
}

// shownPart is a repeated resource or module of which a context contains only the instances that an
// expression refers to. Messages must not describe it as if it had no others.
type shownPart struct {
	name string // reference to the whole resource or module
	e    *expansion
}

// partsIn returns the repeated objects that the expression reads only in part.
func (sc *scope) partsIn(x *lang.Expr) []shownPart {
	var out []shownPart
	for i := range x.Refs {
		ref := &x.Refs[i]
		var of *expander
		name := ref.String()
		switch to := sc.find(ref); {
		case to.resource != nil:
			of = &to.resource.expander
			if ref.Root == "resource" {
				name = "resource." + name
			}
		case to.call != nil:
			of = &to.call.expander
		}
		if of == nil || !of.Form().Keyed() {
			continue
		}
		if e, known := of.keys.Peek(); known && e != nil && !e.failed && !e.generic {
			out = append(out, shownPart{name, e})
		}
	}
	return out
}

// shape describes the type of the whole.
func (p shownPart) shape() string {
	if p.e.form == blocks.Counted {
		return value.TupleShape(len(p.e.keys))
	}
	return value.ObjectShape(len(p.e.keys), p.names())
}

// mostKeys bounds the number of keys searched for a message, since an error may be reported for each of many
// instances.
const mostKeys = 200

func (p shownPart) names() []string {
	var names []string
	for _, k := range p.e.keys[:min(len(p.e.keys), mostKeys)] {
		names = append(names, keyText(k))
	}
	return names
}

// advice returns a sentence on how to refer to instances, for a step that matches none.
func (p shownPart) advice(step lang.Step) string {
	n, counted := len(p.e.keys), p.e.form == blocks.Counted
	switch {
	case step.Attr != "":
		return step.Advice()
	case n == 0 && counted:
		return p.name + " has no instances: its count is 0."
	case n == 0:
		return p.name + " has no instances: its for_each is empty."
	case n == 1 && counted:
		return p.name + " has one instance: " + p.name + "[0]."
	case counted:
		return fmt.Sprintf("%s has %d instances: %s[0] to %s[%d].", p.name, n, p.name, p.name, n-1)
	case n == 1:
		return fmt.Sprintf("%s has for_each, and one instance: %s[%q].", p.name, p.name, p.names()[0])
	}
	if wanted, ok := step.Name(); ok && n <= mostKeys {
		if near := diag.Nearest(wanted, p.names()); near != "" {
			return fmt.Sprintf("Did you mean %s[%q]?", p.name, near)
		}
	}
	return fmt.Sprintf("%s has for_each: its instances have names, such as %s[%q].", p.name, p.name, p.names()[0])
}

// forget drops the values from diagnostics if some of them must not outlive the operation. Values that may be
// shown are kept as text.
func (sc *scope) forget(diags diag.List) diag.List {
	if sc.opened == nil || len(sc.opened.objects)+len(sc.opened.values) == 0 {
		return diags
	}
	for i := range diags {
		d := &diags[i]
		if d.Expression == nil || d.EvalContext == nil {
			continue
		}
		for _, t := range d.Expression.Variables() {
			sc.state(d, t)
		}
		d.EvalContext = functionsAlone(d)
	}
	return diags
}

// functionsAlone returns the context of a diagnostic without its values, nil if the diagnostic does not
// concern a function.
func functionsAlone(d *diag.Diagnostic) *hcl.EvalContext {
	if _, call := d.Extra.(hclsyntax.FunctionCallDiagExtra); !call {
		return nil
	}
	return &hcl.EvalContext{Functions: lang.FunctionsIn(d.EvalContext)}
}

// state records the part of a reference that may be shown: its longest prefix that has a value.
func (sc *scope) state(d *diag.Diagnostic, t hcl.Traversal) {
	for ; len(t) > 0; t = t[:len(t)-1] {
		text := diag.Reference(t)
		if _, stated := d.Statements[text]; stated {
			return
		}
		if v, hd := t.TraverseAbs(d.EvalContext); !hd.HasErrors() {
			d.State(text, value.Statement(v, false))
			return
		}
	}
}
