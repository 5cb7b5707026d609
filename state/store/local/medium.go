package local

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/internal/model/document"
	"github.com/mayfly-iac/mayfly/state/store"
)

// medium is a document.Medium in files.
type medium struct {
	paths  paths
	cipher store.Cipher
	disk   disk

	lockID   string // "" if the run has no lock
	held     *held
	fresh    bool   // the locked file has never had any content
	piped    []byte // content of a state that is not a regular file and can be read only once
	wrote    bool   // paths.write has the run's result
	backedUp bool
	taken    *os.File // the journal of an interrupted run, as it was last claimed
}

var _ document.Medium = (*medium)(nil)

// Lock implements document.Lock.
func (m *medium) Lock(_ context.Context, info store.LockInfo) error {
	if isStream(m.paths.write) {
		return nil
	}
	h, err := locks.lock(m.paths.write)
	if errors.Is(err, errHeld) {
		return &store.LockError{Info: m.holder()}
	}
	if err != nil {
		return failed("the state", m.paths.write, "locked", err)
	}
	if err := m.announce(info, h); err != nil {
		return errors.Join(err, locks.unlock(h, m.paths.write))
	}
	m.held, m.lockID = h, info.ID
	sweep(m.paths.write)
	return nil
}

// announce records who holds the lock h, unless files beside the state show that it was lost: the next run
// must be able to see that.
func (m *medium) announce(info store.LockInfo, h *held) error {
	fi, err := h.current().Stat()
	if err != nil {
		return failed("the state", m.paths.write, "locked", err)
	}
	if fi.Size() == 0 {
		m.fresh = h.created || m.neverWritten()
		if m.paths.read == m.paths.write && !m.fresh {
			if err := m.checkEmpty(); err != nil {
				return err
			}
		}
		info.Info = noStateYet
	}
	info.Path = m.paths.write
	if err := m.writeInfo(info); err != nil {
		return failed("the information about the lock,", m.paths.info+",", "written", err)
	}
	return nil
}

// sweep removes the temporary files of a writer that died. The caller holds the lock, so no writer is
// alive. Failing to remove a file does no harm.
func sweep(path string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+base+".") && strings.HasSuffix(e.Name(), ".tmp") || e.Name() == base+keepSuffix {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Unlock implements document.Lock.
func (m *medium) Unlock(ctx context.Context, _ string, end func(context.Context) error) error {
	m.lockID = ""
	if m.held == nil {
		return nil
	}
	_ = os.Remove(m.paths.info) // a leftover file says nothing about the lock: see holder
	err := errors.Join(end(ctx), locks.unlock(m.held, m.paths.write))
	m.held = nil
	if err != nil {
		return failed("the state", m.paths.write, "unlocked", err)
	}
	return nil
}

// NotOwn implements document.Lock.
func (m *medium) NotOwn(_ context.Context, id, own string) error {
	why := fmt.Errorf("the lock's ID is not %q", id)
	if own == "" {
		why = errors.New("this run does not hold the lock; a lock on a local state ends with the process that holds it")
	}
	return &store.LockError{Info: m.holder(), Err: why}
}

// Check implements document.Lock.
func (m *medium) Check(context.Context) error {
	if err := m.checkHeld(); err != nil {
		return err
	}
	return m.paths.checkTargets()
}

// source returns the path of the file with the state as the run sees it.
func (m *medium) source() string {
	if m.wrote {
		return m.paths.write
	}
	return m.paths.read
}

// readSource returns the content of the source, or nil if there is none.
func (m *medium) readSource() ([]byte, error) {
	path := m.source()
	if !m.paths.streams || !isStream(path) {
		return locks.read(path)
	}
	if m.piped == nil {
		b, err := readStream(path)
		if err != nil {
			return nil, err
		}
		m.piped = append([]byte{}, b...)
	}
	return m.piped, nil
}

// versionOf returns the version of a state file: the checksum of its content.
func versionOf(content []byte) document.Version {
	sum := sha256.Sum256(content)
	return document.Version(sum[:])
}

// checkHeld returns an error if the locked file is no longer the state file. Without a lock there is
// nothing to check.
func (m *medium) checkHeld() error {
	if m.held != nil && !sameFile(m.paths.write, m.held.current()) {
		return fmt.Errorf("%w: %s was replaced or removed by something else. Nothing has been written over it", store.ErrLockLost, m.paths.write)
	}
	return nil
}

// checkUnchanged returns an error if content, read from the state file now, differs from was, which this
// run last read or wrote there.
func (m *medium) checkUnchanged(content []byte, was document.Version) error {
	if m.source() == m.paths.write && versionOf(content) != was {
		return fmt.Errorf("the state in %s was changed by another run after this one had read it. Nothing has been written over it", m.paths.write)
	}
	return nil
}

// Changed implements document.Content.
func (m *medium) Changed() error {
	return fmt.Errorf("the state in %s has changed since it was read. Run the command again", m.source())
}

// Store implements document.Content. It makes data the content of the state file, after backing up the
// content that the run found. The backup is made once for each run, before its first write, so that it has
// the state as it was before the run. A write that would change nothing is left out.
func (m *medium) Store(_ context.Context, data []byte, was document.Version) (document.Version, error) {
	prev, err := m.readSource()
	if err != nil {
		return "", failed("the state", m.source(), "read", err)
	}
	if err := m.checkUnchanged(prev, was); err != nil {
		return "", err
	}
	if m.source() == m.paths.write && bytes.Equal(prev, data) {
		return was, nil
	}
	if !m.backedUp && m.paths.backup != "" && len(prev) > 0 {
		old, err := store.Recode(prev, m.cipher)
		if err == nil {
			err = m.disk.backUp(m.paths.backup, old, m.source())
		}
		if err != nil {
			return "", failed("the backup of the state", m.paths.backup, "written", err)
		}
	}
	m.backedUp = true
	if err := m.replace(data); err != nil {
		return "", err
	}
	m.wrote = true
	return versionOf(data), nil
}

// replace makes data the content of the state file.
func (m *medium) replace(data []byte) (err error) {
	if m.held != nil {
		err = m.disk.replaceHeld(m.paths.write, data, m.held)
	} else if _, err = safefile.MakeDirs(filepath.Dir(m.paths.write), 0o755); err == nil {
		err = m.disk.replace(m.paths.write, data, modeOf(m.paths.write))
	}
	if err != nil {
		return failed("the state", m.paths.write, "written", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
