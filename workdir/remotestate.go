package workdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/provider/builtin"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// checkRemote implements builtin.CheckBackend with the table of backends.
func (ls *locations) checkRemote(name string, config cty.Value) error {
	if name == backend.Local {
		return builtin.CheckLocal(name, config)
	}
	kind, err := ls.remoteKind(name)
	if err != nil {
		return err
	}
	_, err = remoteConfig(kind, config)
	return err
}

// remoteConfig is FromValue with errors that the built-in provider understands.
func remoteConfig(kind *backend.Kind, config cty.Value) (cty.Value, error) {
	cfg, err := kind.FromValue(config)
	if unexpected, ok := errors.AsType[*backend.UnexpectedError](err); ok {
		err = &builtin.UnexpectedError{Name: unexpected.Name}
	}
	return cfg, err
}

func (ls *locations) remoteKind(name string) (*backend.Kind, error) {
	kind, ok := ls.kinds[name]
	if !ok || !kind.Usable() {
		return nil, fmt.Errorf("%w. It can read those of %v", builtin.ErrNoBackend, backend.Usable(ls.kinds))
	}
	return kind, nil
}

// readRemote implements builtin.ReadState with the stores of all backends. Errors have nothing of the
// configuration, any part of which may be secret.
func (s *Session) readRemote(ctx context.Context, from builtin.StateSource) (map[string]cty.Value, error) {
	if from.Backend == backend.Local {
		return builtin.ReadLocal(".", s.decryptRemote)(ctx, from)
	}
	kind, err := s.dir.Backend.locations.remoteKind(from.Backend)
	if err != nil {
		return nil, err
	}
	cfg, err := remoteConfig(kind, from.Config)
	if err != nil {
		return nil, err
	}
	file, err := s.readFrom(ctx, kind, cfg, from)
	if err != nil {
		return nil, errors.New(kind.Redact(err.Error(), cfg))
	}
	if file == nil {
		return nil, builtin.ErrNoState
	}
	return builtin.Outputs(file.State.Outputs)
}

// readFrom reads a state for a data source, with the encryption that is configured for this data source. It
// takes no lock: a state is replaced as a whole.
func (s *Session) readFrom(ctx context.Context, kind *backend.Kind, cfg cty.Value, from builtin.StateSource) (*state.File, error) {
	cfg, err := kind.Complete(cfg, s.dir.files.lookup)
	if err != nil {
		return nil, err
	}
	opened, err := kind.Open(ctx, cfg, backend.Env{
		Cipher: stateCipher(s.encryption.Remote(remoteName(from.Instance))), Lookup: s.dir.files.lookup, Version: s.dir.opt.Version, JournalDir: s.dir.files.journalDir(), Host: s.dir.Packages.host,
	})
	if err != nil {
		return nil, err
	}
	workspace := cmp.Or(from.Workspace, store.DefaultWorkspace)
	return readWorkspace(ctx, opened, workspace)
}
