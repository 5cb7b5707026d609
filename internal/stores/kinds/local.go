package kinds

import (
	"context"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// localKind keeps states in files of this machine. A configuration without a backend block has it too.
var localKind = backend.Declare(backend.Local, backend.Arguments{
	"path":          backend.Text().Place().Solid().About("file of the default workspace's state; `terraform.tfstate` by default"),
	"workspace_dir": backend.Text().Place().Solid().About("directory of the states of other workspaces; `terraform.tfstate.d` by default"),
}, nil, backend.Service{
	Open: func(_ context.Context, cfg backend.Config, env backend.Env) (store.Store, error) {
		return local.New(local.Options{
			Dir: env.Dir, Path: cfg.Text("path"), WorkspaceDir: cfg.Text("workspace_dir"),
			State: env.Files.State, StateOut: env.Files.Out, Backup: env.Files.Backup, Stamp: env.Files.Stamp, Cipher: env.Cipher,
		}), nil
	},
	Place: func(cfg backend.Config) string { return filepath.Clean(cfg.TextOr("path", local.DefaultPath)) },
	PlaceIn: func(cfg backend.Config, workspace string) string {
		return filepath.Join(cfg.TextOr("workspace_dir", local.DefaultWorkspaceDir), workspace, local.DefaultPath)
	},
	Identity: func(cfg backend.Config) string {
		dir := filepath.Clean(cfg.TextOr("workspace_dir", local.DefaultWorkspaceDir))
		return filepath.Clean(cfg.TextOr("path", local.DefaultPath)) + string(filepath.ListSeparator) + dir
	},
})
