package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/hashicorp/go-version"
	regaddr "github.com/opentofu/registry-address/v2"

	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// ErrNoModule means that a registry doesn't have a module.
var ErrNoModule = errors.New("the registry has no such module")

// ModuleVersions lists the versions of a module. The error is ErrNoModule if the registry doesn't have it.
func (c *Client) ModuleVersions(ctx context.Context, m regaddr.ModulePackage) ([]*version.Version, error) {
	base, creds, err := c.modules(ctx, m)
	if err != nil {
		return nil, err
	}
	doc, err := c.web.Get(ctx, web.Below(base, m.Namespace, m.Name, m.TargetSystem, "versions"), creds)
	if web.NotFound(err) {
		return nil, ErrNoModule
	}
	if err != nil {
		return nil, hintFor(err, m.Host)
	}
	var answer struct {
		Modules []struct {
			Versions []struct{ Version string }
		}
	}
	if err := json.Unmarshal(doc.Body, &answer); err != nil {
		return nil, fmt.Errorf("the answer of %s is not a list of versions", web.Show(doc.URL))
	}
	if len(answer.Modules) == 0 {
		return nil, ErrNoModule
	}
	var list []*version.Version
	for _, a := range answer.Modules[0].Versions {
		if v, err := version.NewVersion(a.Version); err == nil { // other programs may understand the rest
			list = append(list, v)
		}
	}
	return list, nil
}

// ModuleLocation returns the address of a version's package, to be downloaded without the registry's
// credentials. v is written as in the registry.
func (c *Client) ModuleLocation(ctx context.Context, m regaddr.ModulePackage, v string) (string, error) {
	base, creds, err := c.modules(ctx, m)
	if err != nil {
		return "", err
	}
	doc, err := c.web.Get(ctx, web.Below(base, m.Namespace, m.Name, m.TargetSystem, v, "download"), creds)
	if err != nil {
		return "", hintFor(err, m.Host)
	}
	location := doc.Header.Get("X-Terraform-Get")
	if location == "" && len(doc.Body) > 0 {
		var answer struct{ Location string }
		if err := json.Unmarshal(doc.Body, &answer); err == nil {
			location = answer.Location
		}
	}
	if location == "" {
		return "", fmt.Errorf("the answer of %s does not tell where the module is", web.Show(doc.URL))
	}
	return absolute(doc.URL, location)
}

// absolute resolves a location relative to the document that contains it.
func absolute(doc *url.URL, location string) (string, error) {
	if !strings.HasPrefix(location, "/") && !strings.HasPrefix(location, "./") && !strings.HasPrefix(location, "../") {
		return location, nil
	}
	base, query, _ := strings.Cut(location, "?")
	base, subdir, inside := strings.Cut(base, "//")
	ref, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("the answer of %s gives an address that is not valid", web.Show(doc))
	}
	u := doc.ResolveReference(ref)
	u.User, u.RawQuery = nil, query
	if inside {
		u.Path += "//" + subdir
		u.RawPath = ""
	}
	return u.String(), nil
}

func (c *Client) modules(ctx context.Context, m regaddr.ModulePackage) (*url.URL, web.Credentials, error) {
	base, creds, err := c.serviceOf(ctx, m.Host, moduleService)
	if err == nil && base == nil {
		err = fmt.Errorf("the host %s has no registry of modules", m.Host.ForDisplay())
	}
	return base, creds, err
}
