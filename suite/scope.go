package suite

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// eval evaluates an expression of the test file outside of assertions and provider blocks: it may refer to
// variables that the file or the command line gives, and to earlier runs. Provider blocks are evaluated with
// the module: checkProviders applies the same rule to them.
func (r *fileRun) eval(vars map[string]cty.Value, e hcl.Expression) (cty.Value, diag.List) {
	x, diags := lang.Compile(e)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	x.InTest()
	roots := map[string]map[string]cty.Value{}
	for _, ref := range x.Refs {
		values, what := vars, "variable of this file, of the module under test or of the command line"
		if ref.Kind == lang.Earlier {
			values, what = r.earlier, "earlier run block in this file"
		} else if ref.Kind != lang.Variable {
			diags = append(diags, diag.At(ref.Range, "Invalid reference", "Only variables and outputs of earlier runs can be referred to here, as in var.NAME and run.NAME.OUTPUT, but not %s.", ref)...)
			continue
		}
		v, ok := values[ref.Name]
		if wrong := r.broken[ref.Name]; !ok && wrong != nil && ref.Kind == lang.Variable {
			diags = append(diags, wrong.Except(diags)...)
			continue
		}
		if !ok {
			diags = append(diags, diag.At(ref.Range, "Reference to unavailable value", "There is no %s named %q.%s", what, ref.Name, diag.DidYouMean(ref.Name, slices.Sorted(maps.Keys(values))))...)
			continue
		}
		if roots[ref.Root] == nil {
			roots[ref.Root] = map[string]cty.Value{}
		}
		roots[ref.Root][ref.Name] = v
	}
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	all := map[string]cty.Value{}
	for root, names := range roots {
		all[root] = cty.ObjectVal(names)
	}
	// Impure functions are among them: a run gets their results when it begins.
	functions := funcs.Table(funcs.Options{BaseDir: ".", Interrupted: r.ctx.Done()})
	ctx := marked.Context(all, functions, bounds.NewBudget(r.ctx.Done()), x.Renders, ".")
	e = marked.Expression(e)
	type outcome struct {
		value cty.Value
		diags hcl.Diagnostics
	}
	got, ok := detach.Run(nil, r.ctx.Done(), func() outcome {
		v, hd := e.Value(ctx)
		return outcome{v, hd}
	})
	if !ok {
		return cty.DynamicVal, diag.At(e.Range(), "Evaluation interrupted", "The interrupt came while this was being evaluated. A function that is called here takes long.")
	}
	v, hd := got.value, got.diags
	if exceeded := marked.Exceeded(ctx); exceeded != nil {
		return cty.DynamicVal, diag.FromHCL(exceeded)
	}
	return v, lang.Redact(diag.FromHCL(hd), ctx, func(ctx *hcl.EvalContext) diag.List {
		_, hd := e.Value(ctx)
		return diag.FromHCL(hd)
	})
}

// declaredMarks returns a value with the marks that the declaration of its variable asks for.
func declaredMarks(v *config.Variable, got cty.Value) cty.Value {
	if v.Sensitive {
		got = got.Mark(value.Sensitive)
	}
	if v.Ephemeral {
		got = value.Ephemerally(got, v.Type)
	}
	return got
}

// convert converts the value that a test file gives to a variable.
func convert(v *config.Variable, got cty.Value, attr *hcl.Attribute) (cty.Value, diag.List) {
	val := config.VarValue{Value: got, Expr: attr.Expr, NameRange: attr.NameRange}
	return val.Convert(v)
}

// variables returns the values of the variables of a run's module, and brings other variables of the file
// into the module. Sensitive values make the variables sensitive that get them.
func (r *fileRun) variables(run *config.TestRun, root *config.Module) (mayfly.Variables, diag.List) {
	out := mayfly.Variables{}
	var diags diag.List
	set := func(name string, got cty.Value, at hcl.Range) {
		v := declared(root, name)
		if v == nil {
			root.Variables[name] = config.Given(name, got, value.Contains(got, value.Ephemeral))
			return
		}
		if value.Contains(got, value.Ephemeral) && !v.Ephemeral {
			diags = append(diags, diag.At(at, "Invalid usage of ephemeral value", "The value is ephemeral, but the variable %q is not. Mark the variable as ephemeral in the module.", name)...)
			return
		}
		if value.Contains(got, value.Sensitive) && !v.Sensitive {
			secret := *v
			secret.Sensitive = true
			root.Variables[name] = &secret
		}
		out[name], _ = got.UnmarkDeep()
	}
	for _, name := range r.opt.GivenNames {
		if v := declared(root, name); v != nil {
			got, ds := r.opt.Given(v)
			if diags = append(diags, ds...); !ds.HasErrors() && got != cty.NilVal {
				set(name, got, v.Range)
			}
		} else if got, ok := r.vars[name]; ok {
			set(name, got, hcl.Range{})
		}
	}
	used := names(runExpressions(run))
	attrs := map[string]*hcl.Attribute{}
	maps.Copy(attrs, r.file.Variables)
	maps.Copy(attrs, run.Variables)
	for name, attr := range diag.InOrder(attrs) {
		got, ds := r.vars[name], r.broken[name]
		if _, own := run.Variables[name]; own {
			got, ds = r.eval(r.vars, attr.Expr)
		} else if _, used := used[name]; declared(root, name) == nil && !used && (ds != nil || !got.IsWhollyKnown()) {
			continue
		}
		if !r.apart && !ds.HasErrors() { // a value that cannot be evaluated is unknown too
			ds = append(ds, unknown(run, attr, got)...)
		}
		if v := declared(root, name); v != nil && !ds.HasErrors() {
			got, ds = convert(v, got, attr)
		}
		if diags = append(diags, ds.Except(diags)...); !ds.HasErrors() { // two may refer to the same broken one
			set(name, got, attr.Range)
		}
	}
	return out, diags
}

// unknown reports a value for an apply that an earlier run, which only planned, has left unknown.
func unknown(run *config.TestRun, attr *hcl.Attribute, got cty.Value) diag.List {
	if run.Plan || got.IsWhollyKnown() {
		return nil
	}
	return diag.At(attr.Expr.Range(), "Reference to unknown value", "The value for %q is known only after the apply of what it refers to, which was only planned. Let the earlier run apply, or plan here too.", attr.Name)
}

// missing reports the variables without a default that get no value.
func missing(root *config.Module, given mayfly.Variables) (diags diag.List) {
	for name, v := range diag.InOrder(root.Variables) {
		if _, ok := given[name]; !ok && v.Required() && declared(root, name) != nil {
			diags = append(diags, diag.At(v.Range, "No value for required variable",
				"The variable %q has no default, and this run gives it no value. Set it in a variables block of the run or of the file, or with -var.", name)...)
		}
	}
	return diags
}

// declared returns the variable that a module declares by a block of its own, nil if there is none.
func declared(root *config.Module, name string) *config.Variable {
	if v := root.Variables[name]; v != nil && v.Range != (hcl.Range{}) {
		return v
	}
	return nil
}

// earlierRefs returns the references of a run to earlier runs.
func earlierRefs(run *config.TestRun) []lang.Ref {
	var out []lang.Ref
	for _, e := range runExpressions(run) {
		out = append(out, slices.DeleteFunc(refsOf(e), func(ref lang.Ref) bool { return ref.Kind != lang.Earlier })...)
	}
	return out
}
