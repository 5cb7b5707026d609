package install

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
)

// ask lists what a source has of a provider. usable is false if this program can't use the source.
func ask(ctx context.Context, s Source, p addr.Provider) (found Available, usable bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	found, err = s.Versions(ctx, p)
	if errors.Is(err, ErrUnavailable) {
		return nil, false, nil
	}
	return found, err == nil, err
}

// notFound says where a provider was looked for and what can be done.
func (i *Installer) notFound(r *Requirement, places []searched) diag.List {
	var sb strings.Builder
	name := r.Provider.ForDisplay()
	sb.WriteString("Provider " + name + " (" + r.Provider.String() + ") was not found in any of the search locations:")
	none := true
	for _, s := range places {
		if s.usable {
			sb.WriteString("\n  - " + s.source.String())
			none = false
		}
	}
	if none {
		sb.WriteString("\n  - none: no local directory is configured for it, and none of the usual ones exists")
	}
	if src := r.sources(); src != "" {
		sb.WriteString("\n\nIt is required:" + src)
	}
	sb.WriteString(unavailableHint(places))
	if others := i.similar(r.Provider, places); len(others) > 0 {
		sb.WriteString("\n\nThere is a provider of the same name under another address: " + strings.Join(others, ", ") +
			". If that is the one you mean, set it as the source of " + r.Provider.Type + " in required_providers.")
	}
	sb.WriteString("\n\nTo install it, put its package into a filesystem mirror as " +
		filepath.ToSlash(filepath.Join(providerPath(r.Provider), "terraform-provider-"+r.Provider.Type+"_VERSION_"+i.platform().String()+".zip")) +
		", and name the directory of the mirror in the provider_installation block of the CLI configuration or with the option -plugin-dir.")
	return r.errorf("Failed to query available provider packages", "%s", sb.String())
}

// unavailableHint says which of the sources that apply could not be asked.
func unavailableHint(places []searched) string {
	var sb strings.Builder
	for _, s := range places {
		if !s.usable {
			sb.WriteString("\n  - " + s.source.String())
		}
	}
	if sb.Len() == 0 {
		return ""
	}
	return "\n\nThese could have it too, but installing over the network is not available in this version:" + sb.String()
}

// similar lists addresses of providers of the same type that the sources have.
func (i *Installer) similar(p addr.Provider, places []searched) []string {
	var out []string
	seen := map[addr.Provider]bool{}
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
