package modules

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Installed returns a function that finds the directories of installed modules, for config.Loader. It reads
// the manifest on first use.
func Installed(dataDir string) func(parent *config.Module, call *config.ModuleCall) (string, diag.List) {
	var records map[string]Record
	return func(parent *config.Module, call *config.ModuleCall) (string, diag.List) {
		if records == nil {
			list, diags := read(dataDir)
			if diags.HasErrors() {
				return "", diags
			}
			records = byKey(list)
		}
		a, diags := parse(call)
		if diags.HasErrors() {
			return "", diags
		}
		r, ok := records[key(parent, call)]
		switch {
		case !ok || !isDir(r.Dir):
			return "", diag.At(call.SrcRange, "Module not installed", "Module %q is not installed yet. Run \"mayfly init\" to install all modules of this configuration.", call.Name)
		case r.Source != a.String():
			return "", diag.At(call.SrcRange, "Module source has changed", "Module %q was installed from another source. Run \"mayfly init\" to install it from this one.", call.Name)
		case a.registry != nil && !r.satisfies(call):
			return "", diag.At(call.SrcRange, "Module version requirements have changed",
				"Version %s of module %q is installed, but its constraint %q no longer allows that version. Run \"mayfly init\" to install another one.", r.Version, call.Name, call.Version.Text)
		}
		return r.Dir, nil
	}
}

func (r Record) satisfies(call *config.ModuleCall) bool {
	v, err := version.NewVersion(r.Version)
	return err == nil && (allows(call.Version.Text, v) || call.Version.Text == "")
}

func byKey(list []Record) map[string]Record {
	out := make(map[string]Record, len(list))
	for _, r := range list {
		out[r.Key] = r
	}
	return out
}

// key returns the manifest's key for the module of a call.
func key(parent *config.Module, call *config.ModuleCall) string {
	return strings.Join(append(parent.Path.Calls(), call.Name), ".")
}

func isDir(name string) bool {
	info, err := os.Stat(filepath.FromSlash(name))
	return err == nil && info.IsDir()
}
