package local

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/state/store"
)

// maxInfo bounds the information about a lock, in bytes.
const maxInfo = 64 << 10

// noStateYet is what the information about a lock says of the run if there was no state when it began. The
// file that is locked is there, without content, before there is a state: this tells it from a state that was
// lost.
const noStateYet = "There was no state yet when this run began."

// writeInfo says who holds the lock. Whatever is there under the name of the file is replaced and not written
// to, for it may be a symbolic link.
func (m *Manager) writeInfo(info store.LockInfo) error {
	b, err := info.Marshal()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(m.paths.info), "."+filepath.Base(m.paths.write)+".lock.info.*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), m.paths.info)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// holder reads who holds the lock, nil if that is not known.
func (m *Manager) holder() *store.LockInfo {
	for _, path := range []string{m.paths.info, m.paths.infoByName} {
		b, err := safefile.Read(path, maxInfo)
		if err != nil {
			continue
		}
		if info, err := store.ParseLockInfo(b); err == nil {
			return &info
		}
	}
	return nil
}
