package doctor

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/modules"
	"github.com/mayfly-iac/mayfly/workdir"
)

// needs are the remote dependencies of the configuration.
type needs struct {
	required  map[addr.Provider]*install.Requirement
	providers []addr.Provider                  // the ones in required that must be installed
	modules   map[svchost.Hostname]bool        // registries that modules come from
	direct    map[addr.Provider]install.Source // providers that may come from their own registry
	root      bool                             // the root module could be read
}

// registries returns the hosts of registries that are needed, in order.
func (n *needs) registries() []svchost.Hostname {
	hosts := maps.Clone(n.modules)
	for p := range n.direct {
		hosts[p.Hostname] = true
	}
	return slices.SortedFunc(maps.Keys(hosts), byName)
}

// hosts returns the hosts of all that is needed, wherever it comes from, in order.
func (n *needs) hosts() []svchost.Hostname {
	hosts := maps.Clone(n.modules)
	for _, p := range n.providers {
		hosts[p.Hostname] = true
	}
	return slices.SortedFunc(maps.Keys(hosts), byName)
}

// from returns the providers that may come from the registry of a host.
func (n *needs) from(host svchost.Hostname) []addr.Provider {
	return slices.DeleteFunc(slices.Clone(n.providers), func(p addr.Provider) bool { return p.Hostname != host || n.direct[p] == nil })
}

// directory looks at the configuration and at the records beside it.
func (x *examination) directory(ctx context.Context) {
	g := x.group("directory", "Working directory")
	x.needs = needs{modules: map[svchost.Hostname]bool{}, direct: map[addr.Provider]install.Source{}}
	if dir, err := os.Getwd(); err == nil {
		g.add(okay("directory", dir))
	}
	x.needs.root = !x.Dir.LoadRoot(ctx).HasErrors()
	diags := x.Dir.LoadDeclarations(ctx)
	switch {
	case diags.HasErrors():
		g.add(of("configuration", onlyErrors(diags), "Run \"mayfly init\" if modules are missing, and \"mayfly validate\" to see what is wrong.")...)
	case !x.Dir.HasConfig():
		g.add(note("configuration", "there are no configuration files here; for another directory, use -chdir"))
	default:
		g.add(ok("configuration", "%s", number(len(x.Dir.Tree().Modules), "module")))
	}
	x.dataDir(g)
	x.lockFile(g)
	if tree := x.Dir.Tree(); tree != nil {
		for _, m := range tree.Modules {
			for _, call := range m.Calls {
				if host, ok := modules.RegistryHost(call); ok {
					x.needs.modules[host] = true
				}
			}
		}
	}
	x.require(g)
}

// onlyErrors returns the diagnostics that are errors.
func onlyErrors(list diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
}

// dataDir looks at the directory for installed packages and records.
func (x *examination) dataDir(g *group) {
	dir, subject := x.Dir.DataDir(), "data directory"
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		g.add(ok(subject, "%s does not exist yet", dir))
	case err != nil:
		g.add(problem(subject, fmt.Sprintf("%s cannot be read: %s", dir, diag.Reason(err)), "Correct its permissions, or name another directory by TF_DATA_DIR."))
	case !info.IsDir():
		g.add(problem(subject, dir+" is not a directory", "Move the file away, or name another directory by TF_DATA_DIR."))
	case !writable(dir):
		g.add(problem(subject, "nothing can be written into "+dir, "Let the user of this run write into it, or name another directory by TF_DATA_DIR."))
	default:
		g.add(ok(subject, "%s", dir))
	}
}

// lockFile looks at the dependency lock file.
func (x *examination) lockFile(g *group) {
	lock, diags := lockfile.Read(lockfile.FileName)
	switch {
	case diags.HasErrors():
		g.add(of("lock file", onlyErrors(diags), "Restore the file from version control, or remove it and run: mayfly init")...)
	case lock.Len() == 0:
		g.add(ok("lock file", "%s has no selections", lockfile.FileName))
	default:
		g.add(ok("lock file", "%s selects %s", lockfile.FileName, number(lock.Len(), "provider")))
	}
}

// require finds the providers that the configuration needs.
func (x *examination) require(g *group) {
	required, diags := install.Requirements(x.Dir.Tree(), nil)
	if diags.HasErrors() {
		g.add(of("required providers", onlyErrors(diags), "Run \"mayfly validate\" to see what is wrong.")...)
		return
	}
	x.needs.required = required
	installer, diags := x.Dir.Packages.Installer()
	g.add(of("TF_REATTACH_PROVIDERS", onlyErrors(diags), "Correct or unset the variable.")...)
	for _, p := range slices.SortedFunc(maps.Keys(required), lockfile.CompareProviders) {
		if !p.IsBuiltIn() && !slices.Contains(installer.Embedded, p) && !installer.Reattached(p) {
			x.needs.providers = append(x.needs.providers, p)
		}
	}
}

