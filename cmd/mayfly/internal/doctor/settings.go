package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/credential"
)

// settings looks at the files of the CLI configuration.
func (x *examination) settings() {
	g := x.group("cli_configuration", "CLI configuration")
	var diags diag.List
	x.network, diags = x.Dir.Packages.Network()
	x.config, x.env, x.damaged = x.network.Config, x.network.Env, diags.HasErrors()
	main, explicit := x.env.MainFile()
	variable := "TF_CLI_CONFIG_FILE"
	if x.Vars[variable] == "" {
		variable = "TERRAFORM_CONFIG"
	}
	for _, file := range x.config.Files {
		switch {
		case file != main:
			g.add(ok(file, "read from the directory of the CLI configuration"))
		case explicit:
			g.add(ok(file, "named by %s", variable))
		default:
			g.add(ok(file, "in its usual place"))
		}
	}
	if len(x.config.Files) == 0 && len(diags) == 0 {
		g.add(ok("files", "none; the defaults apply"))
	}
	if missing := explicit && !slices.Contains(x.config.Files, main); missing && !diags.HasErrors() {
		g.add(problem(main, fmt.Sprintf("named by %s, but it does not exist, so the defaults apply", variable), "Correct the environment variable "+variable+", or unset it."))
		return
	}
	g.add(of("files", diags, "Correct the file. What is wrong in it keeps init from installing anything.")...)
}

// cache looks at the plugin cache.
func (x *examination) cache() {
	dir := x.config.PluginCacheDir
	if dir == "" {
		return
	}
	g := x.group("plugin_cache", "Plugin cache")
	from := "set by plugin_cache_dir"
	if x.Vars["TF_PLUGIN_CACHE_DIR"] != "" {
		from = "set by TF_PLUGIN_CACHE_DIR"
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		g.add(problem(dir, from+", but it cannot be used: "+diag.Reason(err), "Create the directory, as in: mkdir -p "+diag.Argument(dir)))
	case !info.IsDir():
		g.add(problem(dir, from+", but it is not a directory", "Name another directory, and create it."))
	case !writable(dir):
		g.add(problem(dir, from+", but nothing can be written into it", "Let the user of this run write into it, or name another directory."))
	default:
		g.add(ok(dir, "%s; it can be written", from))
	}
}

// proxyVariables are the variables that HTTP requests obey, in capitals and not.
var proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY"}

// proxies looks at the proxies, and at settings that replace the certificates of the system.
func (x *examination) proxies() {
	g := x.group("network", "Network")
	none := true
	for _, capitals := range proxyVariables {
		name, value := x.either(capitals)
		if value == "" {
			continue
		}
		none = false
		x.proxy(g, name, value)
	}
	if name, value := x.either("NO_PROXY"); value != "" && !none {
		g.add(ok(name, "no proxy for %s", value))
	}
	if none {
		g.add(ok("proxies", "none"))
	}
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		path := x.Vars[name]
		if path == "" {
			continue
		}
		if err := readable(path); err != nil && name == "SSL_CERT_FILE" {
			g.add(problem(name, fmt.Sprintf("the certificates in %s cannot be read: %s", path, diag.Reason(err)), "Correct the variable, or unset it to trust the certificates of the system."))
			continue
		}
		g.add(ok(name, "%s, in place of the certificates of the system", path))
	}
}

// either returns a variable that may be written in capitals or not.
func (x *examination) either(capitals string) (name, value string) {
	if v := x.Vars[capitals]; v != "" {
		return capitals, v
	}
	small := strings.ToLower(capitals)
	return small, x.Vars[small]
}

// proxy looks at one proxy. Its user and password are not shown.
func (x *examination) proxy(g *group, name, value string) {
	u, ok := parseProxy(value)
	if !ok {
		g.add(problem(name, "it is not the address of a proxy", "Write it as http://HOST:PORT."))
		return
	}
	shown := u.Scheme + "://" + u.Host
	wayOut := "Start the proxy or correct " + name + ". Hosts that need no proxy go into NO_PROXY."
	g.later(name, wayOut, func(ctx context.Context) []Finding {
		start := time.Now()
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(u))
		if err != nil {
			return []Finding{problem(name, fmt.Sprintf("the proxy %s cannot be reached: %s", shown, x.failure(ctx, err)), wayOut).took(start)}
		}
		_ = conn.Close() // nothing was sent
		return []Finding{okay(name, shown).took(start)}
	})
}

// okay is ok with a text that is taken as it is.
func okay(subject, text string) Finding { return ok(subject, "%s", text) }

// parseProxy reads the address of a proxy, whose scheme may be left out.
func parseProxy(value string) (*url.URL, bool) {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	return u, err == nil && u.Hostname() != "" && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)
}

// hostPort returns the host and port to connect to for an address.
func hostPort(u *url.URL) string {
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme], "80")
	return net.JoinHostPort(u.Hostname(), port)
}

// credentials says for which hosts there are tokens, and from where.
func (x *examination) credentials() {
	g := x.group("credentials", "Credentials")
	for _, host := range slices.SortedFunc(maps.Keys(x.config.TokenOrigins), byName) {
		origin := x.config.TokenOrigins[host]
		if others := shared(origin); others != "" {
			g.add(note(host.ForDisplay(), "a token from %s, %s", origin, others))
			continue
		}
		g.add(ok(host.ForDisplay(), "a token from %s", origin))
	}
	for _, prefix := range slices.Sorted(maps.Keys(x.config.OCI)) {
		block := x.config.OCI[prefix]
		subject := prefix
		if prefix == "" {
			subject = "all OCI repositories"
		}
		g.add(ok(subject, "credentials of the block at %s", filepath.ToSlash(diag.Place(block.Range))))
	}
	x.helper(g)
	if len(g.tasks) == 0 {
		g.add(ok("hosts", "no credentials"))
	}
}

// helper asks the credentials helper for the hosts that are needed and have no other token.
func (x *examination) helper(g *group) {
	if x.config.CredentialsHelper == nil {
		return
	}
	subject := fmt.Sprintf("credentials helper %q", x.config.CredentialsHelper.Name)
	const wayOut = "Install the helper, or log in to its service, or remove the credentials_helper block."
	keeper, err := credential.NewKeeper(x.config, x.env)
	if err != nil {
		g.add(problem(subject, err.Error(), wayOut))
		return
	}
	hosts := slices.DeleteFunc(x.needs.hosts(), func(h svchost.Hostname) bool { return x.config.TokenOrigins[h] != "" })
	if len(hosts) == 0 {
		g.add(ok(subject, "no host needs it"))
	}
	for _, host := range hosts {
		g.later(subject, wayOut, func(ctx context.Context) []Finding {
			start := time.Now()
			has, err := keeper.Has(ctx, host)
			switch {
			case err != nil:
				return []Finding{problem(subject, x.failure(ctx, err), wayOut).took(start)}
			case !has:
				return []Finding{ok(subject, "no token for %s", host.ForDisplay()).took(start)}
			default:
				return []Finding{ok(subject, "a token for %s", host.ForDisplay()).took(start)}
			}
		})
	}
}

func byName(a, b svchost.Hostname) int { return strings.Compare(a.String(), b.String()) }

// readable returns an error if a file or directory cannot be opened.
func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}
