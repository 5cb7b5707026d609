// Package static evaluates the expressions that must be known before a configuration is complete: where its
// modules come from, where its state is, and how it is encrypted. Such an expression may use variables, local
// values, path.*, the workspace's name and functions; variables of a called module have the values given by
// the call.
//
// It may import config, lang and the function table. It must not know schemas, providers, state or plans, and
// it needs none: whatever depends on one of them is an error here.
package static

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bounds"
	"github.com/mayfly-iac/mayfly/internal/base/detach"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/language/lang/marked"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Options are the inputs of evaluation.
type Options struct {
	// Variable returns the value set for a variable of the root module, converted to its
	// type. It returns cty.NilVal if it is not set. A nil function means that none is.
	Variable func(root *config.Module, v *config.Variable) (cty.Value, diag.List)
	// Workspace gives the name of the selected workspace; nil for "default".
	Workspace func() (string, diag.List)
	// RootDir and WorkDir are path.root and path.cwd.
	RootDir, WorkDir string
	// Interrupted ends evaluations when it is closed; nil for never.
	Interrupted <-chan struct{}
}

// Evaluator evaluates expressions, each variable and local value once. It belongs to one goroutine.
type Evaluator struct {
	opt    Options
	table  map[string]function.Function
	values map[any]*result // by *config.Variable and *config.Local, which are of one module each
}

type result struct {
	value cty.Value
	diags diag.List
	done  bool
}

// New returns an evaluator.
func New(o Options) *Evaluator { return &Evaluator{opt: o, values: map[any]*result{}} }

