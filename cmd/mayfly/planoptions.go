package main

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
)

// planOptions returns the command's options as options of the library. Files of addresses are read once: they
// may be pipes.
func (c *changeFlags) planOptions() (mayfly.PlanOptions, diag.List) {
	if c.options == nil {
		c.options = sync.OnceValues(c.convert)
	}
	return c.options()
}

// convert converts the command's options. All mistakes in addresses are reported at once.
func (c *changeFlags) convert() (mayfly.PlanOptions, diag.List) {
	out := mayfly.PlanOptions{SkipRefresh: !c.refresh, LazyEphemeral: c.lazyEphemeral, AllowDeferral: c.allowDeferral, RequireEphemeral: c.requireEphemeral != ""}
	switch {
	case c.destroy:
		out.Mode = plan.Destroy
	case c.refreshOnly:
		out.Mode = plan.RefreshOnly
	}
	if c.scope == "changed" {
		out.Scope = mayfly.ScopeChanged
	}
	var diags diag.List
	// Every wrong address is reported, not only the first.
	read := func(option string, values, files []string) (targets []addr.Target) {
		for _, file := range files {
			lines, err := addressLines(file)
			if err != nil {
				diags = append(diags, diag.Errorf("Cannot read addresses", "The file given with -%s-file, %s, could not be read: %s.", option, file, diag.Reason(err))...)
			}
			values = append(values, lines...)
		}
		for _, s := range values {
			t, err := addr.ParseTarget(s)
			if err != nil {
				diags = append(diags, diag.Errorf("Invalid target address", "The value %q of -%s is not the address of a module, resource or instance: %s.", s, option, err)...)
				continue
			}
			if t.Resource != nil && t.Resource.Mode == addr.Action {
				diags = append(diags, notSelectable(option, s)...)
				continue
			}
			targets = append(targets, t)
		}
		return targets
	}
	out.Targets = read("target", c.targets, c.targetFiles)
	out.Excludes = read("exclude", c.excludes, c.excludeFiles)
	out.Refresh = read("refresh-target", c.refreshTargets, nil)
	if c.refreshOlder != nil {
		age, wrong := parseAge(*c.refreshOlder)
		diags = append(diags, wrong...)
		out.RefreshOlder = age
	}
	managed := func(option string, values []string) (out []addr.Instance) {
		for _, s := range values {
			i, err := addr.ParseInstance(s)
			if err == nil && i.Resource.Mode == addr.Action {
				diags = append(diags, notSelectable(option, s)...)
				continue
			}
			if err != nil || i.Resource.Mode != addr.Managed {
				diags = append(diags, diag.Errorf("Invalid "+option+" address", "The value %q of -%s is not the address of a managed resource instance.", s, option)...)
				continue
			}
			out = append(out, i)
		}
		return out
	}
	out.ForceReplace = managed("replace", c.replace)
	out.AssumeUnchanged = managed("assume-unchanged", c.assumeUnchanged)
	for _, s := range c.invoke {
		i, err := addr.ParseInstance(s)
		if err != nil || i.Resource.Mode != addr.Action {
			diags = append(diags, diag.Errorf("Invalid invoke address", "The value %q of -invoke is not the address of an action, such as action.TYPE.NAME or action.TYPE.NAME[\"KEY\"].", s)...)
			continue
		}
		if slices.Contains(out.Invoke, i) {
			diags = append(diags, diag.Errorf("Action named twice", "-invoke names %s twice. One run invokes an action once.", i)...)
			continue
		}
		out.Invoke = append(out.Invoke, i)
	}
	return out, diags
}

// purpose returns the options of the only plan that the run makes; nil if that cannot be said beforehand.
func (r *changeRun) purpose() *mayfly.PlanOptions {
	opt, wrong := r.flags.planOptions()
	if r.saved || r.flags.generate != "" || len(wrong) > 0 { // planning reports it
		return nil
	}
	return &opt
}

// notSelectable reports the address of an action for an option that selects objects.
func notSelectable(option, address string) diag.List {
	summary, instead := "Invalid "+option+" address", ""
	switch option {
	case "target":
		summary, instead = "Invalid target address", "To invoke the action alone, use -invoke="+diag.Argument(address)+"."
	case "exclude":
		summary, instead = "Invalid target address", "To leave out an action, exclude the resource that triggers it."
	case "refresh-target":
		instead = "An action has nothing to be refreshed."
	case "replace":
		instead = "To invoke the action again, use -invoke=" + diag.Argument(address) + ". To have it invoked as part of a replacement, replace the resource that triggers it."
	default:
		instead = "An action has no attributes that are kept."
	}
	return diag.Errorf(summary, "%s is an action, and -%s selects objects. %s", address, option, instead)
}
