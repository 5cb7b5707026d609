package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Options configure a Store.
type Options struct {
	Cipher store.Cipher // nil stores states unencrypted
	// JournalDir is a directory of this machine, created when needed, for the journals of a service that
	// has no room for them.
	JournalDir string
	Version    string // of the program, for the files of new workspaces
}

// Store is a store.Store in a service.
type Store struct {
	service Service
	opt     Options
}

var _ store.Store = (*Store)(nil)

// New returns a store. It contacts nothing.
func New(s Service, opt Options) *Store { return &Store{s, opt} }

// Workspaces implements store.Store.
func (s *Store) Workspaces(ctx context.Context) ([]string, error) {
	names, err := ask(ctx, impatient, func() ([]string, error) { return s.service.Workspaces(ctx) })
	if err != nil {
		return nil, fmt.Errorf("listing the workspaces: %w", err)
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == store.DefaultWorkspace || store.CheckWorkspaceName(name) != nil
	})
	slices.Sort(names)
	return append([]string{store.DefaultWorkspace}, slices.Compact(names)...), nil
}

// CreateWorkspace implements store.Store. A workspace exists if it has a state, so it gets an empty one.
func (s *Store) CreateWorkspace(ctx context.Context, name string) error {
	m, err := s.manager(name)
	if err != nil {
		return err
	}
	exists := fmt.Errorf("%w: %q", store.ErrWorkspaceExists, name)
	if name == store.DefaultWorkspace {
		return exists
	}
	f, err := state.NewFile(s.opt.Version, rand.Reader)
	if err != nil {
		return err
	}
	data, err := store.Encode(f, s.opt.Cipher)
	if err != nil {
		return err
	}
	if _, err = m.at.put(ctx, data, ""); errors.Is(err, ErrChanged) {
		return exists
	}
	return m.at.explain("stored", err)
}

// DeleteWorkspace implements store.Store.
func (s *Store) DeleteWorkspace(ctx context.Context, name string, force bool) error {
	if name == store.DefaultWorkspace {
		return store.ErrDefault
	}
	m, err := s.manager(name)
	if err != nil {
		return err
	}
	f, err := m.Read(ctx)
	switch {
	case err != nil && !force:
		return err
	case err == nil && m.at.version == "":
		return fmt.Errorf("%w: %q", store.ErrNoWorkspace, name)
	case !force && f != nil && len(f.State.Managed()) > 0:
		return fmt.Errorf("%w: %q", store.ErrNotEmpty, name)
	}
	if err := m.at.removeParts(ctx, m.at.parts); err != nil {
		return err
	}
	return m.at.explain("deleted", retry(ctx, patient, func() error { return m.at.place.State.Delete(ctx) }))
}

// Manager implements store.Store.
func (s *Store) Manager(name string) (store.Manager, error) {
	m, err := s.manager(name)
	if err != nil {
		return nil, err // not a typed nil
	}
	return m, nil
}

// manager returns the manager of a workspace, without a request. A service without room for a journal has
// it in a directory of this machine.
func (s *Store) manager(name string) (*manager, error) {
	if err := store.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	place, err := s.service.Place(name)
	if err != nil {
		return nil, err
	}
	h := &hosted{place: place, cipher: s.opt.Cipher, journal: place.Path + ".journal"}
	if place.Parts == nil {
		h.journal, h.away = journalDir(s.opt.JournalDir, place.Path), true
		h.place.Parts = dirParts{h.journal}
	}
	return &manager{document.New(h, document.Options{Path: place.Path, Journal: h.journal, Cipher: s.opt.Cipher}), h}, nil
}
