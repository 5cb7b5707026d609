package lang

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Remedy returns sentences, after a space, that correct the part of e that d is about, by its probable
// meaning; "" if there is nothing to add, or if the sentences could reveal a value. inModule says that e is
// in a called module.
func Remedy(e hcl.Expression, d *diag.Diagnostic, inModule bool) string {
	node, ok := e.(hclsyntax.Node)
	if !ok {
		return ""
	}
	v, hd := d.Expression.Value(d.EvalContext)
	if _, secret := value.Redacted(v.Marks()); secret {
		return ""
	}
	v, _ = v.Unmark()
	calls, _ := d.Extra.(hclsyntax.FunctionCallDiagExtra)
	out := ""
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		call, isCall := n.(*hclsyntax.FunctionCallExpr)
		splat, isSplat := n.(*hclsyntax.SplatExpr)
		switch {
		case isCall && calls != nil && call.Name == calls.CalledFunctionName() && call.Range().Overlaps(d.Expression.Range()):
			if out = ""; inModule {
				out = pathRemedy(call, d)
			}
			if out == "" {
				out = callRemedy(call, d)
			}
		case isSplat && splat.Each.Range() == d.Expression.Range():
			out = splatRemedy(splat, d.EvalContext)
		case !isCall && calls == nil && !hd.HasErrors():
			if found := partRemedy(n, d.Expression.Range(), v); found != "" {
				out = found
			}
		}
		return nil
	})
	return out
}

// partRemedy is the remedy if the part of n at rng, whose value is v, does not suit n.
func partRemedy(n hclsyntax.Node, rng hcl.Range, v cty.Value) string {
	switch n := n.(type) {
	case *hclsyntax.BinaryOpExpr:
		if n.LHS.Range() == rng || n.RHS.Range() == rng {
			return operandRemedy(n, v)
		}
	case *hclsyntax.TemplateExpr:
		for _, part := range n.Parts {
			if part.Range() == rng {
				return interpolationRemedy(written(part, "VALUE"), v)
			}
		}
	case *hclsyntax.ConditionalExpr:
		if n.Condition.Range() == rng {
			return conditionRemedy(written(n.Condition, "VALUE"), v)
		}
	case *hclsyntax.ForExpr:
		if n.CollExpr.Range() == rng {
			return collectionRemedy(n, v)
		}
	}
	return ""
}

// written returns a reference or a constant as it is written, or another text for any other expression.
func written(e hcl.Expression, other string) string {
	if t, diags := hcl.AbsTraversalForExpr(e); !diags.HasErrors() {
		return diag.Reference(t)
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() {
		return other
	}
	switch v.Type() {
	case cty.Number, cty.Bool:
		return strings.TrimPrefix(value.Statement(v, false), "is ")
	case cty.String:
		if text := v.AsString(); len(text) <= longestWritten && !strings.ContainsAny(text, "\n\"$%\\") {
			return strconv.Quote(text)
		}
	}
	return other
}

// longestWritten is how many bytes a constant has at most that is repeated in a message.
const longestWritten = 40

// operandRemedy returns a sentence on the replacement of an operator applied to a wrong type, "" if there is
// no common mistake of that kind.
func operandRemedy(n *hclsyntax.BinaryOpExpr, v cty.Value) string {
	isText := v.Type() == cty.String && !v.IsNull()
	switch n.Op {
	case hclsyntax.OpAdd:
		if isText {
			return fmt.Sprintf(" The operator + adds numbers. To join text, write: \"%s%s\"", piece(n.LHS, "A"), piece(n.RHS, "B"))
		}
	case hclsyntax.OpLessThan, hclsyntax.OpLessThanOrEqual, hclsyntax.OpGreaterThan, hclsyntax.OpGreaterThanOrEqual:
		if isText {
			return " Only numbers can be compared in this way."
		}
	case hclsyntax.OpLogicalOr:
		if v.Type() != cty.Bool {
			return fmt.Sprintf(" The operator || is for conditions. For another value in place of null: coalesce(%s, %s).", written(n.LHS, "VALUE"), written(n.RHS, "OTHER"))
		}
	}
	return ""
}

// piece returns an expression as a part of a string in quotes.
func piece(e hcl.Expression, other string) string {
	text := written(e, other)
	if unquoted, err := strconv.Unquote(text); err == nil {
		return unquoted
	}
	return "${" + text + "}"
}

// interpolationRemedy returns a sentence on how to put a value that is not text into text, "" if there is
// none.
func interpolationRemedy(name string, v cty.Value) string {
	ty := v.Type()
	switch {
	case v.IsNull():
		return fmt.Sprintf(" For no text in that case: ${%s == null ? \"\" : %s}.", name, name)
	case value.AllElements(ty, cty.Type.IsPrimitiveType):
		return fmt.Sprintf(" To put its elements into the text: ${join(\", \", %s)}.", name)
	case !ty.IsPrimitiveType():
		return fmt.Sprintf(" To put it into the text as JSON: ${jsonencode(%s)}.", name)
	}
	return ""
}

// conditionRemedy returns a sentence on how to make a condition of a value, "" if there is none.
func conditionRemedy(name string, v cty.Value) string {
	ty := v.Type()
	switch {
	case v.IsNull():
		return fmt.Sprintf(" To take null for false: coalesce(%s, false).", name)
	case ty == cty.String:
		return fmt.Sprintf(" Compare it with something, as in %s == \"...\".", name)
	case ty == cty.Number:
		return fmt.Sprintf(" Compare it with something, as in %s > 0.", name)
	case ty.IsCollectionType() || ty.IsTupleType() || ty.IsObjectType():
		return fmt.Sprintf(" To test whether it has elements: length(%s) > 0.", name)
	}
	return ""
}

// collectionRemedy returns a sentence on how to iterate over v, which for cannot do, "" if there is none.
func collectionRemedy(n *hclsyntax.ForExpr, v cty.Value) string {
	name := written(n.CollExpr, "VALUE")
	switch ty := v.Type(); {
	case v.IsNull() && name == "VALUE":
	case v.IsNull():
		empty := "[]"
		if n.KeyVar != "" {
			empty = "{}"
		}
		return fmt.Sprintf(" For no elements in that case: %s == null ? %s : %s.", name, empty, name)
	case ty == cty.String:
		return fmt.Sprintf(" To split text at commas: split(\",\", %s).", name)
	case ty == cty.Number:
		return fmt.Sprintf(" For the numbers below it: range(%s).", name)
	}
	return ""
}

// pathRemedy is the remedy for the name of a file that a module gives without saying that the file is one of
// its own.
func pathRemedy(call *hclsyntax.FunctionCallExpr, d *diag.Diagnostic) string {
	fn, ok := FunctionIn(d.EvalContext, call.Name)
	if !ok || len(call.Args) == 0 || len(fn.Params()) == 0 || fn.Params()[0].Name != "path" || call.Args[0].Range() != d.Expression.Range() {
		return ""
	}
	name, err := strconv.Unquote(written(call.Args[0], ""))
	if err != nil || filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return ""
	}
	return fmt.Sprintf(" A relative path starts at the directory of the root module. For a file of this module, write \"${path.module}/%s\".", strings.TrimPrefix(name, "./"))
}