// sortedOverrides yields the directories of providers under development in the order of the providers.
func sortedOverrides(m map[addr.Provider]string) iter.Seq2[addr.Provider, string] {
	return func(yield func(addr.Provider, string) bool) {
		for _, p := range slices.SortedFunc(maps.Keys(m), lockfile.CompareProviders) {
			if !yield(p, m[p]) {
				return
			}
		}
	}
}

// providers says which version of each needed provider is selected, and whether it is installed.
func (x *examination) providers() {
	g := x.group("providers", "Providers")
	if len(x.needs.providers) == 0 {
		g.add(ok("providers", "none has to be installed"))
		return
	}
	installer, _ := x.Dir.Packages.Installer()
	lock, _ := lockfile.Read(lockfile.FileName)
	for _, p := range x.needs.providers {
		const wayOut = "Run: mayfly init"
		g.later(p.String(), wayOut, func(context.Context) []Finding {
			selected, diags := installer.Selected(map[addr.Provider]*install.Requirement{p: x.needs.required[p]}, lock)
			if diags.HasErrors() {
				return of(p.String(), onlyErrors(diags), wayOut)
			}
			if s := selected[p]; s.Dev {
				return []Finding{note(p.String(), "under development, in %s", filepath.ToSlash(s.Dir))}
			}
			return []Finding{ok(p.String(), "%s is installed, with the checksum of the lock file", selected[p].Version)}
		})
	}
}

// backend looks at the place of the state, and reads the state of the selected workspace.
func (x *examination) backend() {
	g := x.group("backend", "Backend")
	if !x.needs.root {
		g.add(note("backend", "not looked at: the root module has errors"))
		return
	}
	status, diags := x.Dir.Backend.Status()
	kind := fmt.Sprintf("backend %q", status.Kind)
	if diags.HasErrors() {
		g.add(of(kind, onlyErrors(diags), "Correct the backend block if it is wrong; then run: mayfly init")...)
		return
	}
	switch {
	case status.Recorded:
		g.add(ok(kind, "recorded by init; the state is in %s", status.Place))
	case status.Declared:
		g.add(ok(kind, "declared, and not recorded yet; the state is in %s", status.Place))
	default:
		g.add(ok(kind, "without a backend block; the state is in %s", status.Place))
	}
	const wayOut = "Check the address and the credentials of the backend, and the network and the proxies above; if another backend is meant, run: mayfly init -reconfigure"
	g.later("state", wayOut, func(ctx context.Context) []Finding { return x.state(ctx, wayOut) })
}

// state lists the workspaces and reads the state of the selected one.
func (x *examination) state(ctx context.Context, wayOut string) []Finding {
	start := time.Now()
	w, diags := x.Dir.Workspaces(ctx)
	if diags.HasErrors() {
		return x.unread(ctx, diags, wayOut, start)
	}
	workspace := ok("workspace", "%s, of %s", w.Current, number(len(w.Names), "workspace"))
	switch {
	case w.FromEnv:
		workspace = ok("workspace", "%s, selected by TF_WORKSPACE, of %s", w.Current, number(len(w.Names), "workspace"))
	case !slices.Contains(w.Names, w.Current):
		workspace = problem("workspace", fmt.Sprintf("%s is selected and does not exist", w.Current), "Run: mayfly workspace new "+w.Current+", or: mayfly workspace select default")
	}
	if w.FromEnv && !slices.Contains(w.Names, w.Current) {
		workspace.Level = Note
		workspace.Text += "; it does not exist yet"
	}
	file, diags := x.Dir.Backend.ReadState(ctx, workdir.StateFiles{})
	if diags.HasErrors() {
		return append([]Finding{workspace}, x.unread(ctx, diags, wayOut, start)...)
	}
	found := ok("state", "can be read; there is none yet").took(start)
	if file != nil {
		found = ok("state", "can be read; it has %s", number(len(file.State.Managed()), "managed object")).took(start)
	}
	return []Finding{workspace, found}
}

// unread returns the findings that the state could not be read.
func (x *examination) unread(ctx context.Context, diags diag.List, wayOut string, start time.Time) []Finding {
	if ctx.Err() != nil {
		return []Finding{problem("state", x.noAnswer(), wayOut).took(start)}
	}
	out := of("state", onlyErrors(diags), wayOut)
	for i := range out {
		out[i] = out[i].took(start)
	}
	return out
}
