package suite

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// unused warns about the variables of the file that no module of its runs declares and nothing in the file
// refers to, if their names are like declared ones. Others are not taken for mistakes: files may set
// variables that only some of the modules have.
func (r *fileRun) unused() diag.List {
	used := referred(r.file)
	known := map[string]struct{}{}
	addDeclared(known, r.opt.Project.Tree.Root)
	for _, run := range r.file.Runs {
		if tree := r.module(run); tree != nil {
			addDeclared(known, tree.Root)
		}
	}
	var diags diag.List
	for name, attr := range diag.InOrder(r.file.Variables) {
		if !used(name) {
			diags = append(diags, misspelt(attr, known, "No module of the runs in this file declares")...)
		}
	}
	return diags
}

// unusedOf does the same about those variables of a run that its module does not declare and the run does not
// refer to.
func unusedOf(run *config.TestRun, root *config.Module) diag.List {
	used, known := names(runExpressions(run)), map[string]struct{}{}
	addDeclared(known, root)
	var diags diag.List
	for name, attr := range diag.InOrder(run.Variables) {
		if _, ok := used[name]; !ok {
			diags = append(diags, misspelt(attr, known, "The module of this run does not declare")...)
		}
	}
	return diags
}

// addDeclared adds the names of the variables that a module declares.
func addDeclared(known map[string]struct{}, root *config.Module) {
	for name := range root.Variables {
		if declared(root, name) != nil {
			known[name] = struct{}{}
		}
	}
}

// misspelt warns about a variable that is not known if its name is like one that is.
func misspelt(attr *hcl.Attribute, known map[string]struct{}, who string) diag.List {
	if _, ok := known[attr.Name]; ok {
		return nil
	}
	meant := diag.DidYouMean(attr.Name, slices.Sorted(maps.Keys(known)))
	if meant == "" {
		return nil
	}
	return diag.List{{
		Severity: diag.Warning, Summary: "Value for undeclared variable", Subject: attr.NameRange.Ptr(),
		Detail: who + " a variable named \"" + attr.Name + "\", and nothing here refers to it, so its value is not used." + meant,
	}}
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
			opaque = true // the references of a body in JSON depend on the provider's schema
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

// runExpressions returns the expressions of a run, except its module's.
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

// values returns the expressions in overrides.
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
