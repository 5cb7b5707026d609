package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// crossCheck checks modules against each other, and references to provider configurations: everything that
// needs neither evaluation nor schemas. It runs once for the whole tree, after all modules were decoded.
// Errors whose correction can't change which modules and providers are installed are marked as Semantic, so
// that init can go on in spite of them.
func crossCheck(t *Tree) diag.List {
	c := &checker{}
	c.removals(t)
	for _, m := range t.SortedModules() {
		c.duplicateRequirements(m)
		c.providerRefs(m)
		c.providerForEach(m)
		if m.Call != nil {
			c.inputs(m)
			c.emptyBlocks(m)
			c.checkPassed(m)
			c.inheritedAliases(m)
			c.checkRepeated(m)
		}
	}
	return c.diags
}

// checker collects the errors between modules. It sees the whole tree, unlike decoder, which sees one
// module.
type checker struct{ problems }

// inputs compares the arguments of the call of m with the variables of m. An argument that looks like a
// misspelled variable accounts for that variable being missing, so one mistake gives one error.
func (c *checker) inputs(m *Module) {
	meant := map[string]bool{} // variables whose names are misspelled
	for _, attr := range inOrder(m.Call.Inputs) {
		if v := m.Variables[attr.Name]; v != nil {
			c.diags = append(c.diags, ignoredAttributes(attr.Expr, v.Type, fmt.Sprintf("variable %q of module %q", v.Name, m.Call.Name))...)
			continue
		}
		known := append(slices.Collect(maps.Keys(m.Variables)), "source", "version", "providers", "count", "for_each", "depends_on")
		meant[diag.Nearest(attr.Name, known)] = true
		c.semanticAt(attr.NameRange, "Unsupported argument", "An argument named %q is not expected here: module %q declares no such variable.%s",
			attr.Name, m.Call.Name, diag.DidYouMean(attr.Name, known))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Variables)) {
		if m.Variables[name].Required() && m.Call.Inputs[name] == nil && !meant[name] {
			c.semanticAt(m.Call.Range, "Missing required argument",
				"The argument %q is required, but no definition was found. Module %q declares this variable without a default, at %s.",
				name, m.Call.Name, diag.Place(m.Variables[name].Range))
		}
	}
}

// duplicateRequirements warns about one provider with two local names. It is a warning, since each name
// works on its own, but the objects of one provider are then configured in two places.
func (c *checker) duplicateRequirements(m *Module) {
	names := map[addr.Provider]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Required)) {
		rp := m.Required[name]
		if first, dup := names[rp.Source]; dup {
			c.warnAt(rp.Range, "Duplicate required provider",
				"Provider %s with the local name %q is also required as %q. Keep one of the two entries.",
				rp.Source.ForDisplay(), name, first)
			continue
		}
		names[rp.Source] = name
	}
}

// providerRefs checks the provider configurations named by resources and imports.
func (c *checker) providerRefs(m *Module) {
	for _, r := range m.Order {
		if r.Provider != nil {
			c.providerRef(m, *r.Provider)
		}
	}
	for _, p := range m.Ephemeral {
		if p.Provider != nil && (p.Provider.KeyExpr != nil || m.Providers[p.Provider.String()] == nil) {
			c.providerRef(m, *p.Provider) // a block is about all instances of a configuration
		}
	}
	for _, im := range m.Imports {
		if im.Provider != nil {
			c.providerRef(m, *im.Provider)
		}
	}
}

// providerRef checks that ref names a configuration of m, and has an instance key if and only if that has
// several instances. It reports whether ref is correct. An alias that m neither declares nor expects is an
// error; a default configuration need not be declared.
func (c *checker) providerRef(m *Module, ref ProviderRef) bool {
	if ref.Alias != "" && !m.HasAlias(ref) {
		c.semanticAt(ref.Range, "Provider configuration not present",
			"There is no provider configuration %q in %s.%s Declare it with a provider block that has alias = %q%s.",
			ref.String(), moduleName(m), diag.DidYouMean(ref.String(), configurations(m)), ref.Alias, passHint(m))
		return false
	}
	p := m.Providers[ref.String()]
	many := p != nil && p.ForEach != nil
	switch {
	case many && ref.KeyExpr == nil:
		c.errorAt(ref.Range, "Missing provider instance key",
			"The provider configuration %q has for_each, so one of its instances must be chosen, as in %s[each.key].", ref.String(), ref)
	case !many && ref.KeyExpr != nil:
		c.errorAt(ref.KeyExpr.Range(), "Unexpected provider instance key",
			"The provider configuration %q has no for_each, so it has a single instance. Remove the key.", ref.String())
	default:
		return true
	}
	return false
}

