package backend

import (
	"context"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// localKind keeps states in files of this machine. It is also what a configuration without a backend block
// has.
var localKind = declare(Local, arguments{"path": text().place().about("file of the default workspace's state; `terraform.tfstate` by default"), "workspace_dir": text().place().about("directory of the states of other workspaces; `terraform.tfstate.d` by default")}, nil)

func init() {
	localKind.service = service{
		open: func(_ context.Context, cfg cty.Value, env Env) (store.Store, error) {
			return local.New(local.Options{
				Dir: env.Dir, Path: textOr(cfg, "path", ""), WorkspaceDir: textOr(cfg, "workspace_dir", ""),
				State: env.Files.State, StateOut: env.Files.Out, Backup: env.Files.Backup, Stamp: env.Files.Stamp, Cipher: env.Cipher,
			}), nil
		},
		place: func(cfg cty.Value) string { return filepath.Clean(textOr(cfg, "path", local.DefaultPath)) },
		placeIn: func(cfg cty.Value, workspace string) string {
			return filepath.Join(textOr(cfg, "workspace_dir", local.DefaultWorkspaceDir), workspace, local.DefaultPath)
		},
		identity: func(cfg cty.Value) string {
			dir := filepath.Clean(textOr(cfg, "workspace_dir", local.DefaultWorkspaceDir))
			return filepath.Clean(textOr(cfg, "path", local.DefaultPath)) + string(filepath.ListSeparator) + dir
		},
	}
}
