package ocimirror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// moduleType is the type of artifacts that are packages of modules, as documented by OpenTofu. Their only
// layer is an archive.
const moduleType = "application/vnd.opentofu.modulepkg"

// defaultTag is used if an address has no tag.
const defaultTag = "latest"

// Modules downloads packages of modules from registries of OCI artifacts. It is safe for concurrent use.
type Modules struct {
	web  *web.Client
	keys *Keyring
}

// NewModules returns a client.
func NewModules(client *web.Client, keys *Keyring) *Modules { return &Modules{client, keys} }

// Download writes the archive of the artifact in a repository to a file and verifies it. At most one of tag
// and digest may be given.
func (m *Modules) Download(ctx context.Context, repository, tag, digest string, to *os.File, progress web.Progress) error {
	reference := digest
	switch {
	case tag != "" && digest != "":
		return errors.New("the address of an OCI artifact has a tag or a digest, not both")
	case tag != "":
		reference = tag
	case digest == "":
		reference = defaultTag
	}
	if _, ok := sum(digest); digest != "" && !ok {
		return fmt.Errorf("the digest %.100q does not have the form sha256:HEXADECIMAL", digest)
	}
	repo, err := m.open(repository, m.web.Documents())
	if err != nil {
		return err
	}
	var man struct {
		ArtifactType string
		Layers       []descriptor
	}
	if err := manifest(ctx, repo, reference, manifestMedia, &man); err != nil {
		if missing(err) {
			return fmt.Errorf("the repository %s has no artifact %s", name(repo), reference)
		}
		return err
	}
	layers := slices.DeleteFunc(man.Layers, func(l descriptor) bool { return l.MediaType != layerType })
	if man.ArtifactType != moduleType || len(layers) != 1 {
		return fmt.Errorf("the artifact %s in %s is not a package of modules: it must be of the type %q and have one layer of the type %q", reference, name(repo), moduleType, layerType)
	}
	if _, ok := sum(layers[0].Digest); !ok {
		return fmt.Errorf("the package in %s has the digest %.100q; only sha256 is supported", name(repo), layers[0].Digest)
	}
	downloads, err := m.open(name(repo), m.web.Single())
	if err != nil {
		return err
	}
	return blob(ctx, m.web, downloads, layers[0], to, progress)
}

func (m *Modules) open(repository string, client *http.Client) (*remote.Repository, error) {
	repo, err := remote.NewRepository(repository)
	if err != nil || repo.Reference.Reference != "" {
		return nil, fmt.Errorf("%.200q is not a repository such as \"example.com/modules/network\"", repository)
	}
	repo.Client = &auth.Client{Client: client, Cache: auth.NewSingleContextCache(), Credential: m.keys.credential(repo.Reference.Registry, repo.Reference.Repository)}
	return repo, nil
}
