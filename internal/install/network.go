package install

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/credential"
	"github.com/mayfly-iac/mayfly/internal/install/netmirror"
	"github.com/mayfly-iac/mayfly/internal/install/ocimirror"
	"github.com/mayfly-iac/mayfly/internal/install/registry"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// Network creates the sources that use the network, from the user's settings. Nothing is sent before a
// source is used.
type Network struct {
	// Config is the CLI configuration; nil means the defaults.
	Config *cliconfig.Config
	Env    cliconfig.Environment
	// Compatible is the engine that requests name, zero for the default.
	Compatible compat.Engine
	// Transport carries out HTTP requests; nil means the default transport.
	Transport http.RoundTripper
	// Pause is the first pause between attempts, 0 for the default.
	Pause time.Duration

	creds svcauth.CredentialsSource
}

// Sources returns the installation methods of a configuration. If it names none, these are the usual
// directories that exist and, for providers in none of these, each provider's own registry.
func (n *Network) Sources() ([]Source, diag.List) {
	if n.Config == nil || n.Config.Installation == nil {
		local := MirrorDirs(existing(n.Env.ImpliedMirrors())...)
		direct, diags := n.Direct()
		return append(local, &beyond{direct, local}), diags
	}
	var out []Source
	var diags diag.List
	for _, m := range n.Config.Installation.Methods {
		s, ds := n.Source(m)
		if diags = append(diags, ds...); !ds.HasErrors() {
			out = append(out, s)
		}
	}
	return out, diags
}

// Source returns the source for an installation method.
func (n *Network) Source(m cliconfig.Method) (Source, diag.List) {
	if m.Kind == cliconfig.FilesystemMirror {
		return &mirror{Dir: m.Path, Method: m}, nil
	}
	client, diags := n.client(m)
	if diags.HasErrors() {
		return nil, diags
	}
	switch m.Kind {
	case cliconfig.NetworkMirror:
		mirror, err := netmirror.New(client, m.URL.Reveal(), n.credentials())
		if err != nil {
			return nil, diag.Errorf("Invalid network mirror", "%s", diag.Sentence(err))
		}
		return newNetworkSource(m, mirror), nil
	case cliconfig.OCIMirror:
		var blocks map[string]cliconfig.OCICredentials
		if n.Config != nil {
			blocks = n.Config.OCI
		}
		return newOCISource(m, ocimirror.New(client, m.RepositoryTemplate, ocimirror.NewKeyring(blocks, n.Env))), nil
	}
	var hosts map[svchost.Hostname]cliconfig.Host
	if n.Config != nil {
		hosts = n.Config.Hosts
	}
	policy := registry.Policy{Signed: n.truth("OPENTOFU_ENFORCE_GPG_VALIDATION"), FreshKeys: n.truth("OPENTOFU_ENFORCE_GPG_EXPIRATION")}
	return &registrySource{method: m, client: registry.New(client, n.credentials(), hosts, policy)}, nil
}

// Direct returns the source that takes each provider from its own registry.
func (n *Network) Direct() (Source, diag.List) {
	return n.Source(cliconfig.Method{Kind: cliconfig.Direct})
}

// Mirror returns the source for the network mirror at an address.
func (n *Network) Mirror(url string) (Source, diag.List) {
	return n.Source(cliconfig.Method{Kind: cliconfig.NetworkMirror, URL: cliconfig.NewSecret(url)})
}

// OCIMirror returns the source for the OCI mirror in which a URI template gives the repositories of
// providers.
func (n *Network) OCIMirror(template string, providers []addr.Provider) (Source, diag.List) {
	m, err := cliconfig.OCIMethod(template, providers)
	if err != nil {
		return nil, diag.Errorf("Invalid OCI mirror", "%s", diag.Sentence(err))
	}
	return n.Source(m)
}

// credentials returns the source of tokens, the same for all clients, so that a helper is asked once for
// each host.
func (n *Network) credentials() svcauth.CredentialsSource {
	if n.creds == nil {
		n.creds = credential.Source(n.Config, n.Env)
	}
	return n.creds
}

// truth reports whether an environment variable is set to a true value; anything that is not a boolean is
// false.
func (n *Network) truth(name string) bool {
	v, err := strconv.ParseBool(n.Env.Vars[name])
	return err == nil && v
}

// The defaults of numbers that the user can set.
const (
	usualRetries         = 1
	usualDownloadRetries = 2
)

// client returns the HTTP client for a method.
func (n *Network) client(m cliconfig.Method) (*web.Client, diag.List) {
	retries, seconds := usualRetries, 0
	downloads := usualDownloadRetries
	if c := n.Config; c != nil {
		retries, seconds = orElse(c.Retries, retries), c.TimeoutSeconds
	}
	var diags diag.List
	for _, v := range []struct {
		name string
		to   *int
	}{{"TF_REGISTRY_DISCOVERY_RETRY", &retries}, {"TF_REGISTRY_CLIENT_TIMEOUT", &seconds}, {"TF_PROVIDER_DOWNLOAD_RETRY", &downloads}} {
		text := n.Env.Vars[v.name]
		if text == "" {
			continue
		}
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || number < 0 || number > 1<<20 {
			diags = append(diags, diag.Errorf("Invalid environment variable", "The environment variable %s must be a whole number that is not negative. Correct or unset it.", v.name)...)
			continue
		}
		*v.to = number
	}
	return web.New(web.Options{
		Transport: n.Transport, Retries: retries, Timeout: time.Duration(seconds) * time.Second, DownloadRetries: orElse(m.Retries, downloads), Wait: n.Pause,
		Engine: n.Compatible, UserAgent: n.Env.Vars["TF_APPEND_USER_AGENT"],
	}), diags
}

// orElse returns n, or the fallback if n is zero: not set.
func orElse(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

// beyond is a source for providers that are in none of some local directories: a user who puts a provider
// there wants that one.
type beyond struct {
	Source
	local []Source
}

// Allows implements Source.
func (b *beyond) Allows(p addr.Provider) bool {
	for _, s := range b.local {
		if m, ok := s.(*mirror); ok && m.has(p) {
			return false
		}
	}
	return b.Source.Allows(p)
}

// Warnings implements warner.
func (b *beyond) Warnings(p addr.Provider) []string {
	if w, ok := b.Source.(warner); ok {
		return w.Warnings(p)
	}
	return nil
}