// passHint adds a second way to get a configuration, which exists only in a called module, to the end of a
// sentence.
func passHint(m *Module) string {
	if m.Path.IsRoot() {
		return ""
	}
	return ", or list it in configuration_aliases and pass it in the module call"
}

// moduleName names a module in a sentence. The root module's address is the empty string.
func moduleName(m *Module) string {
	if m.Path.IsRoot() {
		return "the root module"
	}
	return m.Path.String()
}

// configurations lists the provider configurations with an alias that other blocks of m can name.
func configurations(m *Module) []string {
	out := slices.Collect(maps.Keys(m.Providers))
	for _, rp := range m.Required {
		for _, a := range rp.Aliases {
			out = append(out, a.String())
		}
	}
	return out
}

// checkPassed checks the providers argument of the call of m.
func (c *checker) checkPassed(m *Module) {
	for _, p := range m.Call.Providers {
		c.passedChild(m, p)
		c.passedParent(m.Parent, p.InParent)
		if !c.providerRef(m.Parent, p.InParent) {
			continue
		}
		want, got := m.ProviderFor(p.InChild.Name), m.Parent.ProviderFor(p.InParent.Name)
		if want != got {
			// The source that is missing from required_providers decides which provider is installed, so this
			// error, unlike those marked as Semantic, must be fixed before anything is.
			c.errorAt(p.InParent.Range, "Provider type mismatch",
				"The configuration %q is for provider %s, but %q in %s is for %s. Pass a configuration of the same provider, or state the source of both in required_providers.",
				p.InParent.String(), got.ForDisplay(), p.InChild.String(), m.Path, want.ForDisplay())
		}
	}
}

// passedChild checks that m expects the configuration that is passed to it. An own block with arguments and a
// passed configuration would contradict each other. An empty block is the outdated form of
// configuration_aliases and gives way to the passed one.
func (c *checker) passedChild(m *Module, p PassedProvider) {
	ref := p.InChild
	own := m.Providers[ref.String()]
	switch {
	case own != nil && !own.Empty():
		c.errorAt(ref.Range, "Cannot override provider configuration",
			"The configuration %q of %s is given by the provider block at %s and can't be passed as well. Remove that block, or this entry.", ref.String(), m.Path, diag.Place(own.Range))
	case own == nil && m.Required[ref.Name] == nil:
		c.warnAt(ref.Range, "Reference to undefined provider",
			"There is no explicit declaration for local provider name %q in %s, so it means %q. Add it to required_providers there, or remove this entry.",
			ref.String(), m.Path, m.ProviderFor(ref.Name).ForDisplay())
	case ref.Alias != "" && !m.HasAlias(ref):
		c.errorAt(ref.Range, "Reference to undefined provider",
			"%s declares no provider configuration %q.%s Add it to configuration_aliases in required_providers there, or remove this entry.",
			m.Path, ref.String(), diag.DidYouMean(ref.String(), configurations(m)))
	}
}

// passedParent warns if m passes on a default configuration although it neither requires nor configures the
// provider.
func (c *checker) passedParent(m *Module, ref ProviderRef) {
	own := m.Providers[ref.String()]
	if ref.Alias != "" || m.Required[ref.Name] != nil || own != nil && !own.Empty() {
		return
	}
	c.warnAt(ref.Range, "Reference to undefined provider",
		"There is no explicit declaration for local provider name %q in %s, so it means %q. Add it to required_providers there, with its source.",
		ref.Name, moduleName(m), m.ProviderFor(ref.Name).ForDisplay())
}

// emptyBlocks warns about provider blocks in m without any arguments. Such blocks were once the only way to
// expect a configuration from the caller. Without a caller that passes one, the provider would be started
// with an empty configuration, which the author hardly meant.
func (c *checker) emptyBlocks(m *Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Providers)) {
		p := m.Providers[name]
		if !p.Empty() {
			continue
		}
		effect := "Since the caller passes no such configuration, the module has one of its own, without arguments"
		if m.Passed(p.Ref()) != nil {
			effect = "The caller does so, and the block has no effect"
		}
		c.warnAt(p.Range, "Redundant empty provider block",
			"An empty provider block in a called module is an outdated way to expect a configuration from the caller. %s. %s",
			effect, insteadOfEmpty(m, p))
	}
}

