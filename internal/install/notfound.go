package install

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
)

// searched is a source that was asked for a provider, with its answer.
type searched struct {
	source Source
	found  Available
}

// search asks all sources that may have a provider. It asks in the order of the configuration. A source that
// fails ends the search, since another one could have another version.
func (i *Installer) search(ctx context.Context, p addr.Provider) ([]searched, error) {
	var places []searched
	for _, s := range i.Sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !s.Allows(p) {
			continue
		}
		found, err := s.Versions(ctx, p)
		if err != nil {
			trace.Note(ctx, trace.Warn, "provider %s: %s cannot be asked: %s", p, s, err)
			return nil, err
		}
		trace.Note(ctx, trace.Debug, "provider %s: %s has %d versions", p, s, len(found))
		places = append(places, searched{s, found})
	}
	return places, nil
}

// platforms returns the platforms for which a source has a version; known is false if the source doesn't
// say.
func (s searched) platforms(ctx context.Context, p addr.Provider, v versions.Version) (list []Platform, known bool, err error) {
	list, ok := s.found[v]
	if !ok || list != nil {
		return list, true, nil
	}
	if asker, ok := s.source.(platformer); ok {
		list, err = asker.Platforms(ctx, p, v)
		return list, true, err
	}
	return nil, false, nil
}

// mayHave reports whether a source may have a version for a platform.
func (s searched) mayHave(ctx context.Context, p addr.Provider, v versions.Version, platform Platform) (bool, error) {
	if _, ok := s.found[v]; !ok {
		return false, nil
	}
	list, known, err := s.platforms(ctx, p, v)
	return !known || slices.Contains(list, platform), err
}

// notFound says where a provider was looked for, with advice.
func (i *Installer) notFound(r *Requirement, places []searched) diag.List {
	var sb strings.Builder
	name := r.Provider.ForDisplay()
	sb.WriteString("Provider " + name + " (" + r.Provider.String() + ") was not found in any of the search locations:")
	for _, s := range places {
		sb.WriteString("\n  - " + s.source.String())
		if m, ok := s.source.(*mirror); ok && m.missing() {
			sb.WriteString(", which does not exist")
		}
	}
	if len(places) == 0 {
		sb.WriteString("\n  - none: the provider_installation block of the CLI configuration has no method for it")
	}
	if src := r.sources(); src != "" {
		sb.WriteString("\n\nIt is required:" + src)
	}
	sb.WriteString(r.proposal() + i.namesakes(r.Provider, places))
	if i.asksRegistry(places) {
		sb.WriteString("\n\nIf the name is wrong, correct the source in required_providers: without a host it means " + addr.DefaultHost.ForDisplay() +
			", and without a namespace hashicorp.")
	}
	sb.WriteString("\n\nTo install it from a directory, put its package into a filesystem mirror as " +
		filepath.ToSlash(filepath.Join(providerPath(r.Provider), "terraform-provider-"+r.Provider.Type+"_VERSION_"+i.platform().String()+".zip")) +
		", and name the directory of the mirror in the provider_installation block of the CLI configuration or with the option -plugin-dir.")
	return r.errorf("Failed to query available provider packages", "%s", sb.String())
}

// asksRegistry reports whether a registry is among the sources.
func (i *Installer) asksRegistry(places []searched) bool {
	return slices.ContainsFunc(places, func(s searched) bool {
		_, ok := s.source.(warner)
		return ok
	})
}

// proposal returns a paragraph about a provider with a similar name, "" if there is none.
func (r *Requirement) proposal() string {
	if r.meant == "" {
		return ""
	}
	return fmt.Sprintf("\n\nDid you mean the provider %q?", r.meant)
}

// namesakes returns a paragraph about providers of the same type under other addresses, "" if there are none.
func (i *Installer) namesakes(p addr.Provider, places []searched) string {
	others := i.similar(p, places)
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("\n\nThere is a provider of the same name under another address: %s. If that is the one you mean, write in the terraform block:\n  required_providers {\n    %s = { source = %q }\n  }", strings.Join(others, ", "), p.Type, others[0])
}

// similar lists providers of the same type under other addresses: those in the program, then those that the
// sources have.
func (i *Installer) similar(p addr.Provider, places []searched) []string {
	var out []string
	seen := map[addr.Provider]bool{}
	for _, other := range i.Embedded {
		if other.Type == p.Type && other != p {
			seen[other] = true
			out = append(out, other.ForDisplay())
		}
	}
	for _, s := range places {
		finder, ok := s.source.(interface {
			similar(addr.Provider) []addr.Provider
		})
		if !ok {
			continue
		}
		for _, other := range finder.similar(p) {
			if !seen[other] {
				seen[other] = true
				out = append(out, other.String())
			}
		}
	}
	return out
}
