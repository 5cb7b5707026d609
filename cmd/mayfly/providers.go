package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/workdir"
)

// providersCommand returns the command providers, which shows something itself and has subcommands.
func providersCommand(a *app) *cli.Command {
	out, in, wd := a.out, a.in, a.wd
	packages := &packageCommands{a.dependencies}
	ignored := ""
	flags := append(in.variableFlags(), stringFlag("test-directory", "Has no effect. Accepted, with a `DIR`, for compatibility.", &ignored))
	c := a.command("providers", "Show the providers required for this configuration", "",
		"Shows which module needs which providers, and which ones the state needs.", flags,
		func(ctx context.Context, args []string) int {
			if len(args) > 0 {
				return out.argsError("providers", "no arguments")
			}
			return showProviders(ctx, out, wd)
		})
	c.Commands = []*cli.Command{packages.lockCommand(a), packages.mirrorCommand(a), providersSchemaCommand(a)}
	return c
}

// showProviders shows the tree of required providers and those that the state needs. Providers need not be
// installed. It is the first thing to look at when init cannot find one: the tree says which module wants it.
func showProviders(ctx context.Context, out *output, wd *workingDir) int {
	d := wd.dir()
	if !wd.required("providers") || !out.report(d.LoadDeclarations(ctx)) {
		return exitError
	}
	file, diags := wd.dir().Backend.ReadOutline(ctx, workdir.StateFiles{}, store.Providers)
	if !out.report(diags) {
		return exitError
	}
	out.say("\nProviders required by configuration:\n.")
	providerTree(out, d.Tree().Root, "")
	needed := map[addr.Provider]bool{}
	if file != nil {
		for _, i := range file.State.AllInstances() {
			needed[i.Provider.Provider] = true
		}
	}
	if len(needed) == 0 {
		out.say("")
		return exitOK
	}
	out.say("\nProviders required by state:\n")
	for _, p := range sortedProviders(maps.Keys(needed)) {
		out.say("    provider[%s]\n", p)
	}
	return exitOK
}

// sortedProviders returns providers sorted by their source addresses.
func sortedProviders(seq func(func(addr.Provider) bool)) []addr.Provider {
	return slices.SortedFunc(seq, func(x, y addr.Provider) int { return strings.Compare(x.String(), y.String()) })
}

// providerTree writes the requirements of a module, then the requirements of the modules that it calls.
// prefix stands left of its lines.
func providerTree(out *output, m *config.Module, prefix string) {
	alone := &config.Tree{Root: m, Modules: map[addr.Module]*config.Module{m.Path: m}}
	reqs, _ := install.Requirements(alone, nil) // init reports errors in them
	var lines []string
	for _, p := range sortedProviders(maps.Keys(reqs)) {
		lines = append(lines, strings.TrimSpace("provider["+p.String()+"] "+reqs[p].Text()))
	}
	children := slices.Sorted(maps.Keys(m.Children))
	for n, text := range lines {
		out.say("%s%s%s", prefix, branch(n == len(lines)-1 && len(children) == 0), text)
	}
	for n, name := range children {
		last := n == len(children)-1
		out.say("%s%smodule.%s", prefix, branch(last), name)
		below := "│   "
		if last {
			below = "    "
		}
		providerTree(out, m.Children[name], prefix+below)
	}
}

// branch returns the lines of the tree to the left of an entry; last is set for the last one of its module.
func branch(last bool) string {
	if last {
		return "└── "
	}
	return "├── "
}

// providersSchemaCommand returns the command providers schema, from which editors and code generators get
// schemas. The option -json is required, which leaves room for a text form.
func providersSchemaCommand(a *app) *cli.Command {
	out, in, wd := a.out, a.in, a.wd
	asJSON := false
	return a.command("schema", "Show schemas for the providers used in the configuration", "", "Writes the schemas of the providers that the configuration and the state need, as a JSON document.",
		append(in.variableFlags(), boolFlag("json", "Write a JSON document. This option is required.", &asJSON)),
		func(ctx context.Context, args []string) int {
			out.document = true
			if !asJSON {
				return out.fail("Missing option", "The command \"providers schema\" requires the option -json: it can write only JSON.")
			}
			if len(args) > 0 {
				return out.argsError("providers schema", "no arguments")
			}
			return providersSchema(ctx, out, wd)
		})
}

// providersSchema writes the schemas of all needed providers, including those that only the state needs: a
// destroy uses them too.
func providersSchema(ctx context.Context, out *output, wd *workingDir) int {
	file, diags := wd.dir().Backend.ReadOutline(ctx, workdir.StateFiles{}, store.Providers)
	if !out.report(diags) {
		return exitError
	}
	var st *state.State
	if file != nil {
		st = file.State
	}
	d := wd.dir()
	if !out.report(d.LoadDeclarations(ctx)) {
		return exitError
	}
	s, diags := wd.open(ctx, st)
	defer s.close()
	if !out.report(diags) {
		return exitError
	}
	reqs, diags := install.Requirements(d.Tree(), st)
	if !out.report(diags) {
		return exitError
	}
	all := map[addr.Provider]document.Declarations{}
	for _, p := range sortedProviders(maps.Keys(reqs)) {
		c, diags := s.Project.Catalog(ctx, p)
		if !out.report(diags) {
			return exitError
		}
		if all[p], diags = allSchemas(c); !out.report(diags) {
			return exitError
		}
	}
	return out.writeDocument(document.ProviderSchemas(all))
}

// allSchemas decodes all schemas of a provider. The diagnostics are about all types, since a document that
// lacks one would be wrong without a sign of it.
func allSchemas(c provider.Catalog) (document.Declarations, diag.List) {
	var out document.Declarations
	var diags, ds diag.List
	out.Provider, diags = c.Provider()
	of := func(mode addr.Mode) map[string]*schema.Schema {
		m := map[string]*schema.Schema{}
		for _, name := range c.Types(mode) {
			s, ds := c.Resource(mode, name)
			diags = append(diags, ds...)
			m[name] = s
		}
		return m
	}
	out.Resources, out.Data, out.Ephemeral, out.Lists, out.Actions = of(addr.Managed), of(addr.Data), of(addr.Ephemeral), of(addr.List), of(addr.Action)
	if stores, ok := c.(provider.StateStoreCatalog); ok {
		out.Stores = map[string]*schema.Schema{}
		for _, name := range stores.StateStoreTypes() {
			out.Stores[name], ds = stores.StateStore(name)
			diags = append(diags, ds...)
		}
	}
	out.Functions, ds = c.Functions()
	diags = append(diags, ds...)
	out.Identities = map[string]*schema.Identity{}
	for _, name := range c.Types(addr.Managed) {
		id, ds := c.Identity(name)
		diags = append(diags, ds...)
		if id != nil {
			out.Identities[name] = id
		}
	}
	return out, diags
}