// insteadOfEmpty names the replacement of an empty provider block in m.
func insteadOfEmpty(m *Module, p *Provider) string {
	aliases := ""
	switch {
	case p.Alias != "" && m.ExpectedAlias(p.Ref()) == nil:
		aliases = fmt.Sprintf("\n      configuration_aliases = [%s]", p.Ref())
	case m.Required[p.Name] != nil:
		return fmt.Sprintf("Remove the block: required_providers of %s already has what is needed.", m.Path)
	}
	return fmt.Sprintf("Replace the block by this in required_providers of %s:\n\n    %s = {\n      source = %q%s\n    }",
		m.Path, p.Name, m.ProviderFor(p.Name).ForDisplay(), aliases)
}

// inheritedAliases checks that the call passes every configuration that m requires. Default configurations
// are inherited without being listed, and so are missing only if configuration_aliases names them.
func (c *checker) inheritedAliases(m *Module) {
	for _, name := range slices.Sorted(maps.Keys(m.Required)) {
		for _, a := range m.Required[name].Aliases {
			if m.Passed(a) == nil && (a.Alias == "" || m.Providers[a.String()] == nil) {
				c.errorAt(m.Call.Range, "Missing required provider configuration",
					"The child module requires a configuration for provider %s, under the name %q. Add to this block: providers = { %s = ... }.",
					m.Required[name].Source.ForDisplay(), a.String(), a)
			}
		}
	}
}

// checkRepeated refuses provider configurations in modules that are repeated or have depends_on: a
// provider's configuration must outlive the objects that it manages. If the call went away, its provider
// configuration would go with it, and the objects in the state could not be destroyed. All calls from m to
// the root count, since repeating an outer module repeats m too.
func (c *checker) checkRepeated(m *Module) {
	var own *Provider
	for _, name := range slices.Sorted(maps.Keys(m.Providers)) {
		if p := m.Providers[name]; !p.Empty() {
			own = p
			break
		}
	}
	if own == nil {
		return
	}
	for at := m; at.Call != nil; at = at.Parent {
		if used := repeats(at.Call); len(used) > 0 {
			c.errorAt(at.Call.Range, "Module is incompatible with count, for_each, and depends_on",
				"%s contains its own provider configuration, at %s, and so calls of it can't use %s. Move the provider block to the root module and pass the configuration with the \"providers\" argument.",
				m.Path, diag.Place(own.Range), strings.Join(used, ", "))
			return
		}
	}
}

// repeats returns the names of the arguments of a call that make its number of instances variable.
func repeats(call *ModuleCall) []string {
	var used []string
	for _, u := range []struct {
		name string
		set  bool
	}{
		{"count", call.Repeat.Count != nil},
		{"for_each", call.Repeat.ForEach != nil},
		{"enabled", call.Repeat.Enabled != nil},
		{"depends_on", len(call.DependsOn) > 0},
	} {
		if u.set {
			used = append(used, u.name)
		}
	}
	return used
}

// providerForEach warns about resources whose for_each is the same expression as their provider's: once a key
// is removed, the provider instance to destroy its resource is gone too. Only references are compared. Other
// expressions may have equal values too, which is not known here.
func (c *checker) providerForEach(m *Module) {
	for _, r := range m.Order {
		if r.Addr.Mode != addr.Managed || r.Provider == nil || r.Provider.KeyExpr == nil || r.Repeat.ForEach == nil {
			continue
		}
		p := m.Providers[r.Provider.String()]
		if p == nil || p.ForEach == nil || !sameReference(p.ForEach, r.Repeat.ForEach) {
			continue
		}
		c.warnAt(r.Repeat.ForEach.Range(), "Provider configuration for_each matches resource",
			"%s and the provider configuration %q have the same for_each expression. When an element goes away, so does the provider instance that would destroy the object. Keep each element in the provider's collection for at least one more run after it has left the other one.",
			r.Addr, fmt.Sprint(r.Provider))
	}
}

// sameReference reports whether two expressions are the same chain of names, such as var.regions. It
// returns false for anything with an index or a function call.
func sameReference(a, b hcl.Expression) bool {
	ta, da := hcl.AbsTraversalForExpr(a)
	tb, db := hcl.AbsTraversalForExpr(b)
	if da.HasErrors() || db.HasErrors() || len(ta) != len(tb) || ta.RootName() != tb.RootName() {
		return false
	}
	for i := 1; i < len(ta); i++ {
		x, okx := ta[i].(hcl.TraverseAttr)
		y, oky := tb[i].(hcl.TraverseAttr)
		if !okx || !oky || x.Name != y.Name {
			return false
		}
	}
	return true
}
