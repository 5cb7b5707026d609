package workdir

import (
	"context"
	"errors"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan/planfile"
)

// static evaluates what must be known to load the configuration.
func (d *Dir) static(ctx context.Context) config.Static {
	var in *inputs
	return mayfly.Static(mayfly.StaticOptions{
		RootDir: ".", WorkDir: absolute(),
		Variable: func(root *config.Module, v *config.Variable) (cty.Value, diag.List) {
			if in == nil {
				var diags diag.List
				if in, diags = d.gather(root); diags.HasErrors() {
					return cty.NilVal, diags // warnings come with the values for the plan
				}
			}
			return in.staticValue(ctx, v)
		},
		Workspace: func() (string, diag.List) {
			name, _, diags := d.Workspace()
			return name, diags
		},
	})
}

// staticValue returns the value of a variable, cty.NilVal if there is none. What is asked for is remembered.
func (in *inputs) staticValue(ctx context.Context, v *config.Variable) (cty.Value, diag.List) {
	if c := in.candidates[v.Name]; c != nil {
		return c(v)
	}
	if !v.Required() || in.dir.opt.Asker == nil {
		return cty.NilVal, nil
	}
	text, err := in.dir.opt.Asker.Value(ctx, v)
	if errors.Is(err, ErrNoAnswer) {
		return cty.NilVal, nil
	}
	if err != nil {
		return cty.NilVal, unanswered(ctx, v, err)
	}
	c := textCandidate(text, "the prompt")
	in.dir.answers[v.Name], in.candidates[v.Name] = c, c
	return c(v)
}

// plannedStatic evaluates what must be known to load the configuration of a saved plan, with the values that
// the plan was made with.
func plannedStatic(f *planfile.File) config.Static {
	return mayfly.Static(mayfly.StaticOptions{
		RootDir: f.RootDir, WorkDir: absolute(),
		Variable: func(_ *config.Module, v *config.Variable) (cty.Value, diag.List) {
			d, ok := f.Plan.Variables[v.Name]
			if !ok {
				return cty.NilVal, nil
			}
			val, err := d.Unmarked()
			if err != nil {
				return cty.NilVal, unloadable("The value of the variable %q in the saved plan cannot be read: %s.", v.Name, err)
			}
			return val, nil
		},
		Workspace: func() (string, diag.List) { return f.Backend.Workspace, nil },
	})
}
