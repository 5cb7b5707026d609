// Package inmem keeps states in memory, for tests and for runs that must leave nothing behind.
//
// It may import state and state/store. It must not know configuration, plans or providers.
package inmem

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Store is a store.Store in memory. States are kept encoded, so nothing is shared with callers. It has no
// journal that outlives the process, and no encryption.
type Store struct {
	mu         sync.Mutex
	workspaces map[string]*workspace
}

// workspace is the stored data of one workspace.
type workspace struct {
	data []byte
	put  bool // data is from Put, and may be damaged
	lock *store.LockInfo
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	return &Store{workspaces: map[string]*workspace{store.DefaultWorkspace: {}}}
}

// Workspaces implements store.Store.
func (s *Store) Workspaces(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []string{store.DefaultWorkspace}
	for name := range s.workspaces {
		if name != store.DefaultWorkspace {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return names, nil
}

// CreateWorkspace implements store.Store.
func (s *Store) CreateWorkspace(_ context.Context, name string) error {
	if err := store.CheckWorkspaceName(name); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workspaces[name] != nil {
		return fmt.Errorf("%w: %q", store.ErrWorkspaceExists, name)
	}
	s.workspaces[name] = &workspace{}
	return nil
}

// DeleteWorkspace implements store.Store.
func (s *Store) DeleteWorkspace(_ context.Context, name string, force bool) error {
	if name == store.DefaultWorkspace {
		return store.ErrDefault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workspaces[name]
	if w == nil {
		return fmt.Errorf("%w: %q", store.ErrNoWorkspace, name)
	}
	if !force {
		f, err := state.Read(w.data)
		if err != nil {
			return err
		}
		if f != nil && len(f.State.Managed()) > 0 {
			return fmt.Errorf("%w: %q", store.ErrNotEmpty, name)
		}
	}
	delete(s.workspaces, name)
	return nil
}

// Manager implements store.Store.
func (s *Store) Manager(name string) (store.Manager, error) {
	if err := store.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	return &manager{store: s, name: name}, nil
}

// Put sets the stored bytes of a workspace, which need not be valid. Tests use it for states that are damaged
// or come from other engines.
func (s *Store) Put(name string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workspace(name)
	w.data, w.put = slices.Clone(data), true
}

// Get returns a copy of the stored bytes of a workspace, or nil if there are none.
func (s *Store) Get(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.workspaces[name]; w != nil {
		return slices.Clone(w.data)
	}
	return nil
}

// workspace returns the workspace, creating it if necessary. The caller holds mu.
func (s *Store) workspace(name string) *workspace {
	w := s.workspaces[name]
	if w == nil {
		w = &workspace{}
		s.workspaces[name] = w
	}
	return w
}

// manager is a handle of one run to a workspace.
type manager struct {
	store *Store
	name  string
	id    string // of the lock that this handle holds; protected by store.mu
}

// Lock implements store.Manager.
func (m *manager) Lock(ctx context.Context, info store.LockInfo) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	w := m.store.workspace(m.name)
	if w.lock != nil {
		holder := *w.lock
		return "", &store.LockError{Info: &holder}
	}
	if info.ID == "" {
		info.ID = uuid.NewString()
	}
	info.Path = m.name
	w.lock, m.id = &info, info.ID
	return info.ID, nil
}

// Unlock implements store.Manager. Any handle may release the lock if it knows the ID.
func (m *manager) Unlock(_ context.Context, id string) error {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	w := m.store.workspaces[m.name]
	if w == nil || w.lock == nil {
		return &store.LockError{Err: errors.New("the state is not locked")}
	}
	if w.lock.ID != id {
		holder := *w.lock
		return &store.LockError{Info: &holder, Err: fmt.Errorf("the lock's ID is not %q", id)}
	}
	w.lock, m.id = nil, ""
	return nil
}

// Read implements store.Manager.
func (m *manager) Read(ctx context.Context) (*state.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	w := m.store.workspaces[m.name]
	if w == nil {
		return nil, nil
	}
	return state.Read(w.data)
}

// Write implements store.Manager. A damaged state is not replaced, as with other stores.
func (m *manager) Write(_ context.Context, f *state.File) error {
	data, err := state.Write(f)
	if err != nil {
		return err
	}
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	w := m.store.workspace(m.name)
	if m.id != "" && (w.lock == nil || w.lock.ID != m.id) {
		return store.ErrLockLost
	}
	if w.put {
		if _, err := state.Read(w.data); err != nil {
			return err
		}
	}
	w.data, w.put = data, false
	return nil
}

// BeginRun implements store.Manager. The records of its journal go nowhere.
func (m *manager) BeginRun(ctx context.Context, base *state.File, version string) (state.Run, error) {
	f, err := m.Read(ctx)
	if err != nil {
		return nil, err
	}
	if f != nil && f.Meta != base.Meta {
		return nil, errors.New("the state was changed by another run")
	}
	log, err := state.NewLog(nowhere{}, base.Meta, nil)
	return state.NewRun(base, version, log, m.Write), err
}

// nowhere is the file of journals that are never replayed: memory is lost with the process.
type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Sync() error                 { return nil }
func (nowhere) Reserve(int64) error         { return nil }
