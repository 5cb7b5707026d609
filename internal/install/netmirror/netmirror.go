// Package netmirror finds providers on a network mirror: a web server with an index of versions and one of
// packages for each provider.
//
// It may import addr and its siblings for requests and checksums. It must not know how packages are
// unpacked or stored.
package netmirror

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// Client uses one mirror. It is safe for concurrent use.
type Client struct {
	web   *web.Client
	base  *url.URL
	creds svcauth.CredentialsSource
}

// New returns a client for the mirror at an address, below which each host of providers has a path.
func New(client *web.Client, base string, creds svcauth.CredentialsSource) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the address of a network mirror must be an absolute URL with the scheme https")
	}
	return &Client{web: client, base: u, creds: creds}, nil
}

// Archive is a package that can be downloaded.
type Archive struct {
	// Hashes are the mirror's checksums: the package must match one of them; empty if it has none.
	Hashes []lockfile.Hash
	url    *url.URL
	creds  web.Credentials
}

// Versions lists the versions that the mirror has of a provider.
func (c *Client) Versions(ctx context.Context, p addr.Provider) ([]versions.Version, error) {
	var answer struct {
		Versions map[string]json.RawMessage
	}
	if _, err := c.document(ctx, p, "index.json", &answer); err != nil {
		return nil, ignoreMissing(err)
	}
	var list []versions.Version
	for text := range answer.Versions {
		v, err := versions.ParseVersion(text)
		if err != nil {
			return nil, fmt.Errorf("the mirror lists the version %.64q of %s, which is not a version number", text, p)
		}
		list = append(list, v)
	}
	return list, nil
}

// Archives finds the packages of a version by platform, in the form OS_ARCH.
func (c *Client) Archives(ctx context.Context, p addr.Provider, v versions.Version) (map[string]*Archive, error) {
	var answer struct {
		Archives map[string]struct {
			URL    string
			Hashes []lockfile.Hash
		}
	}
	from, err := c.document(ctx, p, v.String()+".json", &answer)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	creds, err := c.credentials(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]*Archive{}
	for platform, a := range answer.Archives {
		u, err := web.Resolve(from, a.URL)
		if err != nil {
			return nil, fmt.Errorf("the mirror has a bad address for the package of %s %s for %.64q: %w", p, v, platform, err)
		}
		archive := &Archive{Hashes: a.Hashes, url: u}
		if web.SameOrigin(u, c.base) {
			archive.creds, u.User = creds, c.base.User
		}
		out[platform] = archive
	}
	return out, nil
}

// Download writes the archive to a file. The caller verifies it.
func (c *Client) Download(ctx context.Context, a *Archive, to *os.File, progress web.Progress) error {
	_, err := c.web.Download(ctx, a.url, a.creds, to, progress)
	return err
}

func ignoreMissing(err error) error {
	if web.NotFound(err) {
		return nil
	}
	return err
}

// document reads one of the mirror's JSON documents about a provider.
func (c *Client) document(ctx context.Context, p addr.Provider, name string, to any) (*url.URL, error) {
	creds, err := c.credentials(ctx)
	if err != nil {
		return nil, err
	}
	u := web.Below(c.base, p.Hostname.ForDisplay(), p.Namespace, p.Type, name)
	doc, err := c.web.Get(ctx, u, creds)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(doc.Body, to); err != nil {
		return nil, fmt.Errorf("the answer of %s is not the index of a network mirror", web.Show(doc.URL))
	}
	return doc.URL, nil
}

// credentials returns the credentials for the mirror's own host.
func (c *Client) credentials(ctx context.Context) (web.Credentials, error) {
	host, err := svchost.ForComparison(c.base.Host)
	if err != nil {
		return nil, nil // such a host can't have any
	}
	creds, err := c.creds.ForHost(ctx, host)
	if creds == nil || err != nil {
		return nil, err
	}
	return creds, nil
}
