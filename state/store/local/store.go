// Package local keeps states in files on this machine, in the same places as other engines:
// terraform.tfstate and terraform.tfstate.d.
//
// It may import state and state/store. It must not know configuration, plans or providers.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state/store"
)

// File names shared by all engines.
const (
	DefaultPath         = "terraform.tfstate"
	DefaultWorkspaceDir = "terraform.tfstate.d"
	backupSuffix        = ".backup"
	journalSuffix       = ".journal"
)

// noBackup is the value of Options.Backup that turns the backup off.
const noBackup = "-"

// Options configure a Store. The zero value is the configuration without a backend block.
type Options struct {
	Dir          string // base of relative paths; "" is the working directory
	Path         string // state of the default workspace; DefaultPath if ""
	WorkspaceDir string // of the other workspaces; DefaultWorkspaceDir if ""

	// State, StateOut and Backup are the values of -state, -state-out and -backup: the file to read, the
	// file to write and the file for the previous content, regardless of the workspace. The defaults are
	// the workspace's file, the file to read, and the file to write with ".backup".
	State    string
	StateOut string
	Backup   string
	// Stamp, unless empty, becomes part of the default name of the backup, so that it replaces no other.
	Stamp string

	Cipher store.Cipher // nil stores states unencrypted
}

// Store is a store.Store in the file system.
type Store struct {
	opts Options
	disk disk
}

var _ store.Store = (*Store)(nil)

// New returns a store. It touches no file.
func New(opts Options) *Store {
	if opts.Path == "" {
		opts.Path = DefaultPath
	}
	if opts.WorkspaceDir == "" {
		opts.WorkspaceDir = DefaultWorkspaceDir
	}
	return &Store{opts: opts, disk: systemDisk}
}

// abs returns a path of the options relative to the working directory.
func (s *Store) abs(path string) string {
	if s.opts.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.opts.Dir, path)
}

// workspaceDir returns the directory of a workspace other than the default one. The name must be valid.
func (s *Store) workspaceDir(name string) string {
	return filepath.Join(s.abs(s.opts.WorkspaceDir), name)
}

// Workspaces implements store.Store.
func (s *Store) Workspaces(context.Context) ([]string, error) {
	entries, err := os.ReadDir(s.abs(s.opts.WorkspaceDir)) // in order
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("the directory of the workspaces,", s.opts.WorkspaceDir+",", "read", err)
	}
	names := []string{store.DefaultWorkspace}
	for _, e := range entries {
		if e.IsDir() && e.Name() != store.DefaultWorkspace && store.CheckWorkspaceName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// CreateWorkspace implements store.Store.
func (s *Store) CreateWorkspace(_ context.Context, name string) error {
	if err := store.CheckWorkspaceName(name); err != nil {
		return err
	}
	if name == store.DefaultWorkspace {
		return fmt.Errorf("%w: %q", store.ErrWorkspaceExists, name)
	}
	if _, err := safefile.MakeDirs(s.abs(s.opts.WorkspaceDir), 0o755); err != nil {
		return failed("the directory of the workspaces,", s.opts.WorkspaceDir+",", "created", err)
	}
	err := os.Mkdir(s.workspaceDir(name), 0o755)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %q", store.ErrWorkspaceExists, name)
	}
	if err == nil {
		err = safefile.SyncDir(s.abs(s.opts.WorkspaceDir))
	}
	if err != nil {
		return failed("the directory of the workspace,", filepath.Join(s.opts.WorkspaceDir, name)+",", "created", err)
	}
	return nil
}

// DeleteWorkspace implements store.Store.
func (s *Store) DeleteWorkspace(ctx context.Context, name string, force bool) error {
	if name == store.DefaultWorkspace {
		return store.ErrDefault
	}
	if err := store.CheckWorkspaceName(name); err != nil {
		return err
	}
	dir := s.workspaceDir(name)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%w: %q", store.ErrNoWorkspace, name)
	}
	if !force {
		m := s.manager(filepath.Join(dir, DefaultPath))
		f, err := m.Read(ctx)
		if err != nil {
			return err
		}
		if f != nil && len(f.State.Managed()) > 0 {
			return fmt.Errorf("%w: %q", store.ErrNotEmpty, name)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return failed("the directory of the workspace,", filepath.Join(s.opts.WorkspaceDir, name)+",", "removed", err)
	}
	return nil
}

// Manager implements store.Store.
func (s *Store) Manager(name string) (store.Manager, error) {
	if err := store.CheckWorkspaceName(name); err != nil {
		return nil, err
	}
	path := s.abs(s.opts.Path)
	if name != store.DefaultWorkspace {
		path = filepath.Join(s.workspaceDir(name), DefaultPath)
	}
	return s.manager(path), nil
}

// manager returns a manager for the state at path, unless options name other files. Its other files lie
// beside the file that is written, under the name that links lead to; only the backup is named as the user
// names the state.
func (s *Store) manager(path string) *Manager {
	read := path
	if s.opts.State != "" {
		read = s.abs(s.opts.State)
	}
	write := read
	if s.opts.StateOut != "" {
		write = s.abs(s.opts.StateOut)
	}
	p := paths{read: follow(read), write: follow(write), redirected: cmp.Or(s.opts.StateOut, s.opts.State), streams: s.opts.State != ""}
	switch s.opts.Backup {
	case noBackup:
	case "":
		p.backup = write + backupSuffix
		if s.opts.Stamp != "" {
			p.backup = write + "." + s.opts.Stamp + backupSuffix
		}
	default:
		p.backup = s.abs(s.opts.Backup)
	}
	p.journal = p.write + journalSuffix
	p.info, p.infoByName = infoPath(p.write), infoPath(write)
	m := &medium{paths: p, cipher: s.opts.Cipher, disk: s.disk}
	return &Manager{document.New(m, document.Options{Path: p.write, Journal: p.journal, Cipher: s.opts.Cipher}), m}
}
