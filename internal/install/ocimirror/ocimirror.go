// Package ocimirror finds providers, and packages of modules, in registries of OCI artifacts, which are
// also used for container images. A mirror has a repository for each provider and a tag for each version,
// which refers to an index with an artifact for each platform. The artifact's only layer is the package. A
// package of modules is an artifact by itself.
//
// It may import addr and its siblings for requests, settings and checksums. It must not know how packages
// are unpacked or stored.
package ocimirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// The types of artifacts, as documented by OpenTofu.
const (
	indexType   = "application/vnd.opentofu.provider"
	packageType = "application/vnd.opentofu.provider-target"
	layerType   = "archive/zip"

	indexMedia    = "application/vnd.oci.image.index.v1+json"
	manifestMedia = "application/vnd.oci.image.manifest.v1+json"

	maxManifest = 4 << 20
	maxTagPages = 1000
)

// Client uses the registries of one mirror. It is safe for concurrent use.
type Client struct {
	web      *web.Client
	template hcl.Expression
	keys     *Keyring
}

// New returns a client. template yields the repository of a provider from the variables hostname, namespace
// and type.
func New(client *web.Client, template hcl.Expression, keys *Keyring) *Client {
	return &Client{web: client, template: template, keys: keys}
}

// Archive is a package that can be downloaded.
type Archive struct {
	// Digest is the checksum of the archive: artifacts are identified by theirs.
	Digest lockfile.Hash
	repo   *remote.Repository
	digest string
	size   int64
}

// descriptor is the used part of an OCI descriptor.
type descriptor struct {
	MediaType    string
	ArtifactType string
	Digest       string
	Size         int64
	Platform     struct{ OS, Architecture string }
}

// Versions lists the mirror's versions of a provider. Tags that aren't versions are ignored.
func (c *Client) Versions(ctx context.Context, p addr.Provider) ([]versions.Version, error) {
	repo, err := c.repository(p, c.web.Documents())
	if err != nil {
		return nil, err
	}
	var list []versions.Version
	err = repo.Tags(ctx, "", func(tags []string) error {
		for _, tag := range tags {
			// A tag can't have the plus of build metadata.
			if v, err := versions.ParseVersion(strings.ReplaceAll(tag, "_", "+")); err == nil {
				list = append(list, v)
			}
		}
		return nil
	})
	if missing(err) {
		return nil, nil
	}
	return list, explain(repo, err)
}

// Archives finds the packages of a version by platform, in the form OS_ARCH.
func (c *Client) Archives(ctx context.Context, p addr.Provider, v versions.Version) (map[string]*Archive, error) {
	repo, err := c.repository(p, c.web.Documents())
	if err != nil {
		return nil, err
	}
	var index struct {
		ArtifactType string
		Manifests    []descriptor
	}
	tag := strings.ReplaceAll(v.String(), "+", "_")
	if err := manifest(ctx, repo, tag, indexMedia, &index); err != nil {
		if missing(err) {
			return nil, nil
		}
		return nil, err
	}
	if index.ArtifactType != indexType {
		return nil, fmt.Errorf("the artifact %s:%s has the type %.100q; a provider has %q", name(repo), tag, index.ArtifactType, indexType)
	}
	out := map[string]*Archive{}
	for _, d := range index.Manifests {
		// Anything other than a digest could be a tag, whose target may change.
		if _, ok := sum(d.Digest); ok && d.ArtifactType == packageType && d.Platform.OS != "" && d.Platform.Architecture != "" {
			out[d.Platform.OS+"_"+d.Platform.Architecture] = &Archive{repo: repo, digest: d.Digest}
		}
	}
	return out, nil
}

// Resolve completes an archive with its digest and size.
func (c *Client) Resolve(ctx context.Context, a *Archive) error {
	var m struct {
		ArtifactType string
		Layers       []descriptor
	}
	if err := manifest(ctx, a.repo, a.digest, manifestMedia, &m); err != nil {
		return err
	}
	if m.ArtifactType != packageType || len(m.Layers) != 1 || m.Layers[0].MediaType != layerType {
		return fmt.Errorf("the artifact %s@%s is not a provider's package: it must be of the type %q and have one layer, of the type %q", name(a.repo), a.digest, packageType, layerType)
	}
	hex, ok := sum(m.Layers[0].Digest)
	if !ok {
		return fmt.Errorf("the package in %s@%s has the digest %.100q; only sha256 is supported", name(a.repo), a.digest, m.Layers[0].Digest)
	}
	a.Digest, a.digest, a.size = lockfile.Hash("zh:"+hex), m.Layers[0].Digest, m.Layers[0].Size
	return nil
}

