package workdir

import (
	"context"
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// staticOptions gives variables the values that are set, the values in the saved plan that the configuration
// is from, and answers to questions, in this order.
func (d *Dir) staticOptions(ctx context.Context) mayfly.StaticOptions {
	var in *inputs
	return mayfly.StaticOptions{
		RootDir: ".", WorkDir: absolute(), Interrupted: ctx.Done(),
		Variable: func(root *config.Module, v *config.Variable) (cty.Value, diag.List) {
			if in == nil {
				var diags diag.List
				if in, diags = d.Variables.gather(root); diags.HasErrors() {
					return cty.NilVal, diags // warnings come with the values for the plan
				}
			}
			return in.staticValue(ctx, v)
		},
		Workspace: func() (string, diag.List) {
			if d.Plans.loaded != nil {
				return d.Plans.loaded.workspace, nil
			}
			name, _, diags := d.Workspace()
			return name, diags
		},
	}
}

// staticValue returns the value of a variable, cty.NilVal if there is none. An answer is remembered, also if
// it stays wrong: other expressions may need it.
func (in *inputs) staticValue(ctx context.Context, v *config.Variable) (cty.Value, diag.List) {
	if val, diags := in.set(v); val != cty.NilVal || diags.HasErrors() || !v.Required() || in.of.dir.opt.Asker == nil {
		return val, diags
	}
	val, diags, err := in.ask(ctx, v)
	if errors.Is(err, ErrNoAnswer) {
		return cty.NilVal, nil
	}
	answered := func(*config.Variable) (cty.Value, diag.List) { return val, diags }
	in.of.answers[v.Name], in.candidates[v.Name] = answered, answered
	return val, diags
}

// set returns the value that a variable is set to, also by the saved plan that the configuration is from;
// cty.NilVal if it is not set.
func (in *inputs) set(v *config.Variable) (cty.Value, diag.List) {
	switch c := in.candidates[v.Name]; {
	case c != nil:
		return c(v)
	case in.of.dir.Plans.loaded != nil:
		return plannedValue(in.of.dir.Plans.loaded, v.Name)
	}
	return cty.NilVal, nil
}

// planned has the values that the configuration of a saved plan is evaluated with. It is used as long as the
// directory, so it does not hold the plan.
type planned struct {
	rootDir, workspace string
	variables          map[string]value.Durable
}

// plannedStatic evaluates the expressions needed to load the configuration of a saved plan, with the values
// that the plan was made with.
func plannedStatic(ctx context.Context, p *planned) config.Static {
	return mayfly.Static(mayfly.StaticOptions{
		RootDir: p.rootDir, WorkDir: absolute(), Interrupted: ctx.Done(),
		Variable:  func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) { return plannedValue(p, v.Name) },
		Workspace: func() (string, diag.List) { return p.workspace, nil },
	})
}

// plannedValue returns the value of a variable in a saved plan, cty.NilVal if it has none.
func plannedValue(p *planned, name string) (cty.Value, diag.List) {
	d, ok := p.variables[name]
	if !ok {
		return cty.NilVal, nil
	}
	val, err := d.Unmarked()
	if err != nil {
		return cty.NilVal, unloadable("The value of the variable %q in the saved plan cannot be read: %s.", name, err)
	}
	return val, nil
}
