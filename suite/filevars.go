package suite

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
)

// fileVars are the variables of a file: the values of var there. They don't change while runs are under way.
type fileVars struct {
	vars map[string]cty.Value // by name
	// broken has the errors of variables whose values cannot be evaluated or converted. Runs that need one
	// fail.
	broken map[string]diag.List

	outside map[string]cty.Value           // the values from outside of the file
	scope   map[string]cty.Value           // values that the variables block itself may refer to
	order   []string                       // the variables of the block, each after those that it refers to
	cyclic  map[string]bool                // the variables that depend on themselves
	runs    map[string]map[string]struct{} // by variable: the runs that it needs, also through others
}

// fileVariables sets the variables of the file: the values from outside, and the values of the variables
// block. Variables that only the module gives a default have that. Within the block, a name that has a value
// from outside means that, so that a variable may be made from the value that it replaces.
func (r *fileRun) fileVariables() diag.List {
	root := r.opt.Project.Tree.Root
	out := map[string]cty.Value{}
	var diags diag.List
	for name, v := range root.Variables {
		if v.Default != cty.NilVal {
			out[name] = declaredMarks(v, v.Default)
		}
	}
	for _, name := range r.opt.GivenNames {
		v := root.Variables[name]
		if v == nil {
			v = &config.Variable{Name: name, Type: cty.DynamicPseudoType, Constraint: cty.DynamicPseudoType, ParseLiteral: true, Nullable: true}
		}
		got, ds := r.opt.Given(v)
		if diags = append(diags, ds...); !ds.HasErrors() && got != cty.NilVal {
			out[name] = declaredMarks(v, got)
		}
	}
	r.vars, r.outside, r.scope, r.broken = out, maps.Clone(out), maps.Clone(out), map[string]diag.List{}
	r.sortVariables()
	for _, name := range r.order {
		diags = append(diags, r.evaluate(name)...)
	}
	return diags
}

// evaluate gives a variable of the block its value, and returns warnings about it.
func (r *fileRun) evaluate(name string) diag.List {
	attr, v := r.file.Variables[name], r.opt.Project.Tree.Root.Variables[name]
	_, hidden := r.outside[name]
	got, ds := cty.DynamicVal, diag.List(nil)
	if r.cyclic[name] {
		ds = diag.At(attr.Expr.Range(), "Cycle of values", "The value of var.%s depends on itself. Remove one of the references that lead back to it.", name)
	} else {
		got, ds = r.eval(r.scope, attr.Expr)
	}
	if v != nil && !ds.HasErrors() {
		var more diag.List
		got, more = convert(v, got, attr)
		ds, got = append(ds, more...), declaredMarks(v, got)
	}
	if ds.HasErrors() {
		r.broken[name] = ds
		delete(r.vars, name)
		return nil
	}
	delete(r.broken, name)
	if r.vars[name] = got; !hidden {
		r.scope[name] = got
	}
	return ds
}

// follow evaluates the variables again that need the outputs of runs, when one of that name has ended.
func (r *fileRun) follow(ended string) {
	for _, name := range r.order {
		if _, ok := r.runs[name][ended]; ok {
			r.evaluate(name)
		}
	}
}

// sortVariables finds out in which order the variables of the block are evaluated, and which runs they need.
func (r *fileRun) sortVariables() {
	r.order, r.cyclic, r.runs = nil, map[string]bool{}, map[string]map[string]struct{}{}
	begun := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		begun[name] = true
		needs := map[string]struct{}{}
		for _, ref := range refsOf(r.file.Variables[name].Expr) {
			switch _, outside := r.outside[ref.Name]; {
			case ref.Kind == lang.Earlier:
				needs[ref.Name] = struct{}{}
			case ref.Kind != lang.Variable || outside || r.file.Variables[ref.Name] == nil:
			case begun[ref.Name] && r.runs[ref.Name] == nil:
				r.cyclic[name] = true
			default:
				if !begun[ref.Name] {
					visit(ref.Name)
				}
				maps.Copy(needs, r.runs[ref.Name])
			}
		}
		r.runs[name] = needs
		r.order = append(r.order, name)
	}
	for name := range diag.InOrder(r.file.Variables) {
		if !begun[name] {
			visit(name)
		}
	}
}

// refersTo reports whether a run refers to the outputs of another, itself, in provider blocks or through
// variables of the file.
func (r *fileRun) refersTo(run *config.TestRun, name string) bool {
	refs, used := earlierRefs(run), names(runExpressions(run))
	for _, ref := range r.refsOfProviders(run) {
		if ref.Kind == lang.Variable {
			used[ref.Name] = struct{}{}
		} else if ref.Kind == lang.Earlier {
			refs = append(refs, ref)
		}
	}
	if slices.ContainsFunc(refs, func(ref lang.Ref) bool { return ref.Name == name }) {
		return true
	}
	for variable, runs := range r.runs {
		_, needs := runs[name]
		_, refers := used[variable]
		_, own := run.Variables[variable]
		if needs && (refers || !own && declared(r.module(run).Root, variable) != nil) {
			return true
		}
	}
	return false
}

// refsOf returns the references of an expression of a test file; none if it is nil.
func refsOf(e hcl.Expression) []lang.Ref {
	x, _ := lang.Compile(e)
	if x == nil {
		return nil
	}
	x.InTest()
	return x.Refs
}
