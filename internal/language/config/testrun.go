package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// EarlierRun returns the name of the variable with the outputs of an earlier run of a test file. No variable
// block can have such a name.
//
//	run.setup.vpc_id is attribute vpc_id of the variable "run.setup"
func EarlierRun(name string) string { return "run." + name }

// Given returns a variable that a test file brings into the root module: one of its own that the module does
// not declare, or the outputs of an earlier run. Marks of the value are kept.
func Given(name string, v cty.Value, ephemeral bool) *Variable {
	return &Variable{
		Name: name, Type: cty.DynamicPseudoType, Constraint: cty.DynamicPseudoType, Default: v, Ephemeral: ephemeral, Nullable: true,
	}
}

// Copy returns a tree whose modules can be changed: blocks can be added, replaced and taken away. It shares
// the blocks with t; they must not be changed. It takes time linear in the number of blocks.
func (t *Tree) Copy() *Tree {
	out := &Tree{Modules: make(map[addr.Module]*Module, len(t.Modules)), Sources: maps.Clone(t.Sources), removals: t.removals}
	out.Root = out.copyModule(t.Root, nil)
	return out
}

// copyModule copies m and all below it into t. Resources and checks point to each other and to their
// module, so they are copied too.
func (t *Tree) copyModule(m, parent *Module) *Module {
	c := *m
	c.Parent, c.Children, c.Resources = parent, make(map[string]*Module, len(m.Children)), make(map[addr.Resource]*Resource, len(m.Resources))
	c.Required, c.Providers, c.Variables, c.Locals = maps.Clone(m.Required), maps.Clone(m.Providers), maps.Clone(m.Variables), maps.Clone(m.Locals)
	c.Outputs, c.Calls, c.Checks = maps.Clone(m.Outputs), maps.Clone(m.Calls), maps.Clone(m.Checks)
	c.Order = slices.Clone(m.Order)
	for i, r := range c.Order {
		mine := *r
		mine.Module = &c
		c.Order[i], c.Resources[r.Addr] = &mine, &mine
	}
	for _, check := range c.Checks {
		if check.Scoped != nil {
			mine := *check
			mine.Scoped = c.Resources[check.Scoped.Addr]
			mine.Scoped.Check, c.Checks[check.Name] = &mine, &mine
		}
	}
	t.Modules[c.Path] = &c
	for name, child := range m.Children {
		c.Children[name] = t.copyModule(child, &c)
	}
	return &c
}

// Clear empties a module: it declares nothing but its outputs, whose values are those given, and nothing
// that it calls is part of the tree any more. It must be of a tree that Copy returned.
func (t *Tree) Clear(m *Module, outputs map[string]*Output) {
	for _, child := range m.Children {
		t.drop(child)
	}
	m.Children, m.Calls, m.Resources, m.Order = map[string]*Module{}, map[string]*ModuleCall{}, map[addr.Resource]*Resource{}, nil
	m.Locals, m.Checks, m.Providers, m.Outputs = map[string]*Local{}, map[string]*Check{}, map[string]*Provider{}, outputs
	m.Moved, m.Removed, m.Imports = nil, nil, nil
}

// drop removes a module and all below it from the index of modules.
func (t *Tree) drop(m *Module) {
	delete(t.Modules, m.Path)
	for _, child := range m.Children {
		t.drop(child)
	}
}

// Together returns a tree for finding out the requirements of a module and its tests: the module's tree,
// which calls the modules of runs too and has the providers of test files. It serves no other purpose.
func (t *Tree) Together(runs []*Tree, files []*TestFile) *Tree {
	out := t.Copy()
	for i, run := range runs {
		name := fmt.Sprintf("test %d", i)
		out.Root.Calls[name], out.Root.Children[name] = &ModuleCall{Name: name}, run.Root
		for p, m := range run.Modules {
			at := out.Root.Path.Child(name)
			for _, call := range p.Calls() {
				at = at.Child(call)
			}
			placed := *m
			placed.Path = at
			out.Modules[at] = &placed
		}
	}
	for _, f := range files {
		for key, p := range f.Providers {
			if out.Root.Providers[key] == nil {
				out.Root.Providers[key] = p
			}
		}
	}
	return out
}

// CheckProviders reports provider configurations of the file, or of the module under test, that runs give to
// modules as another type of provider than other runs do. module returns the root module of a run.
func (f *TestFile) CheckProviders(module func(*TestRun) *Module) diag.List {
	types := map[string]addr.Provider{}
	var diags diag.List
	check := func(m *Module, child, parent ProviderRef) {
		key, want := parent.String(), m.ProviderFor(child.Name)
		is, known := types[key]
		if !known {
			types[key] = want
			return
		}
		if is != want && !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return *d.Subject == parent.Range }) {
			diags = append(diags, diag.At(parent.Range, "Provider type mismatch", "The provider configuration %q of %s is one of %s, but in the module of a run it stands for %q, which is one of %s there. Give configurations of different providers different names.",
				key, f.Name, is, child, want)...)
		}
	}
	for _, run := range f.Runs {
		m := module(run)
		for _, p := range run.Providers {
			if f.Providers[p.InParent.String()] == nil && f.Mocks[p.InParent.String()] == nil {
				types[p.InParent.String()] = m.ProviderFor(p.InParent.Name) // it is the module's
			}
			check(m, p.InChild, p.InParent)
		}
		if len(run.Providers) > 0 {
			continue
		}
		for _, ref := range f.configurations() {
			if m.Uses(ref.Name) {
				check(m, ref, ref)
			}
		}
	}
	return diags
}

// configurations returns the names of the provider configurations that the file has, real ones first.
func (f *TestFile) configurations() []ProviderRef {
	var out []ProviderRef
	for _, p := range diag.InOrder(f.Providers) {
		out = append(out, p.Ref())
	}
	for _, m := range diag.InOrder(f.Mocks) {
		out = append(out, m.Ref())
	}
	return out
}
