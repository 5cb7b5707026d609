package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// Expression is an expression outside the configuration, evaluated in the scope of one of its modules. It
// can be evaluated once, by one task.
type Expression struct {
	module    *Module
	expr      *lang.Expr
	functions map[string]function.Function
}

// Expression compiles source text in the scope of the module, outside all blocks. Objects that it refers to
// must be declared there. It may call the given functions and provider-defined ones.
func (m *Module) Expression(src, filename string, functions map[string]function.Function) (*Expression, diag.List) {
	if diags := config.CheckExpression([]byte(src), filename); diags.HasErrors() {
		return nil, diags
	}
	parsed, hd := hclsyntax.ParseExpression([]byte(src), filename, hcl.InitialPos)
	if hd.HasErrors() {
		tokens, _ := hclsyntax.LexExpression([]byte(src), filename, hcl.InitialPos)
		return nil, config.InExpression(diag.Syntax(hd, tokens), []byte(src), filename)
	}
	x, diags := m.block.CompileExpr(parsed, blocks.Repetition{})
	if diags.HasErrors() {
		return nil, diags
	}
	return &Expression{module: m, expr: x, functions: functions}, diags
}

func (x *Expression) scope(t *future.Task, o *Opened) *scope {
	return &scope{m: x.module, t: t, opened: o, functions: x.functions}
}

// Prepare demands all cells that the expression needs.
func (x *Expression) Prepare(t *future.Task) {
	needed := &reads{}
	needed.addExprs(x.scope(t, nil), x.expr)
	prepare(t, needed)
}

// Value evaluates the expression. It has opened only the instances that the value depends on. Errors of
// values in the configuration are reported to the run; the diagnostics are about the expression itself.
func (x *Expression) Value(t *future.Task, o *Opened) (cty.Value, diag.List) {
	run, sc := x.module.run, x.scope(t, o)
	return settle(t, o, func() (cty.Value, diag.List) { return run.eval(sc, x.expr) }, func(e evaluated) bool {
		return independent(run, e) && (!x.expr.ClearsEphemeral || e.value.IsWhollyKnown())
	})
}

// Names returns the names that an expression in the module can begin with, except functions, in no particular
// order.
func (m *Module) Names() []string {
	out := []string{"path.cwd", "path.module", "path.root", "terraform.applying", "terraform.workspace", "tofu.applying", "tofu.workspace"}
	for name := range m.variables {
		out = append(out, "var."+name)
	}
	for name := range m.locals {
		out = append(out, "local."+name)
	}
	for name := range m.calls {
		out = append(out, "module."+name)
	}
	for a := range m.resources {
		out = append(out, a.String())
	}
	return out
}
