// Package cliconfig reads the command line's configuration files, such as ~/.tofurc: where providers come
// from, credentials of services, and other settings of a user rather than of a configuration.
//
// It may import addr, diag and HCL's packages. It must not know how providers are installed, nor talk to any
// service.
package cliconfig

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/addr"
)

// Config is the merged content of the configuration files and of the environment variables that override
// them. The zero value is the default configuration.
type Config struct {
	// Files are the files that were read, in order.
	Files []string

	// PluginCacheDir is the directory shared by all working directories, "" for none. It must exist to be
	// used.
	PluginCacheDir string
	// PluginCacheMayBreakLockFile permits packages of the cache without a checksum in the lock file.
	PluginCacheMayBreakLockFile bool

	DisableCheckpoint          bool
	DisableCheckpointSignature bool

	// Credentials holds the tokens of credentials blocks; TF_TOKEN_* variables have replaced those of the
	// same host.
	Credentials map[svchost.Hostname]Secret
	// TokenOrigins says where each of the Credentials is from: the path of a file, or the name of a variable.
	TokenOrigins      map[svchost.Hostname]string
	CredentialsHelper *CredentialsHelper
	Hosts             map[svchost.Hostname]Host

	// Installation is the content of the provider_installation block, nil if there is none: then the implied
	// methods apply.
	Installation *Installation
	// OCI holds what the oci_default_credentials and oci_credentials blocks say, by repository prefix; "" is
	// the default.
	OCI map[string]OCICredentials
	// Retries and TimeoutSeconds are the settings of the registry_protocols block, 0 for the defaults.
	Retries        int
	TimeoutSeconds int
}

// Secret is a token or password. It hides itself from every kind of formatting; Reveal gives the text.
type Secret struct{ text string }

// NewSecret returns a Secret that holds text.
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

// Host is a host block: it replaces service discovery for that host. Values are URLs, or objects for services
// such as login.
type Host struct {
	Services map[string]any
	Range    hcl.Range
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
	// Methods are tried for the providers that they allow; the newest version of all is taken, the first
	// method wins for equal versions.
	Methods []Method
	// DevOverrides are directories with packages under development, which are used without version or
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

// Method is one installation method.
type Method struct {
	Kind Kind
	// Path is the directory of a filesystem mirror, as written.
	Path string
	// URL is the base address of a network mirror. It may have a password in it: show it with Location.
	URL Secret
	// RepositoryTemplate gives the repository of an OCI mirror from the variables hostname, namespace and
	// type.
	RepositoryTemplate hcl.Expression
	Retries            int // download_retry_count, 0 for the default
	Include, Exclude   []Pattern
	Range              hcl.Range
}

// Allows reports whether the method may be used for p. Exclusion beats inclusion.
func (m Method) Allows(p addr.Provider) bool {
	for _, x := range m.Exclude {
		if x.Matches(p) {
			return false
		}
	}
	for _, x := range m.Include {
		if x.Matches(p) {
			return true
		}
	}
	return m.Include == nil
}
