package install

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/install/netmirror"
	"github.com/mayfly-iac/mayfly/internal/install/ocimirror"
	"github.com/mayfly-iac/mayfly/internal/install/registry"
)

// warner is a source that may have warnings about a provider whose versions it has listed.
type warner interface {
	Warnings(p addr.Provider) []string
}

// asked remembers answers, so that a source is asked once for each key. Failures are not remembered.
type asked[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]V
	asking  map[K]*sync.Mutex // held while asking for the key
}

// get returns the answer for a key, and asks if there is none yet. Concurrent calls for one key ask once;
// calls for different keys do not wait for each other.
func (a *asked[K, V]) get(key K, ask func() (V, error)) (V, error) {
	a.mu.Lock()
	known, ok := a.answers[key]
	if a.asking == nil {
		a.asking = map[K]*sync.Mutex{}
	}
	if a.asking[key] == nil {
		a.asking[key] = &sync.Mutex{}
	}
	turn := a.asking[key]
	a.mu.Unlock()
	if ok {
		return known, nil
	}
	turn.Lock()
	defer turn.Unlock()
	a.mu.Lock()
	known, ok = a.answers[key]
	a.mu.Unlock()
	if ok {
		return known, nil
	}
	answer, err := ask()
	if err != nil {
		return answer, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers == nil {
		a.answers = map[K]V{}
	}
	a.answers[key] = answer
	return answer, nil
}

// registrySource gets each provider from its own registry.
type registrySource struct {
	method cliconfig.Method
	client *registry.Client
	lists  asked[addr.Provider, registry.List]
}

// Allows implements Source.
func (s *registrySource) Allows(p addr.Provider) bool { return s.method.Allows(p) }
func (s *registrySource) String() string              { return s.method.Location() }

// list returns the versions of a provider, which are asked for once.
func (s *registrySource) list(ctx context.Context, p addr.Provider) (registry.List, error) {
	return s.lists.get(p, func() (registry.List, error) { return s.client.Versions(ctx, p) })
}

// Versions implements Source. Platforms whose names are not plain words are left out.
func (s *registrySource) Versions(ctx context.Context, p addr.Provider) (Available, error) {
	list, err := s.list(ctx, p)
	if err != nil {
		return nil, err
	}
	out := Available{}
	for _, v := range list.Versions {
		out[v.Version] = nil
		for _, text := range v.Platforms {
			if platform, ok := parsePlatform(text); ok {
				out[v.Version] = append(out[v.Version], platform)
			}
		}
	}
	return out, nil
}

// Warnings implements warner.
func (s *registrySource) Warnings(p addr.Provider) []string {
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	return s.lists.answers[p].Warnings
}

// Package implements Source. The checksum comes with a signature, which the client checks as far as there
// is one.
func (s *registrySource) Package(ctx context.Context, p addr.Provider, v versions.Version, platform Platform) (Package, error) {
	a, err := s.client.Archive(ctx, p, v, platform.String())
	if err != nil {
		return Package{}, err
	}
	return Package{
		Packed: true, Hashes: []lockfile.Hash{a.Hash()}, Sums: a.Sums, Proof: a.Proof,
		Download: func(ctx context.Context, to *os.File, progress Progress) error {
			return s.client.Download(ctx, a, to, progress)
		},
	}, nil
}

// release is a version of a provider.
type release struct {
	provider addr.Provider
	version  versions.Version
}

// archiver asks a mirror for the versions of providers, and for the archives of a version by platform.
type archiver[A any] interface {
	Versions(ctx context.Context, p addr.Provider) ([]versions.Version, error)
	Archives(ctx context.Context, p addr.Provider, v versions.Version) (map[string]*A, error)
}

// mirrorSource is a mirror that is asked over the network. open describes the package in an archive.
type mirrorSource[A any] struct {
	method   cliconfig.Method
	client   archiver[A]
	open     func(context.Context, addr.Provider, A) (Package, error)
	archives asked[release, map[string]*A]
	lists    asked[addr.Provider, []versions.Version]
}

// Allows implements Source.
func (s *mirrorSource[A]) Allows(p addr.Provider) bool { return s.method.Allows(p) }
func (s *mirrorSource[A]) String() string              { return s.method.Location() }

// Versions implements Source.
func (s *mirrorSource[A]) Versions(ctx context.Context, p addr.Provider) (Available, error) {
	list, err := s.lists.get(p, func() ([]versions.Version, error) { return s.client.Versions(ctx, p) })
	if err != nil {
		return nil, err
	}
	return anyPlatform(list), nil
}

// of returns the archives of a version by platform, which are asked for once.
func (s *mirrorSource[A]) of(ctx context.Context, p addr.Provider, v versions.Version) (map[string]*A, error) {
	return s.archives.get(release{p, v}, func() (map[string]*A, error) { return s.client.Archives(ctx, p, v) })
}

// Platforms implements platformer.
func (s *mirrorSource[A]) Platforms(ctx context.Context, p addr.Provider, v versions.Version) ([]Platform, error) {
	archives, err := s.of(ctx, p, v)
	return platformsOf(archives), err
}

// Package implements Source.
func (s *mirrorSource[A]) Package(ctx context.Context, p addr.Provider, v versions.Version, platform Platform) (Package, error) {
	archives, err := s.of(ctx, p, v)
	if err != nil {
		return Package{}, err
	}
	a := archives[platform.String()]
	if a == nil {
		return Package{}, fmt.Errorf("%s has no package of %s %s for %s", s, p, v, platform)
	}
	return s.open(ctx, p, *a)
}

// newNetworkSource returns the source for a network mirror, whose documents have the checksums of its
// archives, or not.
func newNetworkSource(method cliconfig.Method, client *netmirror.Client) Source {
	return &mirrorSource[netmirror.Archive]{method: method, client: client, open: func(_ context.Context, _ addr.Provider, a netmirror.Archive) (Package, error) {
		pkg := Package{Packed: true, Hashes: a.Hashes, Download: func(ctx context.Context, to *os.File, progress Progress) error {
			return client.Download(ctx, &a, to, progress)
		}}
		if len(a.Hashes) > 0 {
			pkg.Proof = verifiedChecksum
		}
		return pkg, nil
	}}
}

// newOCISource returns the source for a mirror in OCI registries, where the digest of an archive is its
// checksum.
func newOCISource(method cliconfig.Method, client *ocimirror.Client) Source {
	return &mirrorSource[ocimirror.Archive]{method: method, client: client, open: func(ctx context.Context, p addr.Provider, a ocimirror.Archive) (Package, error) {
		if err := client.Resolve(ctx, &a); err != nil {
			return Package{}, err
		}
		return Package{
			Packed: true, Hashes: []lockfile.Hash{a.Digest}, Sums: []lockfile.Hash{a.Digest}, Proof: verifiedChecksum,
			Download: func(ctx context.Context, to *os.File, progress Progress) error {
				return client.Download(ctx, p, &a, to, progress)
			},
		}, nil
	}}
}

// platformer is a source that must be asked for the platforms of each version.
type platformer interface {
	Platforms(ctx context.Context, p addr.Provider, v versions.Version) ([]Platform, error)
}

// anyPlatform lists versions whose platforms are not known yet.
func anyPlatform(list []versions.Version) Available {
	out := Available{}
	for _, v := range list {
		out[v] = nil
	}
	return out
}

// platformsOf returns the platforms among the keys of archives; never nil, which would mean that they are
// not known.
func platformsOf[A any](archives map[string]A) []Platform {
	out := []Platform{}
	for text := range archives {
		if platform, ok := parsePlatform(text); ok {
			out = append(out, platform)
		}
	}
	return out
}
