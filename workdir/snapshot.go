package workdir

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/modules"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// snapshot is the configuration files in a saved plan. It implements config.FS.
type snapshot map[string][]byte

// ReadFile implements config.FS.
func (s snapshot) ReadFile(name string) ([]byte, error) {
	src, ok := s[path.Clean(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return src, nil
}

// ReadDir implements config.FS. A directory that the plan has no files of was there without configuration
// files when it was made.
func (s snapshot) ReadDir(name string) ([]fs.DirEntry, error) {
	name = path.Clean(name)
	var out []fs.DirEntry
	for file, src := range s {
		if path.Dir(path.Clean(file)) == name {
			out = append(out, fs.FileInfoToDirEntry(snapshotFile{path.Base(file), int64(len(src))}))
		}
	}
	return out, nil
}

// snapshotFile implements fs.FileInfo.
type snapshotFile struct {
	name string
	size int64
}

func (f snapshotFile) Name() string       { return f.name }
func (f snapshotFile) Size() int64        { return f.size }
func (f snapshotFile) Mode() fs.FileMode  { return 0o444 }
func (f snapshotFile) ModTime() time.Time { return time.Time{} }
func (f snapshotFile) IsDir() bool        { return false }
func (f snapshotFile) Sys() any           { return nil }

// recordedModules finds the directories of modules by the manifest in a saved plan.
func recordedModules(manifest []byte) func(*config.Module, *config.ModuleCall) (string, diag.List) {
	return func(parent *config.Module, call *config.ModuleCall) (string, diag.List) {
		var m struct{ Modules []modules.Record }
		if len(manifest) > 0 {
			if err := json.Unmarshal(manifest, &m); err != nil {
				return "", unloadable("The list of modules in the saved plan cannot be read: %s.", err)
			}
		}
		key := strings.Join(append(parent.Path.Calls(), call.Name), ".")
		for _, r := range m.Modules {
			if r.Key == key {
				return r.Dir, nil
			}
		}
		return "", unloadable("The saved plan does not say where module %q is.", key)
	}
}
