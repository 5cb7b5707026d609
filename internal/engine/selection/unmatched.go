package selection

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Unmatched reports each option or argument that names nothing: neither an object of the state nor a block of
// the configuration, or an instance that their resource or module does not have. It is an error if a block
// has a similar address, or if no instance of the block can have such a key, since a plan that leaves out the
// intended objects looks like success; otherwise it is a warning, since an option may name an object that
// only some configurations have, and keys are data. known yields the instances of both as far as they were
// found out, some of them more than once, and blocks whose instances are unknown under addr.AnyKey; called
// has the module instances, and places is where the arguments are written. Its cost is linear in the
// instances and options.
func (s *Selection) Unmatched(tree *config.Tree, known iter.Seq[addr.Instance], called []addr.ModuleInstance, places config.OptionPlaces) (diags diag.List) {
	var there *inventory
	for _, o := range []struct {
		name, none string
		targets    []addr.Target
		set        *addr.TargetSet
		places     config.Places
	}{
		{"target", "selects nothing", s.targeted, s.targets, places.Targets},
		{"exclude", "leaves nothing out", s.excluding, s.excludes, places.Excludes},
	} {
		matched, shown := make([]bool, len(o.targets)), make([]bool, len(o.targets))
		for a := range known {
			if a.Unkeyed() {
				for i, t := range o.targets {
					why, _ := tree.WrongKey(t)
					_, star := withoutAnyKey(t)
					may := why == "" && mayBe(t, a)
					matched[i], shown[i] = matched[i] || may && !star, shown[i] || may && star
				}
				continue
			}
			o.set.Selecting(a, func(i int) { matched[i] = true })
		}
		for i, t := range o.targets {
			if matched[i] {
				continue
			}
			if there == nil {
				there = newInventory(tree, known, called)
			}
			why, severity := there.lacks(t)
			none, option := o.none, o.name
			if shown[i] {
				none += " yet"
			}
			if o.places.At(i) != nil {
				option = ""
			}
			if why = strings.TrimPrefix(why+shownKey(t, option), " "); why != "" {
				d := diag.Diagnostic{Severity: severity, Summary: "Nothing matches -" + o.name, Detail: fmt.Sprintf("The option -%s=%q %s. %s", o.name, t, none, why)}
				if d.Subject = o.places.At(i); d.Subject != nil {
					d.Summary, d.Detail = "Nothing matches "+o.name, fmt.Sprintf("The address %s in the argument %q %s. %s", t, o.name, none, why)
				}
				diags = append(diags, d)
			}
		}
	}
	return diags
}

// inventory has the objects that addresses can name: blocks, and the known instances of each.
type inventory struct {
	tree      *config.Tree
	resources map[addr.ConfigResource][]string
	modules   map[addr.Module][]addr.ModuleInstance
}

// newInventory collects the blocks of the configuration and the known instances of each. known may yield an
// instance more than once; each is listed once.
func newInventory(tree *config.Tree, known iter.Seq[addr.Instance], called []addr.ModuleInstance) *inventory {
	v := &inventory{tree, map[addr.ConfigResource][]string{}, map[addr.Module][]addr.ModuleInstance{}}
	for path, m := range tree.Modules {
		v.modules[path] = nil
		for r := range m.Resources {
			v.resources[addr.ConfigResource{Module: path, Resource: r}] = nil
		}
	}
	instances, modules := map[addr.Instance]bool{}, map[addr.ModuleInstance]bool{}
	addModules := func(path []addr.ModuleInstance) {
		for _, m := range path {
			if !modules[m] {
				modules[m] = true
				v.modules[m.Module()] = append(v.modules[m.Module()], m)
			}
		}
	}
	for a := range known {
		if a.Unkeyed() {
			continue
		}
		if !instances[a] {
			instances[a] = true
			v.resources[a.Config()] = append(v.resources[a.Config()], a.String())
		}
		addModules(a.Module.Path())
	}
	addModules(called)
	return v
}

// notSelectable has the objects of addresses that begin with these words, which look like the type of a
// resource.
var notSelectable = map[string]string{"var": "a variable", "local": "a local value", "output": "an output", "provider": "a provider"}

// lacks describes the objects in place of a target that selects no instance of a resource, and how sure it is
// a mistake; "" if it may be none: its block exists, and either has no instances or it was not found out
// which.
func (v *inventory) lacks(t addr.Target) (string, diag.Severity) {
	others, declared := v.others(t)
	if !declared {
		if t.Resource != nil && notSelectable[t.Resource.Type] != "" {
			return fmt.Sprintf("It is the address of %s, and only resources and modules can be selected.", notSelectable[t.Resource.Type]), diag.Warning
		}
		const nowhere = "Neither the configuration nor the state has that address."
		if near := v.near(t); near != "" {
			return fmt.Sprintf("%s Did you mean %s?", nowhere, near), diag.Error
		}
		return nowhere, diag.Warning
	}
	why, instead := v.tree.WrongKey(t)
	switch {
	case instead != "":
		return fmt.Sprintf("%s. Did you mean %s?", why, instead), diag.Error
	case why != "" && len(others) == 0:
		return why + ". Without a key, the address is that of all instances.", diag.Error
	case why != "":
		return why + "." + thereIs(others) + " Without a key, the address is that of all instances.", diag.Error
	case len(others) == 0:
		return "", diag.Warning
	}
	return "There is no such instance." + thereIs(others), diag.Warning
}

