// Package credential finds tokens for services: in the CLI configuration, which includes tokens of the
// environment, and with the user's credentials helper.
//
// It may import the CLI configuration and the service discovery library's credentials. It must not know the
// uses of tokens.
package credential

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/childenv"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
)

// Source returns the source of tokens: first the configuration's, then the helper's. cfg may be nil. It is
// safe for concurrent use.
func Source(cfg *cliconfig.Config, env cliconfig.Environment) svcauth.CredentialsSource {
	if cfg == nil {
		return svcauth.NoCredentials
	}
	static := map[svchost.Hostname]svcauth.HostCredentials{}
	for host, token := range cfg.Credentials {
		static[host] = svcauth.HostCredentialsToken(token.Reveal())
	}
	all := svcauth.Credentials{svcauth.StaticCredentialsSource(static)}
	if cfg.CredentialsHelper != nil {
		all = append(all, svcauth.CachingCredentialsSource(&helper{block: cfg.CredentialsHelper, dirs: helperDirs(env), env: env}))
	}
	return &locked{source: all}
}

// locked makes a source safe for concurrent use; the library's are not.
type locked struct {
	mu     sync.Mutex
	source svcauth.CredentialsSource
}

// ForHost implements svcauth.CredentialsSource.
func (l *locked) ForHost(ctx context.Context, host svchost.Hostname) (svcauth.HostCredentials, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.ForHost(ctx, host)
}

// helper is an external program that speaks the credentials helper protocol: "PROGRAM ARGS... get HOST"
// writes a JSON object with a token.
type helper struct {
	block *cliconfig.CredentialsHelper
	dirs  []string
	env   cliconfig.Environment
}

// helperTimeout is how long a helper may take: it may ask its user for something.
const helperTimeout = time.Minute

// ForHost implements svcauth.CredentialsSource. The program's output is never shown, since it may contain
// the token.
func (h *helper) ForHost(ctx context.Context, host svchost.Hostname) (svcauth.HostCredentials, error) {
	program, err := h.find()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(append([]string{}, h.block.Args...), "get", host.String())...)
	cmd.Env = trace.Environ(ctx, childenv.WithoutVariables(os.Environ()))
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the credentials helper %q, configured at %s, gave no answer for %s: %w; to see its output, run %s with the arguments \"get %s\"",
			h.block.Name, diag.Place(h.block.Range), host.ForDisplay(), err, program, host)
	}
	var answer struct{ Token string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, fmt.Errorf("the credentials helper %q, configured at %s, did not answer with a JSON object for %s", h.block.Name, diag.Place(h.block.Range), host.ForDisplay())
	}
	if answer.Token == "" {
		return nil, nil
	}
	return svcauth.HostCredentialsToken(answer.Token), nil
}

// find returns the path of the program.
func (h *helper) find() (string, error) {
	name := "terraform-credentials-" + h.block.Name
	if h.env.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range h.dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("the credentials helper %q, configured at %s, is not installed: no program %s is in %v", h.block.Name, diag.Place(h.block.Range), name, h.dirs)
}

// helperDirs are the directories where helpers are installed by convention.
func helperDirs(env cliconfig.Environment) []string {
	var dirs []string
	for _, dir := range slices.Compact([]string{env.ConfigDir(), env.HomeDir()}) {
		if dir == "" {
			continue
		}
		plugins := filepath.Join(dir, "plugins")
		dirs = append(dirs, plugins, filepath.Join(plugins, runtime.GOOS+"_"+runtime.GOARCH))
	}
	return dirs
}
