package cliconfig

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opentofu/svchost"
)

// Environment determines where files are looked for. Its methods don't change it.
type Environment struct {
	Vars map[string]string
	Home string // "" if unknown
	GOOS string
}

// windows reports whether files are in the places of Windows.
func (e Environment) windows() bool { return e.GOOS == "windows" }

// MainFile returns the path of the user's configuration file, or "" if there is none, and whether an
// environment variable names it.
func (e Environment) MainFile() (path string, explicit bool) {
	for _, name := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if p := e.Vars[name]; p != "" {
			return p, true
		}
	}
	for _, path := range e.candidates() {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, false
		}
	}
	return "", false
}

// candidates returns the places where the main file may be. The first that exists is read.
func (e Environment) candidates() []string {
	if e.windows() {
		if dir := e.Vars["APPDATA"]; dir != "" {
			return []string{filepath.Join(dir, "tofu.rc"), filepath.Join(dir, "terraform.rc")}
		}
		return nil
	}
	var paths []string
	if e.Home != "" {
		paths = append(paths, filepath.Join(e.Home, ".tofurc"), filepath.Join(e.Home, ".terraformrc"))
	}
	if dir := e.xdgConfigDir(); dir != "" {
		paths = append(paths, filepath.Join(dir, "tofurc"))
	}
	return paths
}

// xdgConfigDir returns the configuration directory below XDG_CONFIG_HOME, or "" if the variable is not set:
// like other programs, it ignores the variable's default.
func (e Environment) xdgConfigDir() string {
	if dir := e.Vars["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "opentofu")
	}
	return ""
}

// xdg returns the directory named by the variable, or its default below the home directory.
func (e Environment) xdg(name, fallback string) string {
	if dir := e.Vars[name]; filepath.IsAbs(dir) {
		return dir
	}
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, fallback)
}

// ConfigDir returns the directory of further configuration files and of stored tokens, or "" if unknown. If
// XDG_CONFIG_HOME is set and the older directory does not exist, it is below the former.
func (e Environment) ConfigDir() string {
	old := e.HomeDir()
	if dir := e.xdgConfigDir(); dir != "" && !e.windows() {
		if info, err := os.Stat(old); old == "" || err != nil || !info.IsDir() {
			return dir
		}
	}
	return old
}

// HomeDir returns the older kind of directory, which by convention also contains providers and credentials
// helpers, or "" if unknown.
func (e Environment) HomeDir() string {
	if e.windows() {
		if dir := e.Vars["APPDATA"]; dir != "" {
			return filepath.Join(dir, "terraform.d")
		}
		return ""
	}
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, ".terraform.d")
}

// CredentialsFile returns the path of the file in which the login command stores tokens, or "" if unknown.
// It is read as one of the files in the directory.
func (e Environment) CredentialsFile() string {
	if dir := e.ConfigDir(); dir != "" {
		return filepath.Join(dir, "credentials.tfrc.json")
	}
	return ""
}

// ImpliedMirrors returns the directories that, if they exist, are filesystem mirrors unless a
// provider_installation block says otherwise, in order of preference. The first is relative to the working
// directory.
func (e Environment) ImpliedMirrors() []string {
	dirs := []string{filepath.Join("terraform.d", "plugins")}
	if dir := e.HomeDir(); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "plugins"))
	}
	switch e.GOOS {
	case "windows":
		if dir := e.Vars["APPDATA"]; dir != "" {
			dirs = append(dirs, filepath.Join(dir, "HashiCorp", "Terraform", "plugins"))
		}
	case "darwin", "ios":
		const sub = "Library/Application Support/io.terraform/plugins"
		if e.Home != "" {
			dirs = append(dirs, filepath.Join(e.Home, sub))
		}
		dirs = append(dirs, "/"+sub)
	default:
		for _, base := range e.xdgDataDirs() {
			dirs = append(dirs, filepath.Join(base, "opentofu", "plugins"), filepath.Join(base, "terraform", "plugins"))
		}
	}
	return dirs
}

// xdgDataDirs returns the data directories of the user and of the system, in order of preference.
func (e Environment) xdgDataDirs() []string {
	var dirs []string
	if dir := e.xdg("XDG_DATA_HOME", filepath.Join(".local", "share")); dir != "" {
		dirs = append(dirs, dir)
	}
	list := cmp.Or(e.Vars["XDG_DATA_DIRS"], "/usr/local/share:/usr/share")
	relative := func(dir string) bool { return !filepath.IsAbs(dir) }
	return append(dirs, slices.DeleteFunc(strings.Split(list, ":"), relative)...)
}

// expand replaces $NAME and ${NAME} by the variables' values.
func (e Environment) expand(s string) string {
	return os.Expand(s, func(name string) string { return e.Vars[name] })
}

const tokenPrefix = "TF_TOKEN_"

// tokens returns the credentials in TF_TOKEN_* variables. In their names, an underscore represents a dot
// and two a dash.
//
//	TF_TOKEN_app_example__corp_com  →  app.example-corp.com
func (e Environment) tokens() map[svchost.Hostname]Secret {
	tokens := map[svchost.Hostname]Secret{}
	for name, token := range e.Vars {
		rest, ok := strings.CutPrefix(name, tokenPrefix)
		if !ok || token == "" {
			continue
		}
		rest = strings.ReplaceAll(strings.ReplaceAll(rest, "__", "-"), "_", ".")
		if host, err := svchost.ForComparison(rest); err == nil {
			tokens[host] = NewSecret(token)
		}
	}
	return tokens
}

// TokenVariable returns the name of the environment variable for a host's token.
func TokenVariable(host svchost.Hostname) string {
	return tokenPrefix + strings.ReplaceAll(strings.ReplaceAll(host.String(), "-", "__"), ".", "_")
}
