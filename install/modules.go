package install

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

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install/internal/atomicfile"
)

// ModuleRecord is an entry of the module manifest: where the content of a module call lies.
type ModuleRecord struct {
	Key     string // names of the calls from the root, joined by dots; "" for the root
	Source  string
	Version string `json:",omitempty"`
	Dir     string // slash separated, relative to the working directory
}

type manifest struct{ Modules []ModuleRecord }

func manifestPath(dataDir string) string { return filepath.Join(dataDir, "modules", "modules.json") }

// ModuleRecords lists the modules of a tree, sorted by key. Their sources are as written, but local ones in their shortest form.
func ModuleRecords(tree *config.Tree) []ModuleRecord {
	var out []ModuleRecord
	for _, m := range tree.Modules {
		r := ModuleRecord{Key: strings.Join(m.Path.Calls(), "."), Dir: m.Dir}
		if m.Call != nil {
			r.Source = m.Call.Source
			if m.Call.Local() {
				r.Source = cleanSource(m.Call.Source)
			}
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b ModuleRecord) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// cleanSource shortens a local source and keeps the leading "./" that makes it one.
func cleanSource(source string) string {
	clean := path.Clean(strings.ReplaceAll(source, `\`, "/"))
	if clean != ".." && !strings.HasPrefix(clean, "../") && clean != "." {
		return "./" + clean
	}
	return clean
}

// ReadModules reads the module manifest in the data directory; a missing one has no records.
func ReadModules(dataDir string) ([]ModuleRecord, diag.List) {
	file := manifestPath(dataDir)
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var m manifest
	if err == nil {
		err = json.Unmarshal(src, &m)
	}
	if err != nil {
		return nil, diag.Errorf("Failed to read the module manifest",
			"The file %s, which says where modules are installed, could not be read: %s. Remove it and run \"mayfly init\".", file, err)
	}
	for i, r := range m.Modules {
		m.Modules[i].Dir = path.Clean(filepath.ToSlash(r.Dir))
	}
	return m.Modules, nil
}

// WriteModules writes the module manifest, unless there is nothing in it but the root module and no manifest yet, or it would not change.
func WriteModules(dataDir string, records []ModuleRecord) error {
	file := manifestPath(dataDir)
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("writing the module manifest: %w", err)
	}
	if err != nil && len(records) <= 1 {
		return nil
	}
	src, err := json.Marshal(manifest{records})
	if err != nil {
		return fmt.Errorf("writing the module manifest: %w", err)
	}
	if string(src) == string(old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("writing the module manifest: %w", err)
	}
	if err := atomicfile.Write(file, src); err != nil {
		return fmt.Errorf("writing the module manifest: %w", err)
	}
	return nil
}