// others returns the instances of the resource or module that a target is in, in order, if it selects none of
// them; declared is false if there is not even a block. If no instance of the target's module is selected,
// they are the module's instances.
func (v *inventory) others(t addr.Target) (others []string, declared bool) {
	path := t.Module.Module()
	modules, declared := v.modules[path]
	if t.Resource != nil {
		others, declared = v.resources[addr.ConfigResource{Module: path, Resource: *t.Resource}]
	}
	within := addr.Target{Module: t.Module}
	if declared && len(modules) > 0 && !slices.ContainsFunc(modules, within.SelectsModule) {
		others = nil
		for _, m := range modules {
			others = append(others, m.String())
		}
	}
	slices.Sort(others)
	return others, declared
}

// InState suggests the intended address for one that selects nothing of a state, in a sentence after a space;
// "" if nothing there is similar. all yields the instances in the state, with anything.
func InState[T any](all iter.Seq2[addr.Instance, T], t addr.Target) string {
	v := newInventory(&config.Tree{}, func(yield func(addr.Instance) bool) {
		for a := range all {
			if !yield(a) {
				return
			}
		}
	}, nil)
	if others, _ := v.others(t); len(others) > 0 {
		return thereIs(others) + shownKey(t, "")
	}
	if near := v.near(t); near != "" {
		return fmt.Sprintf(" Did you mean %s?", near)
	}
	return shownKey(t, "")
}

// InConfiguration suggests the intended address of an instance that no block declares, in a paragraph after
// others; "" if no block of its mode is similar.
func InConfiguration(tree *config.Tree, i addr.Instance) string {
	v := newInventory(tree, func(func(addr.Instance) bool) {}, nil)
	maps.DeleteFunc(v.resources, func(r addr.ConfigResource, _ []string) bool { return r.Resource.Mode != i.Resource.Mode })
	if near := v.near(addr.Target{Module: i.Module, Resource: &i.Resource, Key: i.Key}); near != "" {
		return fmt.Sprintf("\n\nDid you mean %s?", near)
	}
	return ""
}

// thereIs lists addresses in a sentence after a space.
func thereIs(list []string) string {
	verb, shown := "is", list[:min(len(list), maxInstancesShown)]
	if len(list) > 1 {
		verb = "are"
	}
	if n := len(list) - len(shown); n > 0 {
		shown = append(slices.Clone(shown), fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf(" There %s %s.", verb, diag.Series("and", shown))
}

// maxInstancesShown bounds the instances that a message lists.
const maxInstancesShown = 8

// near returns the address that was probably meant, "" if none is similar: the same resource in another
// module, one in the same module whose type or name is similar, or a module with a similar name. It has the
// keys of t if there is such an instance, or if no instances are known and the block may have such keys.
func (v *inventory) near(t addr.Target) string {
	path := t.Module.Module()
	if t.Resource == nil {
		block, ok := v.nearModule(path)
		if !ok {
			return ""
		}
		if m, ok := t.Module.In(block); ok && (slices.Contains(v.modules[block], m) || len(v.modules[block]) == 0 && v.allows(addr.Target{Module: m})) {
			return m.String()
		}
		return block.String()
	}
	block, ok := v.nearResource(addr.ConfigResource{Module: path, Resource: *t.Resource})
	if !ok {
		return ""
	}
	if m, ok := t.Module.In(block.Module); ok {
		instance := addr.Target{Module: m, Resource: &block.Resource, Key: t.Key}
		known := v.resources[block]
		if slices.Contains(known, instance.String()) || len(known) == 0 && v.allows(instance) {
			return instance.String()
		}
	}
	return block.String()
}

// allows reports whether an address of a declared block has no keys that cannot be.
func (v *inventory) allows(t addr.Target) bool {
	why, _ := v.tree.WrongKey(t)
	return why == ""
}

func (v *inventory) nearModule(m addr.Module) (addr.Module, bool) {
	meant := map[string]addr.Module{}
	parent, call := m.Parent()
	for other := range v.modules {
		if p, name := other.Parent(); !other.IsRoot() && p == parent {
			meant[name] = other
		}
	}
	found, ok := meant[diag.Nearest(call, keysOf(meant))]
	return found, ok
}

// nearResource returns the block that was most likely meant, if one is similar. The same type and name with
// another mode, such as a data source's, are more likely than a similar name, that is more likely than a
// similar type, and all are more likely than the same resource in another module.
func (v *inventory) nearResource(wanted addr.ConfigResource) (addr.ConfigResource, bool) {
	names, types := map[string]addr.ConfigResource{}, map[string]addr.ConfigResource{} // blocks by their differing name or type
	var elsewhere, modes []addr.ConfigResource
	for r := range v.resources {
		switch {
		case r.Resource == wanted.Resource:
			elsewhere = append(elsewhere, r)
		case r.Module == wanted.Module && r.Resource.Type == wanted.Resource.Type && r.Resource.Name == wanted.Resource.Name:
			modes = append(modes, r)
		case r.Module != wanted.Module || r.Resource.Mode != wanted.Resource.Mode:
		case r.Resource.Type == wanted.Resource.Type:
			names[r.Resource.Name] = r
		case r.Resource.Name == wanted.Resource.Name:
			types[r.Resource.Type] = r
		}
	}
	first := func(list []addr.ConfigResource) addr.ConfigResource {
		return slices.MinFunc(list, func(a, b addr.ConfigResource) int { return strings.Compare(a.String(), b.String()) })
	}
	if len(modes) > 0 {
		return first(modes), true
	}
	if found, ok := names[diag.Nearest(wanted.Resource.Name, keysOf(names))]; ok {
		return found, true
	}
	if found, ok := types[diag.Nearest(wanted.Resource.Type, keysOf(types))]; ok {
		return found, true
	}
	if len(elsewhere) == 0 {
		return addr.ConfigResource{}, false
	}
	return first(elsewhere), true
}

func keysOf[T any](m map[string]T) []string { return slices.Collect(maps.Keys(m)) }