// sum returns the checksum in a digest, if it is of the supported kind.
func sum(digest string) (string, bool) {
	hex, ok := strings.CutPrefix(digest, "sha256:")
	return hex, ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

// Download writes a resolved archive to a file and verifies it.
func (c *Client) Download(ctx context.Context, p addr.Provider, a *Archive, to *os.File, progress web.Progress) error {
	repo, err := c.repository(p, c.web.Single())
	if err != nil {
		return err
	}
	return blob(ctx, c.web, repo, descriptor{Digest: a.digest, Size: a.size}, to, progress)
}

// manifest reads a manifest and checks that its content matches its name.
func manifest(ctx context.Context, repo *remote.Repository, reference, media string, to any) error {
	desc, body, err := repo.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return explain(repo, err)
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxManifest+1))
	if err != nil {
		return explain(repo, err)
	}
	if len(text) > maxManifest {
		return fmt.Errorf("the manifest %s in %s is longer than %d bytes", reference, name(repo), maxManifest)
	}
	if desc.MediaType != media {
		return fmt.Errorf("the manifest %s in %s has the media type %.100q, where %q is expected", reference, name(repo), desc.MediaType, media)
	}
	if desc.Digest.Algorithm().FromBytes(text) != desc.Digest || strings.HasPrefix(reference, "sha256:") && desc.Digest.String() != reference {
		return fmt.Errorf("the manifest %s in %s does not have its digest: it was damaged or changed on the way", reference, name(repo))
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("the manifest %s in %s can't be read: %w", reference, name(repo), err)
	}
	return nil
}

// repository evaluates the template for a provider.
func (c *Client) repository(p addr.Provider, client *http.Client) (*remote.Repository, error) {
	v, hd := c.template.Value(&hcl.EvalContext{Variables: map[string]cty.Value{
		"hostname": cty.StringVal(p.Hostname.ForDisplay()), "namespace": cty.StringVal(p.Namespace), "type": cty.StringVal(p.Type),
	}})
	if !hd.HasErrors() {
		var err error
		if v, err = convert.Convert(v, cty.String); err == nil && !v.IsNull() {
			return c.open(v.AsString(), client)
		}
	}
	return nil, fmt.Errorf("the repository template%s does not give the name of a repository for %s", c.place(), p)
}

// place returns where the template is, after "at" and in the form of diag.Place, "" if it is in no file.
func (c *Client) place() string {
	at := c.template.Range()
	if at.Filename == "" {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", at.Filename, at.Start.Line)
}

func (c *Client) open(text string, client *http.Client) (*remote.Repository, error) {
	repo, err := remote.NewRepository(text)
	if err != nil || repo.Reference.Reference != "" {
		return nil, fmt.Errorf("the repository template%s gives %q, which is not a repository such as \"example.com/providers/random\"", c.place(), text)
	}
	repo.TagListMaxPages = maxTagPages
	repo.Client = &auth.Client{Client: client, Cache: auth.NewSingleContextCache(), Credential: c.keys.credential(repo.Reference.Registry, repo.Reference.Repository)}
	return repo, nil
}

func name(repo *remote.Repository) string {
	return repo.Reference.Registry + "/" + repo.Reference.Repository
}

func missing(err error) bool {
	var answer *errcode.ErrorResponse
	return web.NotFound(err) || errors.Is(err, errdef.ErrNotFound) || errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// explain describes a failed request without other parts of its address.
func explain(repo *remote.Repository, err error) error {
	var answer *errcode.ErrorResponse
	const hint = "Log in with a tool such as docker or podman, or set an oci_credentials block in the CLI configuration"
	switch {
	case err == nil:
		return nil
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("the OCI registry wants credentials for %s. %s", name(repo), hint)
	case errors.As(err, &answer):
		status := &web.StatusError{Code: answer.StatusCode, URL: "https://" + answer.URL.Host + answer.URL.Path}
		if status.Denied() {
			return fmt.Errorf("%w. %s", status, hint)
		}
		return status
	case errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("%s: %w", name(repo), errdef.ErrNotFound)
	}
	return fmt.Errorf("asking the OCI registry for %s: %w", name(repo), web.Reason(err))
}
