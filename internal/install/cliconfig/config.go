// Package cliconfig reads the CLI configuration files, such as ~/.tofurc: where providers come from,
// credentials for services, and other settings that belong to a user rather than to a configuration.
//
// It may import addr, diag and HCL's packages. It must not know how providers are installed, nor contact
// any service.
package cliconfig

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
)

// Config is the merged content of the configuration files and of the environment variables that override
// them. The zero value is the default configuration.
type Config struct {
	// Files are the files that were read, in order.
	Files []string

	// PluginCacheDir is the plugin cache shared by all working directories, "" for none. It is used only if
	// it exists.
	PluginCacheDir string
	// PluginCacheMayBreakLockFile permits packages from the cache that have no checksum in the lock file.
	PluginCacheMayBreakLockFile bool

	// Compatible is the engine that the program is taken for, zero if no file says so.
	Compatible compat.Engine

	DisableCheckpoint          bool
	DisableCheckpointSignature bool

	// Credentials has the tokens of credentials blocks, replaced by TF_TOKEN_* variables for the same host.
	Credentials map[svchost.Hostname]Secret
	// TokenOrigins has the source of each of the Credentials: the path of a file, or the name of a
	// variable.
	TokenOrigins      map[svchost.Hostname]string
	CredentialsHelper *CredentialsHelper
	Hosts             map[svchost.Hostname]Host

	// Installation is the content of the provider_installation block. If it is nil, the implied methods
	// apply.
	Installation *Installation
	// OCI has the oci_default_credentials and oci_credentials blocks by repository prefix; "" is the
	// default.
	OCI map[string]OCICredentials
	// Retries and TimeoutSeconds are the settings of the registry_protocols block, 0 for the defaults.
	Retries        int
	TimeoutSeconds int
}

// NoEngine is the Extra of the diagnostic about an invalid compatibility argument.
type NoEngine struct{}

// Secret is a token or password that is hidden from every kind of formatting.
type Secret struct{ text string }

// NewSecret returns a Secret with a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the secret text, for the one request that needs it.
func (s Secret) Reveal() string { return s.text }

// String returns a placeholder.
func (s Secret) String() string { return "(sensitive value)" }

// GoString returns a placeholder.
func (s Secret) GoString() string { return s.String() }

// MarshalText returns a placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// CredentialsHelper is a credentials_helper block: an external program that keeps tokens.
type CredentialsHelper struct {
	Name  string
	Args  []string
	Range hcl.Range
}

// Host is a host block, which replaces service discovery for that host. Values are URLs, or objects for
// services such as login.
type Host struct {
	Services map[string]any
}

// OCICredentials is an oci_credentials or oci_default_credentials block.
type OCICredentials struct {
	Username, Password        Secret
	AccessToken, RefreshToken Secret
	DockerHelper              string
	DiscoverAmbient           bool
	DockerConfigFiles         []string
	Range                     hcl.Range
}

// Installation is a provider_installation block.
type Installation struct {
	// Methods are tried for the providers that they allow. The newest version found is used; if several
	// have it, the first method.
	Methods []Method
	// DevOverrides are directories of packages under development, which are used without a version or
	// checksum.
	DevOverrides map[addr.Provider]string
	Range        hcl.Range
}

// Kind is a kind of installation method.
type Kind string

// The kinds of installation methods, by their block types.
const (
	FilesystemMirror Kind = "filesystem_mirror"
	NetworkMirror    Kind = "network_mirror"
	OCIMirror        Kind = "oci_mirror"
	Direct           Kind = "direct"
)

// Method is one installation method. The sources that it describes are made by package install.
type Method struct {
	Kind Kind
	// Path is the directory of a filesystem mirror, as written.
	Path string
	// URL is the base address of a network mirror. It may contain a password: show it with Location.
	URL Secret
	// RepositoryTemplate gives the repository of an OCI mirror from the variables hostname, namespace and
	// type.
	RepositoryTemplate hcl.Expression
	Retries            int // download_retry_count, 0 for the default
	Include, Exclude   []Pattern
	Range              hcl.Range
}

// Allows reports whether the method may be used for p. Exclusion takes precedence over inclusion.
func (m Method) Allows(p addr.Provider) bool {
	matches := func(x Pattern) bool { return x.Matches(p) }
	return !slices.ContainsFunc(m.Exclude, matches) && (m.Include == nil || slices.ContainsFunc(m.Include, matches))
}
