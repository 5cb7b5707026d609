package selection

import (
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/plan"
)

// UnmatchedReplace reports each address to replace that the plan does not have, with the address that may
// have been meant. It is an error if a resource of the plan has a similar address, or if the configuration in
// tree rules out such a key, otherwise a warning. Names that are alike are looked for only then: most plans
// have no such address. places is where the addresses are written. An address that the plan defers is for
// another plan; in a run of several rounds, one of these has it.
func UnmatchedReplace(tree *config.Tree, p *plan.Plan, places config.Places, inRounds bool) diag.List {
	var diags diag.List
	for i, a := range p.ForceReplace {
		near, ok := planned(p, a)
		if !ok && deferred(p, a) && ShownKey(a) == "" {
			ok = true
			if !inRounds {
				diags = append(diags, diag.Warnf("Replacement is deferred",
					"This plan leaves %s to a later one, and a saved plan does not keep -replace=%q for that. Give the option to the later plan again, or use apply -converge, which needs it once.", a, a).Once()...)
			}
		}
		if ok {
			continue
		}
		place := places.At(i)
		if p.Prior == nil || p.Prior.Instance(a) == nil { // or it has the key that it had before
			near.wrong, near.right = tree.WrongKey(only(a))
		}
		d := near.report(a, place != nil)
		d.Subject, d.Extra = place, diag.Once{}
		diags = append(diags, d)
	}
	return diags
}

// deferred reports whether a plan leaves the instance to a later one, which may replace it.
func deferred(p *plan.Plan, a addr.Instance) bool {
	return slices.ContainsFunc(p.Deferrals, func(d *plan.Deferral) bool {
		return d.Change.Addr == a || d.Change.Addr.Unkeyed() && d.Change.Addr.Config() == a.Config()
	})
}

// UnmatchedAssumed warns about each address of the option -assume-unchanged that the plan has no use for: it
// compares nothing there that it could not compare without.
func UnmatchedAssumed(p *plan.Plan, assumed []addr.Instance) diag.List {
	if len(assumed) == 0 {
		return nil
	}
	used := map[addr.Instance]bool{}
	for _, c := range p.Changes {
		used[c.Addr] = used[c.Addr] || slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool { return w.Status == plan.WithheldAssumed })
	}
	var diags diag.List
	for _, a := range assumed {
		if !used[a] {
			diags = append(diags, diag.Diagnostic{
				Severity: diag.Warning, Summary: "Nothing matches -assume-unchanged", Extra: diag.Once{},
				Detail: fmt.Sprintf("%s has no ephemeral attribute in this plan that could not be compared, so -assume-unchanged=%q has no effect.%s", a, a, ShownKey(a)),
			})
		}
	}
	return diags
}

// replaceable has the addresses that one which is not in the plan may have been meant for.
type replaceable struct {
	within    []addr.Instance // the instances below the address, if it lacks a key
	others    []addr.Instance // the instances of the same resource, if there is none with its key
	blocks    map[addr.ConfigResource]bool
	instances map[addr.Instance]bool // of these blocks

	wrong, right string // results of config.Tree.WrongKey for the address
}

// optionReplace is an address that is shown as the option -replace.
type optionReplace addr.Instance

func (o optionReplace) String() string { return fmt.Sprintf("-replace=%q", addr.Instance(o)) }

// planned reports whether the plan has an instance; if not, it returns similar ones.
func planned(p *plan.Plan, a addr.Instance) (replaceable, bool) {
	covered := only(a)
	near := replaceable{blocks: map[addr.ConfigResource]bool{}, instances: map[addr.Instance]bool{}}
	for _, c := range p.Changes {
		switch {
		case c.Addr == a:
			return near, true
		case c.Addr.Resource.Mode != addr.Managed || c.Deposed != "":
		case covered.Selects(c.Addr):
			near.within = append(near.within, c.Addr)
		case c.Addr.Config() == a.Config():
			near.others = append(near.others, c.Addr)
		default:
			near.blocks[c.Addr.Config()], near.instances[c.Addr] = true, true
		}
	}
	return near, false
}

// report describes the mistake in an address of the option -replace, or of the argument replace of a file.
func (near replaceable) report(a addr.Instance, argument bool) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Warning, Summary: "Nothing matches -replace"}
	useless, these, list := fmt.Sprintf("-replace=%q", a), "options", " To list the instances, run:\n  mayfly state list"
	if argument {
		d.Summary, useless, these, list = "Nothing matches replace", "naming it in the argument \"replace\"", "addresses", ""
	}
	switch {
	case len(near.within) > 0:
		d.Detail = fmt.Sprintf("The address %s lacks an instance key, so it is not the address of an instance. To replace particular instances, use one or more of these %s:%s", a, these, replacing(near.within, argument))
		return d
	case near.right != "":
		d.Severity = diag.Error
		d.Detail = fmt.Sprintf("There is no resource instance %s: %s. Did you mean %s?", a, near.wrong, near.right)
		return d
	case near.wrong != "":
		d.Severity = diag.Error
		d.Detail = fmt.Sprintf("There is no resource instance %s: %s.", a, near.wrong)
		if len(near.others) > 0 {
			d.Detail += fmt.Sprintf(" To replace instances of the resource, use one or more of these %s:%s", these, replacing(near.others, argument))
		}
		return d
	case len(near.others) > 0:
		d.Detail = fmt.Sprintf("There is no resource instance %s.%s To replace other instances of the resource, use one or more of these %s:%s", a, ShownKey(a), these, replacing(near.others, argument))
		return d
	}
	d.Detail = fmt.Sprintf("There is no resource instance %s in this plan, so %s has no effect.%s", a, useless, ShownKey(a))
	if meant := near.similar(a); meant != "" {
		d.Severity = diag.Error
		d.Detail += fmt.Sprintf(" Did you mean %s?", meant)
	}
	d.Detail += list
	return d
}

// replacing lists instances as elements of an argument, or each as an option.
func replacing(instances []addr.Instance, argument bool) string {
	if argument {
		return diag.Lines("", instances)
	}
	options := make([]optionReplace, len(instances))
	for i, a := range instances {
		options[i] = optionReplace(a)
	}
	return diag.Lines("", options)
}

// similar returns the address of a resource in the same module that differs a little in name or type, "" if
// none does. It has the keys of a if the plan has such an instance.
func (near replaceable) similar(a addr.Instance) string {
	meant := map[string]addr.ConfigResource{} // by the name or type that differs
	for b := range near.blocks {
		switch {
		case b.Module != a.Module.Module():
		case b.Type == a.Resource.Type:
			meant[b.Name] = b
		case b.Name == a.Resource.Name:
			meant[b.Type] = b
		}
	}
	names := keysOf(meant)
	for _, name := range []string{a.Resource.Name, a.Resource.Type} {
		if found := diag.Nearest(name, names); found != "" {
			instance := addr.Instance{Module: a.Module, Resource: meant[found].Resource, Key: a.Key}
			if near.instances[instance] {
				return instance.String()
			}
			return meant[found].String()
		}
	}
	return ""
}
