package workdir

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
)

// variables returns the values to apply a saved plan with: those in the plan, and the ephemeral ones,
// which it cannot contain, given again.
func (ps *Plans) variables(ctx context.Context, p *plan.Plan) (mayfly.Variables, diag.List) {
	root := ps.dir.tree.Root
	in, diags := ps.dir.Variables.gather(root)
	if !diags.HasErrors() {
		diags = nil // of undeclared values in files, making the plan has warned
	}
	names := slices.Sorted(slices.Values(p.EphemeralVariables))
	for _, name := range names {
		if root.Variables[name] == nil {
			return nil, unloadable("The plan was made with a variable %q, which its configuration does not declare.", name)
		}
	}
	given, ds := in.values()
	diags = append(diags, ds...)
	diags = append(diags, in.completePlanned(ctx, names, given, !diags.HasErrors())...)
	out := mayfly.Variables{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v := root.Variables[name]
		switch {
		case v.Ephemeral && !slices.Contains(names, name):
			diags = append(diags, diag.Errorf("Mismatch between input and plan variable value", "The ephemeral variable %q was not set when the plan was made, but is set now. Leave it out, or make a new plan.", name)...)
		case v.Ephemeral:
			out[name] = given[name]
		case !sameAsPlanned(v, p, given[name]):
			diags = append(diags, diag.Errorf("Mismatch between input and plan variable value", "The value of the variable %q differs from the one that the plan was made with. Leave it out, or make a new plan.", name)...)
		}
	}
	for name, planned := range p.Variables {
		v, err := planned.Unmarked()
		if err != nil {
			diags = append(diags, unloadable("The value of the variable %q in the saved plan cannot be read: %s.", name, err)...)
			continue
		}
		out[name] = v
	}
	return out, diags
}

// sameAsPlanned reports whether the plan has the same value, or no value and this is the default.
func sameAsPlanned(v *config.Variable, p *plan.Plan, given cty.Value) bool {
	given, _ = given.UnmarkDeep()
	planned := v.Default
	if d, ok := p.Variables[v.Name]; ok {
		var err error
		if planned, err = d.Unmarked(); err != nil {
			return false
		}
	}
	return planned != cty.NilVal && planned.RawEquals(given)
}

// completePlanned asks for the required ones among the ephemeral variables that were set when the plan was
// made, and adds the answers to values. If one with a default is missing, nothing is asked: it may have been
// left out by mistake or on purpose, and the plan may not fit the default.
func (in *inputs) completePlanned(ctx context.Context, names []string, values mayfly.Variables, ask bool) diag.List {
	for _, name := range names {
		ask = ask && (in.candidates[name] != nil || in.root.Variables[name].Required())
	}
	return in.complete(ctx, names, values, ask, missingEphemeral)
}

// missingEphemeral reports ephemeral variables that were set when a plan was made, and are not set now. A
// default in their place would apply something else than the plan.
func missingEphemeral(vars []*config.Variable) diag.List {
	var diags diag.List
	for _, v := range vars {
		summary, fallback := "No value for required ephemeral variable", ""
		if !v.Required() {
			summary, fallback = "No value for ephemeral variable", " Its default is not used in place of that value. To apply with the default, make a new plan without the variable."
		}
		diags = append(diags, diag.At(v.Range, summary,
			"The ephemeral variable %q was set when the plan was made. Since ephemeral values are never saved, it must be given again to apply the plan: use -var, -var-file or the environment variable TF_VAR_%s.%s", v.Name, v.Name, fallback)...)
	}
	return diags
}
