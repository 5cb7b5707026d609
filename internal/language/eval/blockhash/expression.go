package blockhash

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// corePrefix is the namespace under which functions of the language can be called as well.
const corePrefix = "core::"

// worldly are functions whose results differ although their arguments don't.
var worldly = map[string]bool{
	"timestamp": true, "plantimestamp": true, "uuid": true, "bcrypt": true, "pathexpand": true, "templatestring": true,
}

// expr writes a compiled expression, which may be nil.
func (f *filler) expr(x *lang.Expr) {
	f.flag(x != nil)
	if x != nil {
		f.expression(x.Source)
	}
}

func (f *filler) exprs(list []*lang.Expr) {
	f.number(len(list))
	for _, x := range list {
		f.expr(x)
	}
}

// expression writes an expression as a syntax tree.
func (f *filler) expression(e hcl.Expression) { f.syntax(e, nil) }

// syntax writes an expression but for the parts that are left out.
func (f *filler) syntax(e hcl.Expression, omit map[hclsyntax.Expression]struct{}) {
	if native, ok := e.(hclsyntax.Node); ok {
		_ = hclsyntax.Walk(native, &treeWalker{f: f, omit: omit}) // reports nothing
		return
	}
	f.foreign(e)
}

// foreign writes an expression of JSON syntax, whose strings are templates.
func (f *filler) foreign(e hcl.Expression) {
	if items, diags := hcl.ExprList(e); !diags.HasErrors() {
		f.text("list")
		f.number(len(items))
		for _, item := range items {
			f.expression(item)
		}
		return
	}
	if pairs, diags := hcl.ExprMap(e); !diags.HasErrors() {
		f.text("object")
		f.number(len(pairs))
		for _, pair := range pairs {
			f.expression(pair.Key)
			f.expression(pair.Value)
		}
		return
	}
	if template, ok := template(e); ok {
		f.text("template")
		f.expression(template)
		return
	}
	v, diags := e.Value(nil)
	if f.world = f.world || diags.HasErrors() || !v.IsWhollyKnown(); f.world {
		return
	}
	f.text("value")
	f.fail(f.writer.value(v))
}

// template returns the template that a string of JSON syntax is; false for anything else.
func template(e hcl.Expression) (hclsyntax.Expression, bool) {
	text, diags := e.Value(nil) // without a context, strings are given as they are written
	if diags.HasErrors() || text.Type() != cty.String || !text.IsKnown() || text.IsNull() {
		return nil, false
	}
	parsed, diags := hclsyntax.ParseTemplate([]byte(text.AsString()), "", hcl.InitialPos)
	return parsed, !diags.HasErrors()
}

// treeWalker writes a syntax tree: for each node its kind and its texts, then the nodes in it.
type treeWalker struct {
	f         *filler
	omit      map[hclsyntax.Expression]struct{}
	omitted   int // nodes around that are left out
	sensitive int // calls around whose results are sensitive
}

// Exit implements hclsyntax.Walker.
func (w *treeWalker) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if w.omitted > 0 {
		w.omitted--
		return nil
	}
	if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && functionName(call) == "sensitive" {
		w.sensitive--
	}
	w.f.text(")")
	return nil
}

// Enter implements hclsyntax.Walker.
func (w *treeWalker) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if w.omitted > 0 || w.omits(n) {
		w.omitted++
		return nil
	}
	switch n := n.(type) {
	case *hclsyntax.LiteralValueExpr:
		w.f.text("literal")
		w.f.fail(w.f.writer.value(n.Val))
	case *hclsyntax.ScopeTraversalExpr:
		w.f.text("reference")
		w.f.traversal(n.Traversal)
		w.f.surroundings(n.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		w.f.text("part")
		w.f.traversal(n.Traversal)
	case *hclsyntax.FunctionCallExpr:
		w.call(n)
	case *hclsyntax.ForExpr:
		w.f.text("for")
		w.f.text(n.KeyVar)
		w.f.text(n.ValVar)
		w.f.flag(n.KeyExpr != nil)
		w.f.flag(n.CondExpr != nil)
		w.f.flag(n.Group)
	case *hclsyntax.ObjectConsKeyExpr:
		w.f.text("key")
		w.f.flag(n.ForceNonLiteral)
		w.f.text(hcl.ExprAsKeyword(n.Wrapped))
	case *hclsyntax.BinaryOpExpr:
		w.f.text(operators[n.Op])
	case *hclsyntax.UnaryOpExpr:
		w.f.text(operators[n.Op])
	default:
		w.structure(n)
	}
	return nil
}

func (w *treeWalker) omits(n hclsyntax.Node) bool {
	e, ok := n.(hclsyntax.Expression)
	if !ok || len(w.omit) == 0 {
		return false
	}
	_, omit := w.omit[e]
	return omit
}

// operators are the names of operations, each with one or two operands.
var operators = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalNot: "!", hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
	hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=",
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%", hclsyntax.OpNegate: "negate",
}

// structure writes a node that has nothing but others. The result of a kind that this program doesn't know
// may depend on anything.
func (w *treeWalker) structure(n hclsyntax.Node) {
	switch n.(type) {
	case *hclsyntax.TemplateExpr:
		w.f.text("template")
	case *hclsyntax.TemplateWrapExpr:
		w.f.text("interpolation")
	case *hclsyntax.TemplateJoinExpr:
		w.f.text("join")
	case *hclsyntax.ConditionalExpr:
		w.f.text("conditional")
	case *hclsyntax.IndexExpr:
		w.f.text("index")
	case *hclsyntax.SplatExpr:
		w.f.text("splat")
	case *hclsyntax.AnonSymbolExpr:
		w.f.text("element")
	case *hclsyntax.TupleConsExpr:
		w.f.text("tuple")
	case *hclsyntax.ObjectConsExpr:
		w.f.text("object")
	case *hclsyntax.ParenthesesExpr:
		w.f.text("(")
	case hclsyntax.ChildScope:
		w.f.text("scope")
	default:
		w.f.world = true
	}
}

// functionName returns the name of a called function without the namespace of the language.
func functionName(call *hclsyntax.FunctionCallExpr) string {
	return strings.TrimPrefix(call.Name, corePrefix)
}

// call writes the call of a function, and the files and versions that its result depends on.
func (w *treeWalker) call(n *hclsyntax.FunctionCallExpr) {
	name := functionName(n)
	w.f.text("call")
	w.f.text(n.Name)
	w.f.flag(n.ExpandFinal)
	w.f.world = w.f.world || worldly[name]
	switch {
	case name == "sensitive":
		w.sensitive++
	case name == "abspath":
		w.f.text(w.f.in.WorkDir)
	case files[name] > 0:
		w.f.read(n, name, w.sensitive > 0)
	}
	if p, ok := blocks.ProviderOfFunction(w.f.m, n.Name); ok {
		w.f.providerVersion(p)
	}
}

// surroundings writes the value of a reference to a directory or to the workspace.
func (f *filler) surroundings(t hcl.Traversal) {
	if len(t) < 2 {
		return
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return
	}
	switch t.RootName() {
	case "path":
		f.text(f.path(attr.Name))
	case "terraform", "tofu":
		if attr.Name == "workspace" {
			f.text(f.in.Workspace)
		}
	}
}

func (f *filler) path(name string) string {
	switch name {
	case "module":
		return f.m.Config.Dir
	case "root":
		return f.in.RootDir
	default:
		return f.in.WorkDir
	}
}