// Eval evaluates an expression of m; it is a config.Static.
func (e *Evaluator) Eval(m *config.Module, expr hcl.Expression) (cty.Value, diag.List) {
	v, diags := e.eval(m, expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	for _, secret := range []struct {
		mark    value.Mark
		summary string
	}{{value.Ephemeral, "Ephemeral value not allowed"}, {value.Sensitive, "Sensitive value not allowed"}} {
		if value.Contains(v, secret.mark) {
			return cty.DynamicVal, append(diags, diag.At(expr.Range(), secret.summary,
				"This is shown and recorded in files, so it must not come from a value that is %s. Use another value here.", secret.mark)...)
		}
	}
	return settled(v, expr, diags)
}

// EvalKey is Eval for arguments of encryption, which are used in memory only: the value may be sensitive or
// ephemeral. It has no marks, so the caller must show it nowhere.
func (e *Evaluator) EvalKey(m *config.Module, expr hcl.Expression) (cty.Value, diag.List) {
	v, diags := e.eval(m, expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return settled(v, expr, diags)
}

// EvalMarked is Eval for arguments of backends: the value may be sensitive or ephemeral, and keeps its marks.
func (e *Evaluator) EvalMarked(m *config.Module, expr hcl.Expression) (cty.Value, diag.List) {
	v, diags := e.eval(m, expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	plain, diags := settled(v, expr, diags)
	if diags.HasErrors() {
		return plain, diags
	}
	return v, diags
}

// EvalPartial is EvalMarked for a configuration without the values of its variables: the result may be
// unknown.
func (e *Evaluator) EvalPartial(m *config.Module, expr hcl.Expression) (cty.Value, diag.List) {
	return e.eval(m, expr)
}

// settled returns a value without marks, which must be known.
func settled(v cty.Value, expr hcl.Expression, diags diag.List) (cty.Value, diag.List) {
	v, _ = v.UnmarkDeep()
	if !v.IsWhollyKnown() {
		return cty.DynamicVal, append(diags, diag.At(expr.Range(), "Value not known in time",
			"This must be known when the configuration is loaded, but it depends on something that is known only after apply, such as the current time.")...)
	}
	return v, diags
}

// eval evaluates an expression with variables and locals alone. It uses the rewriting and the budget of full
// evaluation, so that an expression means the same in both. Provider-defined functions are errors: no
// provider runs yet.
func (e *Evaluator) eval(m *config.Module, expr hcl.Expression) (cty.Value, diag.List) {
	v, _, diags := e.evalIn(m, expr)
	return v, diags
}

// evalIn is eval, and returns the context of the evaluation too.
func (e *Evaluator) evalIn(m *config.Module, expr hcl.Expression) (cty.Value, *hcl.EvalContext, diag.List) {
	compiled, diags := lang.Compile(expr)
	lang.Propose(diags, m.MeantBy)
	if diags.HasErrors() {
		return cty.DynamicVal, nil, diags
	}
	if len(compiled.Functions) > 0 {
		return cty.DynamicVal, nil, append(diags, diag.At(expr.Range(), "Value not known in time",
			"The function %s belongs to a provider, but providers start only after modules and backend are known. Use built-in functions here.", compiled.Functions[0])...)
	}
	roots := map[string]map[string]cty.Value{}
	for _, ref := range compiled.Refs {
		v, ds := e.ref(m, ref)
		diags = append(diags, ds...)
		if roots[ref.Root] == nil {
			roots[ref.Root] = map[string]cty.Value{}
		}
		roots[ref.Root][ref.Name] = v
	}
	if diags.HasErrors() {
		return cty.DynamicVal, nil, diags
	}
	vars := make(map[string]cty.Value, len(roots)+1)
	for root, names := range roots {
		vars[root] = cty.ObjectVal(names)
	}
	ctx := marked.Context(vars, e.functions(), bounds.NewBudget(e.opt.Interrupted), compiled.Renders, e.opt.WorkDir)
	expr = marked.Expression(expr)
	type outcome struct {
		value cty.Value
		diags hcl.Diagnostics
	}
	got, ok := detach.Run(nil, e.opt.Interrupted, func() outcome {
		v, hd := expr.Value(ctx)
		return outcome{v, hd}
	})
	if !ok {
		return cty.DynamicVal, ctx, append(diags, diag.At(expr.Range(), "Evaluation interrupted", "The interrupt came while this was being evaluated. A function that is called here takes long.")...)
	}
	v, hd := got.value, got.diags
	if exceeded := marked.Exceeded(ctx); exceeded != nil {
		return cty.DynamicVal, ctx, append(diags, diag.FromHCL(exceeded)...)
	}
	return v, ctx, append(diags, lang.Redact(diag.FromHCL(hd), ctx, func(ctx *hcl.EvalContext) diag.List {
		_, hd := expr.Value(ctx)
		return diag.FromHCL(hd)
	})...)
}

func (e *Evaluator) functions() map[string]function.Function {
	if e.table == nil {
		e.table = funcs.Table(funcs.Options{BaseDir: e.opt.WorkDir, PureOnly: true, Interrupted: e.opt.Interrupted})
	}
	return e.table
}

// ref returns the whole value of the object that a reference names.
func (e *Evaluator) ref(m *config.Module, ref lang.Ref) (cty.Value, diag.List) {
	switch ref.Kind {
	case lang.Variable:
		v := m.Variables[ref.Name]
		if v == nil {
			return cty.DynamicVal, undeclared(ref, "input variable", slices.Collect(maps.Keys(m.Variables)))
		}
		return e.once(v, ref, func() (cty.Value, diag.List) { return e.variable(m, v) })
	case lang.Local:
		l := m.Locals[ref.Name]
		if l == nil {
			return cty.DynamicVal, undeclared(ref, "local value", slices.Collect(maps.Keys(m.Locals)))
		}
		return e.once(l, ref, func() (cty.Value, diag.List) { return e.eval(m, l.Expr) })
	case lang.Path:
		return cty.StringVal(map[string]string{"module": m.Dir, "root": e.opt.RootDir, "cwd": e.opt.WorkDir}[ref.Name]), nil
	case lang.Terraform:
		if ref.Name != "workspace" {
			return cty.UnknownVal(cty.Bool).Mark(value.Ephemeral), nil
		}
		name, diags := "default", diag.List(nil)
		if e.opt.Workspace != nil {
			name, diags = e.opt.Workspace()
		}
		return cty.StringVal(name), diags
	}
	return cty.DynamicVal, diag.At(ref.Range, "Value not known in time",
		"The locations of modules and of the state, and how it is encrypted, must be known before anything is planned, so %s cannot be used here. Use only variables, local values made from these, path.module, path.root, path.cwd, terraform.workspace, and functions.", ref)
}

// once evaluates an object at its first use. An object that needs itself is an error.
func (e *Evaluator) once(object any, ref lang.Ref, f func() (cty.Value, diag.List)) (cty.Value, diag.List) {
	r := e.values[object]
	switch {
	case r == nil:
		r = &result{}
		e.values[object] = r
		r.value, r.diags = f()
		r.done = true
	case !r.done:
		return cty.DynamicVal, diag.At(ref.Range, "Cycle of values", "The value of %s depends on itself. Remove one of the references that lead back to it.", ref)
	}
	return r.value, r.diags
}

// variable returns the value of a variable with the marks of its declaration. A variable that is not
// nullable takes its default in place of null.
func (e *Evaluator) variable(m *config.Module, v *config.Variable) (cty.Value, diag.List) {
	val, diags := e.given(m, v)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	if val == cty.NilVal || val.IsNull() && !v.Nullable {
		if v.Required() {
			return cty.DynamicVal, append(diags, diag.At(v.Range, "No value for required variable",
				"The variable %q decides where a module comes from, where the state is kept or how it is encrypted, and it has no default. Give it a value with -var, in a file for -var-file, or in the environment variable TF_VAR_%s.", v.Name, v.Name)...)
		}
		val = v.Default
	}
	if v.Sensitive {
		val = val.Mark(value.Sensitive)
	}
	if v.Ephemeral {
		val = value.Ephemerally(val, v.Type)
	}
	return val, diags
}

// given returns the value set for a variable, or cty.NilVal if it is not set.
func (e *Evaluator) given(m *config.Module, v *config.Variable) (cty.Value, diag.List) {
	if m.Call == nil {
		if e.opt.Variable == nil {
			return cty.NilVal, nil
		}
		return e.opt.Variable(m, v)
	}
	input := m.Call.Inputs[v.Name]
	if input == nil {
		return cty.NilVal, nil
	}
	val, diags := e.eval(m.Parent, input.Expr)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	converted, err := v.Convert(val)
	if err != nil {
		if _, secret := value.RedactedDeep(val); secret { // the error may tell keys
			err = fmt.Errorf("%s required", v.Type.FriendlyNameForConstraint())
		}
		return cty.DynamicVal, append(diags, diag.At(input.Expr.Range(), "Invalid value for input variable", "The given value is not suitable for the variable %q declared at %s: %s.", v.Name, diag.Place(v.Range), err)...)
	}
	return converted, diags
}

func undeclared(ref lang.Ref, what string, names []string) diag.List {
	slices.Sort(names)
	list := ""
	for _, n := range names {
		list += " " + n
	}
	list = cmp.Or(list, " none")
	return diag.At(ref.Range, "Reference to undeclared "+what, "There is no %s named %q in this module. Declared here:%s.", what, ref.Name, list)
}
