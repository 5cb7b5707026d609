package cliconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/install/internal/plainhcl"
)

// Load reads the configuration files named by env and applies the variables that override them. Unknown
// settings give warnings. With errors, the result has the settings that could be decoded. It is never nil.
// Diagnostics show lines of a file, without the values if it may contain passwords or tokens.
func Load(env Environment) (*Config, diag.List) {
	l := newLoader(env)
	path, explicit := env.MainFile()
	if path != "" {
		l.file(path, explicit)
	}
	if !explicit {
		l.dir(env.ConfigDir())
	}
	l.environment()
	return l.config, l.diags
}

// Parse reads one configuration file from memory, without applying the environment.
func Parse(src []byte, filename string, env Environment) (*Config, diag.List) {
	l := newLoader(env)
	l.parse(src, filename)
	return l.config, l.diags
}

// loader reads the files of one configuration in order and merges them.
type loader struct {
	env    Environment
	config *Config
	diags  diag.List
}

// newLoader returns a loader with an empty configuration, whose maps exist.
func newLoader(env Environment) *loader {
	return &loader{env: env, config: &Config{
		Credentials: map[svchost.Hostname]Secret{}, TokenOrigins: map[svchost.Hostname]string{}, Hosts: map[svchost.Hostname]Host{}, OCI: map[string]OCICredentials{},
	}}
}

// add records diagnostics and reports whether there are no errors among them.
func (l *loader) add(diags diag.List) bool {
	l.diags = append(l.diags, diags...)
	return !diags.HasErrors()
}

func (l *loader) errorAt(rng hcl.Range, summary, format string, args ...any) {
	l.add(diag.At(rng, summary, format, args...))
}

func (l *loader) warnAt(rng hcl.Range, summary, format string, args ...any) {
	l.add(diag.At(rng, summary, format, args...).AsWarnings())
}

// file reads one file. One that an environment variable names may be a pipe, and its absence is only worth
// a warning.
func (l *loader) file(path string, explicit bool) {
	read := safefile.Read
	if explicit {
		read = safefile.ReadStream
	}
	src, err := read(path, plainhcl.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && explicit:
		l.add(diag.Warnf("Unable to open CLI configuration file",
			"The CLI configuration file at %q does not exist, so the defaults apply. Correct the environment variable TF_CLI_CONFIG_FILE, or unset it.", path))
	case err != nil:
		l.add(diag.Errorf("Unable to open CLI configuration file", "The CLI configuration file %q could not be read: %s.", path, diag.Reason(err)))
	default:
		l.parse(src, path)
	}
}

// dir reads the files in the configuration directory, where for example the login command stores tokens.
func (l *loader) dir(dir string) {
	if dir == "" {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.add(diag.Errorf("Error reading CLI configuration directory", "The directory %q could not be read: %s.", dir, diag.Reason(err)))
		}
		return
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".tfrc") || strings.HasSuffix(name, ".tfrc.json")) {
			l.file(filepath.Join(dir, name), false)
		}
	}
}

// parse reads the content of a file, in JSON if its name or its first character says so. The text that
// diagnostics show of it is covered as necessary.
func (l *loader) parse(src []byte, path string) {
	l.config.Files = append(l.config.Files, path)
	var body hcl.Body
	var diags diag.List
	if text := strings.TrimSpace(string(src)); strings.HasSuffix(path, ".json") || strings.HasPrefix(text, "{") {
		body, diags = plainhcl.ParseJSON(src, path)
	} else {
		body, diags = parseNative(src, path)
	}
	earlier := len(l.diags)
	if l.add(diags) {
		l.decode(body)
	}
	l.diags[earlier:].WithSource(path, cover(src))
}

// environment applies the variables that take precedence over files.
func (l *loader) environment() {
	c, vars := l.config, l.env.Vars
	if dir := vars["TF_PLUGIN_CACHE_DIR"]; dir != "" {
		c.PluginCacheDir = dir
	}
	if v := vars["TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE"]; v != "" && v != "0" {
		c.PluginCacheMayBreakLockFile = true
	}
	if vars["CHECKPOINT_DISABLE"] != "" {
		c.DisableCheckpoint = true
	}
	for host, token := range l.env.tokens() {
		c.Credentials[host], c.TokenOrigins[host] = token, TokenVariable(host)
	}
}
