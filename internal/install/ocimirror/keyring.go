package ocimirror

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
)

// Keyring finds the credentials for OCI registries: from the CLI configuration, for a repository or for all,
// and then from the files of container tools. It is safe for concurrent use.
type Keyring struct {
	blocks map[string]cliconfig.OCICredentials
	env    cliconfig.Environment
}

// NewKeyring returns a keyring. blocks are the credentials of the CLI configuration by repository prefix; ""
// is the default.
func NewKeyring(blocks map[string]cliconfig.OCICredentials, env cliconfig.Environment) *Keyring {
	return &Keyring{blocks: blocks, env: env}
}

// credential returns the function that finds the credentials for a repository. Its argument is the
// contacted server, whose name may differ from the registry's.
func (k *Keyring) credential(registry, repository string) auth.CredentialFunc {
	return func(ctx context.Context, host string) (auth.Credential, error) {
		block, own := k.block(registry, repository)
		switch {
		case block.DockerHelper != "":
			return helperCredential(ctx, block.DockerHelper, host)
		case own:
			return auth.Credential{
				Username: block.Username.Reveal(), Password: block.Password.Reveal(),
				AccessToken: block.AccessToken.Reveal(), RefreshToken: block.RefreshToken.Reveal(),
			}, nil
		}
		return k.ambient(ctx, host)
	}
}

// block finds the oci_credentials block with the longest prefix of a repository.
func (k *Keyring) block(registry, repository string) (best cliconfig.OCICredentials, found bool) {
	full, longest := registry+"/"+repository+"/", 0
	for prefix, b := range k.blocks {
		if len(prefix) > longest && strings.HasPrefix(full, strings.TrimSuffix(prefix, "/")+"/") {
			best, found, longest = b, true, len(prefix)
		}
	}
	return best, found
}

// ambient finds credentials that container tools have stored.
func (k *Keyring) ambient(ctx context.Context, host string) (auth.Credential, error) {
	def, given := k.blocks[""]
	files := k.files()
	if len(def.DockerConfigFiles) > 0 {
		files = def.DockerConfigFiles
	}
	if given && !def.DiscoverAmbient {
		files = nil
	}
	for _, file := range files {
		store, err := credentials.NewStore(file, credentials.StoreOptions{})
		if err != nil {
			return auth.EmptyCredential, fmt.Errorf("the file %s with credentials of container registries can't be read", file)
		}
		cred, err := store.Get(ctx, credentials.ServerAddressFromHostname(host))
		if err != nil {
			// The cause is the output of a program that handles passwords.
			return auth.EmptyCredential, fmt.Errorf("the credentials for %s that %s refers to cannot be obtained; try to log in again with the tool that wrote it", host, file)
		}
		if cred != auth.EmptyCredential {
			return cred, nil
		}
	}
	if def.DockerHelper != "" {
		return helperCredential(ctx, def.DockerHelper, host)
	}
	return auth.EmptyCredential, nil
}

// files are the files in which Podman and Docker store credentials, in the order in which container tools
// search them.
func (k *Keyring) files() []string {
	var files []string
	add := func(dir string, rest ...string) {
		if dir != "" {
			files = append(files, filepath.Join(append([]string{dir}, rest...)...))
		}
	}
	add(k.env.Vars["XDG_RUNTIME_DIR"], "containers", "auth.json")
	add(k.env.Vars["XDG_CONFIG_HOME"], "containers", "auth.json")
	add(k.env.Home, ".config", "containers", "auth.json")
	add(k.env.Vars["DOCKER_CONFIG"], "config.json")
	add(k.env.Home, ".docker", "config.json")
	return files
}

// helperCredential runs a Docker credential helper, a program named docker-credential-NAME.
func helperCredential(ctx context.Context, name, host string) (auth.Credential, error) {
	cred, err := credentials.NewNativeStore(name).Get(ctx, credentials.ServerAddressFromHostname(host))
	if err != nil {
		return auth.EmptyCredential, fmt.Errorf("the program docker-credential-%s has no credentials for %s", name, host)
	}
	return cred, nil
}
