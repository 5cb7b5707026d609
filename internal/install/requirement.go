package install

import (
	"maps"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"
	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/constraint"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/state"
)

// Requirement is a required provider, with its versions and the places that require it.
type Requirement struct {
	Provider    addr.Provider
	Constraints []config.VersionConstraint // as written, in the order of the modules
	// Range is the first place that declares or uses the provider; nil if only the state needs it.
	Range *hcl.Range
	// Address is a resource of the state that needs the provider; "" if the configuration does.
	Address string

	spec  constraints.IntersectionSpec // all constraints together
	meant string                       // another required provider with almost the same name; "" if there is none
}

// Requirements collects the providers that a configuration and the objects of a state need: providers in
// required_providers and provider blocks, implied by resources, and of the state's objects. Either argument
// may be nil. The result includes providers that are never installed, such as the built-in one; Installer
// knows them.
func Requirements(tree *config.Tree, st *state.State) (map[addr.Provider]*Requirement, diag.List) {
	c := &collector{reqs: map[addr.Provider]*Requirement{}}
	if tree != nil {
		modules := slices.SortedFunc(maps.Values(tree.Modules), func(a, b *config.Module) int {
			return strings.Compare(a.Path.String(), b.Path.String())
		})
		for _, m := range modules {
			c.module(m)
		}
	}
	if st != nil {
		c.state(st)
	}
	c.compareNames()
	return c.reqs, c.diags
}

// compareNames looks for names of providers that may be misspelled: those that are used without a
// declaration.
func (c *collector) compareNames() {
	known := []string{addr.BuiltinProvider.Type}
	var undeclared []*Requirement
	for p, r := range c.reqs {
		if len(r.Constraints) == 0 && r.Range != nil && !p.IsBuiltIn() {
			undeclared = append(undeclared, r)
		} else {
			known = append(known, p.Type)
		}
	}
	for _, r := range undeclared {
		r.meant = diag.Nearest(r.Provider.Type, known)
	}
}

// collector gathers the requirements of all modules and of the state, so that the constraints on a provider
// can be combined.
type collector struct {
	reqs  map[addr.Provider]*Requirement
	diags diag.List
}

// module adds the requirements of one module: declared providers, provider blocks, resources and imports.
func (c *collector) module(m *config.Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Required)) {
		rp := m.Required[name]
		c.need(rp.Source, rp.Range)
		c.constrain(rp.Source, rp.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Providers)) {
		block := m.Providers[name]
		p := m.ProviderFor(block.Name)
		c.need(p, block.Range)
		c.constrain(p, block.Version)
	}
	for _, r := range m.Order {
		ref := r.ProviderRef()
		c.need(m.ProviderFor(ref.Name), ref.Range)
	}
	for _, im := range m.Imports {
		// If its resource is declared, that needs the provider, which may differ from the one implied by
		// the type.
		if ref, ok := im.ProviderRef(); ok && (im.Provider != nil || m.Resources[*im.Resource] == nil) {
			c.need(m.ProviderFor(ref.Name), ref.Range)
		}
	}
}

// need adds a requirement. The first place where it is found is the one that errors show.
func (c *collector) need(p addr.Provider, rng hcl.Range) {
	if c.reqs[p] == nil {
		c.reqs[p] = &Requirement{Provider: p, Range: rng.Ptr()}
	}
}

// constrain adds a version constraint to the requirement, which exists.
func (c *collector) constrain(p addr.Provider, vc config.VersionConstraint) {
	if vc.Text == "" {
		return
	}
	spec, err := constraints.ParseRubyStyleMulti(vc.Text)
	if err != nil {
		c.diags = append(c.diags, diag.At(vc.Range, "Invalid provider version constraint",
			"The version constraint %q for provider %s is not valid: %s.", vc.Text, p.ForDisplay(), err)...)
		return
	}
	r := c.reqs[p]
	r.Constraints = append(r.Constraints, vc)
	r.spec = append(r.spec, spec...)
}

// state adds the providers of objects that the configuration does not need any more.
func (c *collector) state(st *state.State) {
	for r := range st.AllResources() {
		for _, i := range r.Instances {
			p := i.Provider.Provider
			if !p.IsZero() && c.reqs[p] == nil {
				c.reqs[p] = &Requirement{Provider: p, Address: r.Addr.String()}
			}
		}
	}
}

// Text returns all constraints in the form of the lock file, or "" if any version is allowed.
func (r *Requirement) Text() string { return constraint.Text(r.spec) }

// allows returns the versions that meet all constraints. It includes only pre-releases that are requested
// exactly.
func (r *Requirement) allows() versions.Set { return versions.MeetingConstraints(r.spec) }

// sources lists each constraint with its place, one per line, for messages.
func (r *Requirement) sources() string {
	var sb strings.Builder
	for _, c := range r.Constraints {
		sb.WriteString("\n  - " + c.Text + " at " + diag.Place(c.Range))
	}
	if r.Address != "" {
		sb.WriteString("\n  - in the state, by " + r.Address)
	} else if len(r.Constraints) == 0 && r.Range != nil {
		sb.WriteString("\n  - used at " + diag.Place(*r.Range))
	}
	return sb.String()
}

// at returns where the configuration declares or uses the provider, in parentheses after a space; "" if that
// is not known.
func (r *Requirement) at() string {
	if r.Range == nil {
		return ""
	}
	return " (used at " + diag.Place(*r.Range) + ")"
}

// errorf returns an error about the requirement.
func (r *Requirement) errorf(summary, format string, args ...any) diag.List {
	diags := diag.Errorf(summary, format, args...)
	diags[0].Subject, diags[0].Address = r.Range, r.Address
	return diags
}

// sorted returns the requirements in the order of the lock file.
func sorted(reqs map[addr.Provider]*Requirement) []*Requirement {
	return slices.SortedFunc(maps.Values(reqs), func(a, b *Requirement) int { return lockfile.CompareProviders(a.Provider, b.Provider) })
}
