package suite

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// unused warns about the variables of the file that no module of its runs declares and nothing in the file
// refers to: most often, the name is misspelt.
func (r *fileRun) unused() diag.List {
	used := referred(r.file)
	var diags diag.List
	for name, attr := range diag.InOrder(r.file.Variables) {
		if !used(name) && !r.declaredByAny(name) {
			diags = append(diags, undeclared(attr, "No module of the runs in this file declares")...)
		}
	}
	return diags
}

// unusedOf warns about those variables of a run that its module does not declare and the run does not refer
// to.
func unusedOf(run *config.TestRun, root *config.Module) diag.List {
	used := names(runExpressions(run))
	var diags diag.List
	for name, attr := range diag.InOrder(run.Variables) {
		if _, ok := used[name]; !ok && declared(root, name) == nil {
			diags = append(diags, undeclared(attr, "The module of this run does not declare")...)
		}
	}
	return diags
}

func undeclared(attr *hcl.Attribute, who string) diag.List {
	return diag.List{{
		Severity: diag.Warning, Summary: "Value for undeclared variable", Subject: attr.NameRange.Ptr(),
		Detail: who + " a variable named \"" + attr.Name + "\", and nothing here refers to it, so its value is not used. Correct the name, or remove the argument.",
	}}
}

// declaredByAny reports whether the module of a run of the file declares a variable.
func (r *fileRun) declaredByAny(name string) bool {
	if declared(r.opt.Project.Tree.Root, name) != nil {
		return true
	}
	for _, run := range r.file.Runs {
		if tree := r.module(run); tree != nil && declared(tree.Root, name) != nil {
			return true
		}
	}
	return false
}

// referred returns a function that reports whether a file refers to a variable.
func referred(f *config.TestFile) func(name string) bool {
	var exprs []hcl.Expression
	for _, attr := range f.Variables {
		exprs = append(exprs, attr.Expr)
	}
	exprs = append(exprs, values(f.Overrides)...)
	for _, m := range f.Mocks {
		exprs = append(exprs, values(m.Overrides)...)
		for _, d := range m.Defaults {
			exprs = appendGiven(exprs, d.Values)
		}
	}
	for _, run := range f.Runs {
		exprs = append(exprs, runExpressions(run)...)
	}
	opaque := false
	for _, p := range f.Providers {
		body := diag.Native(p.Body)
		if body == nil {
			opaque = true // what the arguments of a body in JSON refer to depends on the provider's schema
			continue
		}
		exprs = append(exprs, arguments(body)...)
	}
	used := names(exprs)
	return func(name string) bool {
		_, ok := used[name]
		return ok || opaque
	}
}

// arguments returns the expressions in a body and in the blocks in it.
func arguments(body *hclsyntax.Body) []hcl.Expression {
	var out []hcl.Expression
	for _, attr := range body.Attributes {
		out = append(out, attr.Expr)
	}
	for _, b := range body.Blocks {
		out = append(out, arguments(b.Body)...)
	}
	return out
}

// runExpressions returns the expressions of a run, except those of its module.
func runExpressions(run *config.TestRun) []hcl.Expression {
	exprs := values(run.Overrides)
	for _, attr := range run.Variables {
		exprs = append(exprs, attr.Expr)
	}
	for _, a := range run.Asserts {
		exprs = append(exprs, a.Condition, a.ErrorMessage)
	}
	return exprs
}

// values returns what overrides give.
func values(overrides []*config.Override) []hcl.Expression {
	var out []hcl.Expression
	for _, o := range overrides {
		out = appendGiven(out, o.Values)
	}
	return out
}

func appendGiven(exprs []hcl.Expression, e hcl.Expression) []hcl.Expression {
	if e == nil {
		return exprs
	}
	return append(exprs, e)
}

// names returns the names of the variables that expressions refer to.
func names(exprs []hcl.Expression) map[string]struct{} {
	out := map[string]struct{}{}
	for _, e := range exprs {
		for _, t := range e.Variables() {
			if ref, diags := lang.ParseRef(t); !diags.HasErrors() && ref.Kind == lang.Variable {
				out[ref.Name] = struct{}{}
			}
		}
	}
	return out
}
