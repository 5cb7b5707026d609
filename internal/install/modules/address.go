package modules

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/go-version"
	regaddr "github.com/opentofu/registry-address/v2"
	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// address is where a call's module is. One of its fields is set.
type address struct {
	local    string
	registry *regaddr.Module
	remote   *fetch.Source
}

// String returns the address in its full form, as in the manifest.
func (a address) String() string {
	switch {
	case a.registry != nil:
		return a.registry.String()
	case a.remote != nil:
		return a.remote.String()
	}
	return a.local
}

// parse interprets the source of a call.
func parse(call *config.ModuleCall) (address, diag.List) {
	a, err := parseText(call.Source, call.Version.Text != "")
	if err != nil {
		summary := "Invalid module source address"
		if call.Version.Text != "" {
			summary = "Invalid registry module source address"
		}
		return a, diag.At(call.SrcRange, summary, "The source %q of module %q cannot be used: %s.", fetch.Show(call.Source), call.Name, err)
	}
	return a, nil
}

// parseText parses the source of a module call: a local directory, a module in a registry, or an address
// for fetch. A version makes it one in a registry.
func parseText(source string, versioned bool) (address, error) {
	if (&config.ModuleCall{Source: source}).Local() {
		return address{local: cleanSource(source)}, nil
	}
	m, registryErr := regaddr.ParseModuleSource(source)
	if registryErr == nil {
		return address{registry: &m}, nil
	}
	if versioned {
		return address{}, fmt.Errorf("since it has a version, it must be a module in a registry, NAMESPACE/NAME/SYSTEM or HOST/NAMESPACE/NAME/SYSTEM, but %w. To get it from elsewhere, remove the version", registryErr)
	}
	s, err := fetch.Parse(source)
	if errors.Is(err, fetch.ErrUnknown) {
		if words := strings.Count(strings.Split(source, "//")[0], "/"); words == 2 || words == 3 {
			err = fmt.Errorf("%w; as a module in a registry, %w", err, registryErr)
		}
		return address{}, fmt.Errorf("%w. The source of a local directory must start with \"./\" or \"../\", as in \"./%s\"", err, fetch.Show(source))
	}
	return address{remote: &s}, err
}

// allows reports whether a constraint permits a version. Only an exact constraint permits a pre-release. An
// empty constraint permits all other versions.
func allows(constraint string, v *version.Version) bool {
	if constraint == "" {
		return v.Prerelease() == ""
	}
	if v.Prerelease() != "" {
		exact, err := version.NewVersion(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(constraint), "=")))
		return err == nil && exact.Equal(v)
	}
	c, err := version.NewConstraint(constraint)
	return err == nil && c.Check(v)
}

// newest returns the newest version that a constraint permits, or nil if there is none.
func newest(list []*version.Version, constraint string) *version.Version {
	var best *version.Version
	for _, v := range list {
		if allows(constraint, v) && (best == nil || v.GreaterThan(best)) {
			best = v
		}
	}
	return best
}

// RegistryHost returns the host of the registry that a call's module comes from; ok is false if it comes from
// none.
func RegistryHost(call *config.ModuleCall) (host svchost.Hostname, ok bool) {
	a, diags := parse(call)
	if diags.HasErrors() || a.registry == nil {
		return "", false
	}
	return a.registry.Package.Host, true
}
