package install

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
)

// Ensure installs missing required providers. It selects the versions in the lock, which may be nil, or else
// the newest that the constraints allow. Ensure does not change the given lock; the caller writes the
// returned one if it differs. With errors, it returns the given lock, and the disk may contain some of the
// packages, each of them complete. Packages are installed several at once, and reported in the order of the
// providers.
func (i *Installer) Ensure(ctx context.Context, reqs map[addr.Provider]*Requirement, lock *lockfile.Lock, opts Options) (Selections, *lockfile.Lock, diag.List) {
	if lock == nil {
		lock = lockfile.New()
	}
	if opts.Upgrade && opts.Readonly {
		return nil, lock, diag.Errorf("Conflicting options", "Upgrading providers changes the dependency lock file. Omit either -upgrade or -lockfile=readonly.")
	}
	sel, rest, diags := i.local(reqs)
	if diags.HasErrors() {
		return sel, lock, diags
	}
	ours, from := adopt(reqs, lock)
	next := i.kept(reqs, ours)
	plan, ds := i.choose(ctx, rest, ours, opts)
	diags = append(diags, ds...)
	if ds.HasErrors() {
		return sel, lock, diags
	}
	for _, c := range plan {
		next.Set(lockfile.Entry{Provider: c.req.Provider, Version: c.version})
	}
	if opts.Readonly && !next.SameProviders(lock) {
		return sel, lock, append(diags, readonlyError(lock, next, from)...)
	}
	type outcome struct {
		selection Selection
		entry     lockfile.Entry
	}
	installed := make([]*outcome, len(plan))
	diags = append(diags, atOnce(ctx, len(plan), func(k int, say func(func())) diag.List {
		one := *i
		one.Observer = inTurn{i.observer(), say}
		s, entry, ds := one.install(ctx, plan[k])
		if !ds.HasErrors() {
			installed[k] = &outcome{s, entry}
		}
		return ds
	})...)
	for k, c := range plan {
		if o := installed[k]; o != nil {
			sel[c.req.Provider] = o.selection
			next.Set(o.entry)
		}
	}
	if diags.HasErrors() {
		return sel, lock, diags
	}
	if opts.Readonly {
		return sel, lock, append(diags, i.warnUnrecorded(sel, lock)...)
	}
	return sel, next, append(diags, from.warn(next, lock)...)
}

// warnUnrecorded warns about packages that were accepted by the checksum of their archive, if the lock file
// must not be changed to include the checksum of their content, which other commands use.
func (i *Installer) warnUnrecorded(sel Selections, lock *lockfile.Lock) diag.List {
	var names strings.Builder
	for e := range lock.All() {
		if s, ok := sel[e.Provider]; ok && !s.Dev && !e.Matches(s.Hash) {
			names.WriteString("\n  - " + e.Provider.String())
		}
	}
	if names.Len() == 0 {
		return nil
	}
	return diag.Warnf("Provider lock file not updated",
		"The lock file is read-only, and has no checksum of the unpacked packages for this platform of:%s\n\nOther commands will refuse them. To add the checksums, run:\n  mayfly providers lock -platform=%s",
		names.String(), i.platform())
}

// kept returns a lock with entries for providers that are not installed now, but that other engines need:
// providers that a development override, a debugger or the program replaces, and providers at Terraform's
// registry that are required here from the default one.
func (i *Installer) kept(reqs map[addr.Provider]*Requirement, lock *lockfile.Lock) *lockfile.Lock {
	next := lockfile.New()
	for p := range reqs {
		_, dev := i.override(p)
		if e, ok := lock.Entry(p); ok && (dev || i.running(p) || i.within(p)) {
			next.Set(e)
		}
		if theirs, ok := atTerraform(p); ok {
			if e, ok := lock.Entry(theirs); ok {
				next.Set(e)
			}
		}
	}
	return next
}

// readonlyError lists the changes of the lock that a read-only lock file forbids.
func readonlyError(lock, next *lockfile.Lock, from adopted) diag.List {
	var changes strings.Builder
	for e := range next.All() {
		theirs, ok := from[e.Provider]
		if ok {
			fmt.Fprintf(&changes, "\n  - %s is required, for which the lock file has %s, as Terraform has selected it", e.Provider, theirs)
		} else if _, ok := lock.Entry(e.Provider); !ok {
			fmt.Fprintf(&changes, "\n  - %s is required but not in the lock file", e.Provider)
		}
	}
	replaced := slices.Collect(maps.Values(from))
	for e := range lock.All() {
		if _, ok := next.Entry(e.Provider); !ok && !slices.Contains(replaced, e.Provider) {
			fmt.Fprintf(&changes, "\n  - %s is in the lock file but not required any more", e.Provider)
		}
	}
	return diag.Errorf("Provider dependency changes detected",
		"Changes to the required provider dependencies were detected, but the lock file is read-only:%s\n\nTo use and record these requirements, run \"mayfly init\" without the \"-lockfile=readonly\" flag.",
		changes.String())
}

// choice is the version chosen for a requirement.
type choice struct {
	req     *Requirement
	version versions.Version
	locked  lockfile.Entry // the entry of the same version; zero if there is none
}

