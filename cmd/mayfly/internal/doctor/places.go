package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/opentofu/svchost"
	"golang.org/x/sync/errgroup"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/install"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// installation looks at each place that packages of providers may come from.
func (x *examination) installation() {
	g := x.group("provider_installation", "Provider installation")
	if x.damaged {
		g.add(note("methods", "not looked at: the CLI configuration has errors"))
		return
	}
	if x.config.Installation == nil {
		g.add(ok("methods", "the usual directories that exist, and for other providers their own registries; there is no provider_installation block"))
		sources, diags := x.network.Sources()
		g.add(of("methods", diags, "Correct the environment variable.")...)
		for i, dir := range existing(x.env.ImpliedMirrors()) {
			x.directoryMirror(g, dir, "filesystem mirror "+dir, sources[i])
		}
		if len(sources) > 0 {
			x.direct(g, sources[len(sources)-1])
		}
		return
	}
	for _, m := range x.config.Installation.Methods {
		source, diags := x.network.Source(m)
		if diags.HasErrors() {
			g.add(of(at(m), diags, "Correct the method at "+diag.Place(m.Range)+".")...)
			continue
		}
		x.method(g, m, source)
	}
	for p, dir := range sortedOverrides(x.config.Installation.DevOverrides) {
		x.override(g, p, dir)
	}
	for _, p := range x.needs.providers {
		if !x.anyPlace(p) {
			g.add(problem(p.String(), "no method of the provider_installation block may be used for it", "Add a method for it, such as direct { include = [\""+p.String()+"\"] }, or change include and exclude of another one."))
		}
	}
}

