// Package modules installs the modules that a configuration calls, and finds them again: each package below
// the data directory, and a manifest of their places. The manifest and the layout are the same as in other
// engines.
//
// Start reading at Installer.Install; Installed is used to load a configuration afterwards. It may import
// config, and fetch for addresses of packages. It must not know how packages are downloaded, nor how the
// configuration is used.
package modules

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// Record is an entry of the module manifest: the place of a called module.
type Record struct {
	Key     string // names of the calls from the root, joined by dots; "" for the root
	Source  string
	Version string `json:",omitempty"`
	Dir     string // slash separated, relative to the working directory
}

// manifest is the JSON form of the file.
type manifest struct{ Modules []Record }

func manifestPath(dataDir string) string { return filepath.Join(dataDir, "modules", "modules.json") }

// cleanSource shortens a local source but keeps its leading "./".
func cleanSource(source string) string {
	clean := path.Clean(strings.ReplaceAll(source, `\`, "/"))
	if clean != ".." && !strings.HasPrefix(clean, "../") && clean != "." {
		return "./" + clean
	}
	return clean
}

// maxManifest is the maximum size of the module manifest, in bytes.
const maxManifest = 256 << 20

// read reads the module manifest in the data directory; a missing one has no records.
func read(dataDir string) ([]Record, diag.List) {
	file := manifestPath(dataDir)
	src, err := safefile.Read(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var m manifest
	if err == nil {
		err = json.Unmarshal(src, &m)
	}
	if err != nil {
		return nil, diag.Errorf("Failed to read the module manifest",
			"The file %s, which records where modules are installed, could not be read: %s. Remove it and run \"mayfly init\".", file, diag.Reason(err))
	}
	for i, r := range m.Modules {
		m.Modules[i].Dir = path.Clean(filepath.ToSlash(r.Dir))
	}
	return m.Modules, nil
}

// write writes the module manifest, unless it would not change, or would be new and contain only the root
// module.
func write(dataDir string, records []Record) error {
	file := manifestPath(dataDir)
	failed := func(err error) error {
		return fmt.Errorf("the file %s, which records where modules are installed, could not be written: %s", file, diag.Reason(err))
	}
	old, err := safefile.Read(file, maxManifest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(err)
	}
	if err != nil && len(records) <= 1 {
		return nil
	}
	records = slices.SortedFunc(slices.Values(records), func(a, b Record) int { return strings.Compare(a.Key, b.Key) })
	src, err := json.Marshal(manifest{records})
	if err != nil {
		return failed(err)
	}
	if string(src) == string(old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return failed(err)
	}
	if err := safefile.Replace(file, src); err != nil {
		return failed(err)
	}
	return nil
}
