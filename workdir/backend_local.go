package workdir

import (
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// localBackend keeps states in files of this machine.
var localBackend = backendKind{
	arguments: map[string]cty.Type{"path": cty.String, "workspace_dir": cty.String},
	open: func(cfg cty.Value, files StateFiles, c store.Cipher) (store.Store, error) {
		return local.New(local.Options{
			Path: localPath(cfg, "path", ""), WorkspaceDir: localPath(cfg, "workspace_dir", ""),
			State: files.State, StateOut: files.Out, Backup: files.Backup, Stamp: files.Stamp, Cipher: c,
		}), nil
	},
	place: func(cfg cty.Value) string { return filepath.Clean(localPath(cfg, "path", local.DefaultPath)) },
	identity: func(cfg cty.Value) string {
		dir := filepath.Clean(localPath(cfg, "workspace_dir", local.DefaultWorkspaceDir))
		return filepath.Clean(localPath(cfg, "path", local.DefaultPath)) + string(filepath.ListSeparator) + dir
	},
}

// localPath returns an argument of a local backend, or else the text otherwise.
func localPath(cfg cty.Value, name, otherwise string) string {
	if cfg.IsNull() || cfg.GetAttr(name).IsNull() {
		return otherwise
	}
	return cfg.GetAttr(name).AsString()
}