// choose selects versions. It reads the sources but changes nothing. A version in the lock is kept as long
// as the constraints allow it, even if there is a newer one.
func (i *Installer) choose(ctx context.Context, reqs []*Requirement, lock *lockfile.Lock, opts Options) ([]choice, diag.List) {
	var plan []choice
	var diags diag.List
	for _, r := range reqs {
		entry, locked := lock.Entry(r.Provider)
		if locked && !opts.Upgrade {
			i.observer().Reusing(r.Provider, entry.Version)
			if !r.allows().Has(entry.Version) {
				diags = append(diags, r.errorf("Failed to resolve provider packages",
					"The locked provider %s %s does not match configured version constraint %s:%s\n\nTo select another version, run \"mayfly init -upgrade\".",
					r.Provider.ForDisplay(), entry.Version, r.Text(), r.sources())...)
				continue
			}
			plan = append(plan, choice{r, entry.Version, entry})
			trace.Note(ctx, trace.Info, "provider %s: %s is in the lock file", r.Provider, entry.Version)
			continue
		}
		i.observer().Finding(r.Provider, r.Text())
		v, ds := i.newest(ctx, r)
		diags = append(diags, ds...)
		if ds.HasErrors() {
			continue
		}
		c := choice{req: r, version: v}
		if locked && entry.Version == v {
			c.locked = entry
		}
		plan = append(plan, c)
	}
	return plan, diags
}

// newest returns the newest version that the constraints allow. If it has no package for the platform, that
// is an error: choosing an older version instead would give the same configuration different versions on
// different machines.
func (i *Installer) newest(ctx context.Context, r *Requirement) (versions.Version, diag.List) {
	places, err := i.search(ctx, r.Provider)
	if err != nil {
		return versions.Unspecified, r.errorf("Failed to query available provider packages",
			"The versions of provider %s could not be listed: %s.%s", r.Provider.ForDisplay(), err, r.proposal()+i.namesakes(r.Provider, nil))
	}
	diags := warnings(r, places)
	list := all(places)
	if len(list) == 0 {
		return versions.Unspecified, append(diags, i.notFound(r, places)...)
	}
	allowed := list.Filter(r.allows())
	if len(allowed) == 0 {
		return versions.Unspecified, append(diags, r.errorf("Failed to resolve provider packages",
			"Provider %s: no available releases match the given constraints %s:%s\n\nAvailable are %s.",
			r.Provider.ForDisplay(), r.Text(), r.sources(), versionsText(list))...)
	}
	v := allowed.Newest()
	trace.Note(ctx, trace.Info, "provider %s: %s is the newest version that the constraints %q allow", r.Provider, v, r.Text())
	return v, append(diags, i.checkPlatform(ctx, r, v, places)...)
}

// checkPlatform checks that a version has a package for the platform.
func (i *Installer) checkPlatform(ctx context.Context, r *Requirement, v versions.Version, places []searched) diag.List {
	var others []Platform
	for _, s := range places {
		if _, has := s.found[v]; !has {
			continue
		}
		list, known, err := s.platforms(ctx, r.Provider, v)
		if err != nil {
			return r.errorf("Failed to query available provider packages", "The packages of provider %s %s could not be listed: %s.", r.Provider.ForDisplay(), v, err)
		}
		if !known || slices.Contains(list, i.platform()) {
			return nil
		}
		others = append(others, list...)
	}
	return r.errorf("Incompatible provider version",
		"Provider %s %s has no package for this platform, %s; it has packages for %s. Add one, or select another version with a version constraint. Available are %s.",
		r.Provider.ForDisplay(), v, i.platform(), platformsText(others), versionsText(all(places)))
}

// all merges the versions of several sources.
func all(places []searched) versions.List {
	merged := map[versions.Version]bool{}
	for _, s := range places {
		for v := range s.found {
			merged[v] = true
		}
	}
	return slices.Collect(maps.Keys(merged))
}

// warnings returns the sources' warnings about a provider.
func warnings(r *Requirement, places []searched) diag.List {
	var diags diag.List
	for _, s := range places {
		w, ok := s.source.(warner)
		if !ok {
			continue
		}
		for _, text := range w.Warnings(r.Provider) {
			diags = append(diags, r.errorf("Warning from the provider registry", "The registry reports about provider %s: %s", r.Provider.ForDisplay(), text).AsWarnings()...)
		}
	}
	return diags
}

// versionsText lists versions, the newest first, and counts the older ones if there are many.
func versionsText(list versions.List) string {
	const most = 10
	list.Sort()
	slices.Reverse(list)
	var texts []string
	for n, v := range list {
		if n == most {
			texts = append(texts, fmt.Sprintf("%d older ones", len(list)-most))
			break
		}
		texts = append(texts, v.String())
	}
	return strings.Join(texts, ", ")
}

// platformsText lists platforms in order, each once.
func platformsText(platforms []Platform) string {
	var texts []string
	for _, p := range platforms {
		texts = append(texts, p.String())
	}
	slices.SortFunc(texts, cmp.Compare[string])
	return strings.Join(slices.Compact(texts), ", ")
}
