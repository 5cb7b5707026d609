package local

import (
	"errors"
	"os"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
	"github.com/mayfly-iac/mayfly/state/store"
)

// maxInfo is the maximum size of the information about a lock, in bytes.
const maxInfo = 64 << 10

// noStateYet is recorded in the lock information if there was no state when the run began. The locked file
// exists, without content, before there is a state; this distinguishes it from a state that was lost.
const noStateYet = "There was no state yet when this run began."

// writeInfo records who holds the lock. An existing file with that name is replaced rather than written to,
// since it may be a symbolic link.
func (m *medium) writeInfo(info store.LockInfo) error {
	b, err := info.Marshal()
	if err != nil {
		return err
	}
	f, err := safefile.Temp(m.paths.info)
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

// holder reads who holds the lock. It returns nil if that is unknown. The information may be old: it is
// left behind when its process is killed. Only the lock itself says whether the holder lives.
func (m *medium) holder() *store.LockInfo {
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
