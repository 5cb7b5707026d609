package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// The services of a registry, by the names used in discovery.
const (
	providerService = "providers.v1"
	moduleService   = "modules.v1"
)

// Client uses registries. It is safe for concurrent use.
type Client struct {
	web      *web.Client
	services *disco.Disco
	creds    svcauth.CredentialsSource
	policy   Policy
}

// Policy lists requirements for packages beyond the right checksum.
type Policy struct {
	// Signed refuses packages of publishers whose key is unknown to the default registry. Otherwise they
	// are trusted as far as that registry is.
	Signed bool
	// FreshKeys refuses signatures of keys that have expired since.
	FreshKeys bool
}

// New returns a client. hosts are the hosts whose services are configured instead of discovered.
func New(client *web.Client, creds svcauth.CredentialsSource, hosts map[svchost.Hostname]cliconfig.Host, policy Policy) *Client {
	c := &Client{
		web: client, creds: creds, policy: policy,
		services: disco.New(disco.WithHTTPClient(client.Documents()), disco.WithCredentials(creds)),
	}
	for host, h := range hosts {
		c.services.ForceHostServices(host, h.Services)
	}
	return c
}

// Version is a version of a provider in a registry.
type Version struct {
	Version   versions.Version
	Protocols []string // versions of the plugin protocol such as "5.0"; none if the registry doesn't say
	Platforms []string // in the form OS_ARCH
}

// List is a registry's list of a provider's versions.
type List struct {
	Versions []Version
	// Warnings are messages from the registry to its users.
	Warnings []string
}

// Versions lists the versions of a provider. The list is empty if the registry has no such provider, or the
// host no registry.
func (c *Client) Versions(ctx context.Context, p addr.Provider) (List, error) {
	base, creds, err := c.service(ctx, p)
	if err != nil || base == nil {
		return List{}, err
	}
	doc, err := c.web.Get(ctx, web.Below(base, p.Namespace, p.Type, "versions"), creds)
	if web.NotFound(err) {
		return List{}, nil
	}
	if err != nil {
		return List{}, c.hint(err, p)
	}
	var answer struct {
		Warnings []string
		Versions []struct {
			Version   string
			Protocols []string
			Platforms []struct{ OS, Arch string }
		}
	}
	if err := json.Unmarshal(doc.Body, &answer); err != nil {
		return List{}, fmt.Errorf("the answer of %s is not a list of versions", web.Show(doc.URL))
	}
	list := List{Warnings: answer.Warnings}
	for _, a := range answer.Versions {
		v, err := versions.ParseVersion(a.Version)
		if err != nil {
			continue // other programs may understand it
		}
		out := Version{Version: v, Protocols: a.Protocols}
		for _, platform := range a.Platforms {
			out.Platforms = append(out.Platforms, platform.OS+"_"+platform.Arch)
		}
		list.Versions = append(list.Versions, out)
	}
	return list, nil
}

// service finds the address of a provider's registry and the credentials for it. The address is nil if the
// host has no registry of providers.
func (c *Client) service(ctx context.Context, p addr.Provider) (*url.URL, web.Credentials, error) {
	return c.serviceOf(ctx, p.Hostname, providerService)
}

// serviceOf returns the address of a service of a host, and the credentials for it. The address is nil if
// the host does not offer the service.
func (c *Client) serviceOf(ctx context.Context, host svchost.Hostname, service string) (*url.URL, web.Credentials, error) {
	base, err := c.services.DiscoverServiceURL(ctx, host, service)
	if _, ok := errors.AsType[*disco.ErrServiceNotProvided](err); ok {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the host %s could not be queried for its registry: %w", host.ForDisplay(), web.Reason(err))
	}
	creds, err := c.creds.ForHost(ctx, host)
	if err != nil {
		return nil, nil, err
	}
	if creds == nil {
		return base, nil, nil // otherwise the interface would contain a nil pointer and not be nil
	}
	return base, creds, nil
}

// hint adds advice to a refusal.
func (c *Client) hint(err error, p addr.Provider) error { return hintFor(err, p.Hostname) }

func hintFor(err error, host svchost.Hostname) error {
	if status, ok := errors.AsType[*web.StatusError](err); ok && status.Denied() {
		return fmt.Errorf("%w. Set the token for this host in a credentials %q block of the CLI configuration or in the environment variable %s", err, host.ForDisplay(), cliconfig.TokenVariable(host))
	}
	return err
}

// protocols are the major versions of the plugin protocol that this program supports.
var protocols = []string{"5", "6"}

// speaks reports whether this program supports one of a provider's protocol versions.
func speaks(offered []string) bool {
	return len(offered) == 0 || slices.ContainsFunc(offered, func(o string) bool { return slices.Contains(protocols, major(o)) })
}