// existing returns the directories that exist.
func existing(dirs []string) []string {
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// at names a method, without secrets.
func at(m cliconfig.Method) string {
	if m.Kind == cliconfig.Direct {
		return "direct"
	}
	return m.Location()
}

// method looks at one method of a provider_installation block.
func (x *examination) method(g *group, m cliconfig.Method, source install.Source) {
	switch m.Kind {
	case cliconfig.FilesystemMirror:
		x.directoryMirror(g, m.Path, at(m), source)
	case cliconfig.NetworkMirror, cliconfig.OCIMirror:
		x.remoteMirror(g, m, source)
	case cliconfig.Direct:
		x.direct(g, source)
	}
}

// direct notes the source for those providers that may come from their own registries.
func (x *examination) direct(g *group, source install.Source) {
	var hosts []string
	for _, p := range x.allowed(source) {
		x.needs.direct[p] = source
		if h := p.Hostname.ForDisplay(); !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	if len(hosts) == 0 {
		g.add(ok("direct", "each provider from its own registry; none is needed from there"))
		return
	}
	g.add(ok("direct", "each provider from its own registry, here %s", strings.Join(hosts, ", ")))
}

// allowed returns the needed providers that a source may be asked for, and notes that there is a place for
// them.
func (x *examination) allowed(source install.Source) []addr.Provider {
	var out []addr.Provider
	for _, p := range x.needs.providers {
		if source.Allows(p) {
			out = append(out, p)
			if x.places[p] == nil {
				x.places[p] = &place{}
			}
		}
	}
	return out
}

// anyPlace reports whether a provider may come from any place.
func (x *examination) anyPlace(p addr.Provider) bool {
	_, overridden := x.config.Installation.DevOverrides[p]
	return overridden || x.places[p] != nil
}

// directoryMirror looks at a mirror that is a directory.
func (x *examination) directoryMirror(g *group, dir, subject string, source install.Source) {
	const wayOut = "Create the directory, or correct the path in the provider_installation block."
	if _, err := os.ReadDir(dir); err != nil {
		g.add(problem(subject, "the directory cannot be read: "+diag.Reason(err), wayOut))
		return
	}
	needed := x.allowed(source)
	g.later(subject, wayOut, func(ctx context.Context) []Finding {
		have, err := x.ask(ctx, source, needed)
		if err != nil {
			return []Finding{problem(subject, err.Error(), wayOut)}
		}
		return []Finding{okay(subject, "can be read"+offers(have, needed))}
	})
}

// remoteMirror looks at a mirror on the network.
func (x *examination) remoteMirror(g *group, m cliconfig.Method, source install.Source) {
	subject, needed := at(m), x.allowed(source)
	wayOut := "Check the address at " + diag.Place(m.Range) + ", the network and the proxies below. Until it answers, init cannot install providers from it."
	if len(needed) == 0 && m.Kind == cliconfig.OCIMirror {
		g.add(ok(subject, "not asked: no provider is needed from there"))
		return
	}
	g.later(subject, wayOut, func(ctx context.Context) []Finding {
		start := time.Now()
		have, err := x.ask(ctx, source, needed)
		if len(needed) == 0 {
			err = x.reach(ctx, m.URL.Reveal())
		}
		switch {
		case web.Denied(err):
			return []Finding{problem(subject, err.Error(), "Set the credentials for it, as in: mayfly login HOST, or an oci_credentials block.").took(start)}
		case err != nil:
			return []Finding{problem(subject, x.failure(ctx, err), wayOut).took(start)}
		default:
			return []Finding{okay(subject, "answers"+offers(have, needed)).took(start)}
		}
	})
}

// reach asks for the address of a mirror from which nothing is needed.
func (x *examination) reach(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("it is not an address")
	}
	return x.network.Reach(ctx, u)
}

// ask asks a source for the versions of providers, all at once, and returns how many it has.
func (x *examination) ask(ctx context.Context, source install.Source, needed []addr.Provider) (have int, err error) {
	var all errgroup.Group
	all.SetLimit(8)
	for _, p := range needed {
		all.Go(func() error {
			var found install.Available
			err := bug.Catch(func() (err error) {
				found, err = source.Versions(ctx, p)
				return err
			})
			x.mu.Lock()
			defer x.mu.Unlock()
			x.places[p].asked++
			switch {
			case err != nil:
				x.places[p].failed++
			case len(found) > 0:
				x.places[p].found = true
				have++
			}
			return err
		})
	}
	err = all.Wait()
	return have, err
}

// offers says how many of the needed providers there are, as the end of a text.
func offers(have int, needed []addr.Provider) string {
	if len(needed) == 0 {
		return ""
	}
	return fmt.Sprintf("; has %d of %d needed providers", have, len(needed))
}

// nowhere returns the providers that no place has, if all could be asked.
func (x *examination) nowhere() []Finding {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []Finding
	for _, p := range slices.SortedFunc(maps.Keys(x.places), lockfile.CompareProviders) {
		if l := x.places[p]; l.asked > 0 && l.failed == 0 && !l.found {
			out = append(out, problem(p.String(), "no place that it may come from has it", "Correct its source in required_providers, or put it into one of the places of the provider installation."))
		}
	}
	return out
}

// override looks at a provider under development.
func (x *examination) override(g *group, p addr.Provider, dir string) {
	subject := "dev_overrides " + p.String()
	if _, err := os.ReadDir(dir); err != nil {
		g.add(problem(subject, fmt.Sprintf("the directory %s cannot be read: %s", dir, diag.Reason(err)), "Build the provider there, or remove the override."))
		return
	}
	g.add(note(subject, "the provider in %s is used, without a version or checksum", dir))
}

// registries looks at the hosts that providers and modules come from.
func (x *examination) registries() {
	g := x.group("registries", "Registries")
	if x.damaged {
		g.add(note("hosts", "not looked at: the CLI configuration has errors"))
		return
	}
	for _, host := range x.needs.registries() {
		wayOut := "Check the host's name, the network and the proxies below. A mirror in a provider_installation block does without its providers, a host block says where its services are."
		g.later(host.ForDisplay(), wayOut, func(ctx context.Context) []Finding { return []Finding{x.registry(ctx, host, wayOut)} })
	}
	if len(g.tasks) == 0 {
		g.add(ok("hosts", "none is needed"))
	}
}

// registry asks a host for its services, and its registry for the providers that are needed from there.
func (x *examination) registry(ctx context.Context, host svchost.Hostname, wayOut string) Finding {
	start, subject := time.Now(), host.ForDisplay()
	services, diags := x.network.Services(ctx, host)
	if diags.HasErrors() {
		return problem(subject, x.failure(ctx, errors.New(diags[0].Detail)), wayOut).took(start)
	}
	needed := x.needs.from(host)
	var offered []string
	for _, s := range []struct {
		name, of string
		needed   bool
	}{{"providers.v1", "providers", len(needed) > 0}, {"modules.v1", "modules", x.needs.modules[host]}} {
		if _, err := services.ServiceURL(s.name); err == nil {
			offered = append(offered, s.of)
		} else if s.needed {
			return problem(subject, "the host has no registry of "+s.of, "Correct the host in the source addresses, or name its services in a host block of the CLI configuration.").took(start)
		}
	}
	have := 0
	for _, p := range needed {
		n, err := x.ask(ctx, x.needs.direct[p], []addr.Provider{p})
		switch {
		case web.Denied(err):
			return problem(subject, err.Error(), "Run: mayfly login "+subject+", or set "+cliconfig.TokenVariable(host)+".").took(start)
		case err != nil:
			return problem(subject, x.failure(ctx, err), wayOut).took(start)
		}
		have += n
	}
	return okay(subject, "answers; offers "+strings.Join(offered, " and ")+offers(have, needed)).took(start)
}