// callRemedy is the remedy for a call of a function that does not accept its arguments. It tries others, but
// not with a provider.
func callRemedy(call *hclsyntax.FunctionCallExpr, d *diag.Diagnostic) string {
	fn, ok := FunctionIn(d.EvalContext, call.Name)
	if !ok || strings.HasPrefix(call.Name, "provider::") || call.ExpandFinal {
		return ""
	}
	if strings.TrimPrefix(call.Name, "core::") == "range" && strings.Contains(d.Detail, "more than 1024 values") {
		return " A longer list can be put together from several, as here 20000 numbers: flatten([for i in range(20) : range(1000 * i, 1000 * (i + 1))])."
	}
	var args []cty.Value
	for _, e := range call.Args {
		v, hd := e.Value(d.EvalContext)
		if hd.HasErrors() || v.ContainsMarked() || !v.IsWhollyKnown() {
			return ""
		}
		args = append(args, v)
	}
	if len(args) == 2 && accepts(fn, args[1], args[0]) {
		return " The arguments seem to be in the wrong order."
	}
	if len(args) != 1 || !value.AllElements(args[0].Type(), func(cty.Type) bool { return true }) || args[0].IsNull() || args[0].LengthInt() == 0 {
		return ""
	}
	name, elems := written(call.Args[0], "VALUE"), args[0].AsValueSlice()
	switch {
	case fn.VarParam() != nil && accepts(fn, elems...):
		return fmt.Sprintf(" To pass its elements as arguments: %s(%s...).", call.Name, name)
	case fn.VarParam() == nil && accepts(fn, elems[0]):
		return fmt.Sprintf(" To call it for every element: [for x in %s : %s(x)].", name, call.Name)
	}
	return ""
}

// splatRemedy is the remedy for a splat expression on a map or an object, which counts as a single element.
func splatRemedy(splat *hclsyntax.SplatExpr, ctx *hcl.EvalContext) string {
	of, hd := splat.Source.Value(ctx)
	_, secret := value.Redacted(of.Marks())
	each, ok := splat.Each.(*hclsyntax.RelativeTraversalExpr)
	if hd.HasErrors() || secret || !ok || !of.Type().IsMapType() && !of.Type().IsObjectType() {
		return ""
	}
	return fmt.Sprintf(" A map or object counts as one element for [*]. For all of its elements: [for x in %s : x%s].", written(splat.Source, "VALUE"), diag.Reference(each.Traversal))
}

// FunctionIn finds a function in a context and those around it.
func FunctionIn(ctx *hcl.EvalContext, name string) (function.Function, bool) {
	for ; ctx != nil; ctx = ctx.Parent() {
		if fn, ok := ctx.Functions[name]; ok {
			return fn, true
		}
	}
	return function.Function{}, false
}

// accepts reports whether a function has a result for the arguments, converted as a call in the language
// does.
func accepts(fn function.Function, args ...cty.Value) bool {
	params := fn.Params()
	if len(args) < len(params) || len(args) > len(params) && fn.VarParam() == nil {
		return false
	}
	for i := range args {
		param := fn.VarParam()
		if i < len(params) {
			param = &params[i]
		}
		v, err := convert.Convert(args[i], param.Type)
		if err != nil {
			return false
		}
		args[i] = v
	}
	_, err := fn.Call(args)
	return err == nil
}
