package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// disk has the operations that can fail when files are written, for tests to replace. Everything else is
// called directly.
type disk struct {
	writeAt func(f *os.File, b []byte, off int64) (int, error)
	sync    func(f *os.File) error
	rename  func(from, to string) error
	link    func(from, to string) error
	reserve func(f *os.File, off, n int64) error // reserves n bytes at off without changing the size
	swap    bool                                 // whether an open file can be renamed over
}

// systemDisk is the disk of the operating system.
var systemDisk = disk{
	writeAt: (*os.File).WriteAt,
	sync:    (*os.File).Sync,
	rename:  os.Rename,
	link:    os.Link,
	reserve: reserve,
	swap:    canReplaceOpen,
}

// Suffixes of temporary files beside the state file, which exist only while it is written.
const (
	keepSuffix = ".keep" // a second name of the locked file
	copySuffix = ".new"  // a copy of the data being written over the locked file
)

// newMode are the permissions of a new file with the content of a state.
const newMode = fs.FileMode(0o600)

// modeOf returns the permissions of the regular file at path, which its owner has chosen, or the permissions
// of a new file if there is none.
func modeOf(path string) fs.FileMode {
	if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() {
		return fi.Mode().Perm()
	}
	return newMode
}

// temp writes b to a new durable file beside path and returns it open. Its name is one that sweep finds if
// the process dies.
func (d disk) temp(path string, b []byte, mode fs.FileMode) (*os.File, error) {
	f, err := safefile.Temp(path)
	if err != nil {
		return nil, err
	}
	_, err = d.writeAt(f, b, 0)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = d.sync(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// replace makes b the content of the file at path, which is not a symbolic link. At any moment, also after
// a power failure, the file has all of the old content or all of b.
func (d disk) replace(path string, b []byte, mode fs.FileMode) error {
	f, err := d.temp(path, b, mode)
	if err != nil {
		return err
	}
	// Windows cannot rename open files, and the file need not stay open.
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := d.rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return safefile.SyncDir(filepath.Dir(path))
}

// backUp writes b, the content of the state file at source, to the file at path, readable at most by readers
// of the state. Anything other than a regular file, such as the null device, is written to directly.
func (d disk) backUp(path string, b []byte, source string) error {
	path = follow(path)
	if isStream(path) {
		return writeDevice(path, b)
	}
	mode := modeOf(path)
	if fi, err := os.Stat(source); err == nil && fi.Mode().IsRegular() {
		mode &= fi.Mode().Perm()
	}
	return d.replace(path, b, mode|0o400)
}

// replaceHeld is replace for a file that is locked by h and stays locked:
//  1. A new file gets the content and is locked.
//  2. The locked file gets a second name.
//  3. The new file is renamed over the first name: the content is now durable and in place.
//  4. The locked file, now only under its second name, is overwritten with the content.
//  5. It is renamed back over the first name. The lock is unchanged, and so are other engines that wait for
//     it with the file open.
//
// If the second name cannot be created or step 4 fails, for example because the disk is full, the new file
// stays in place, under the lock taken in step 1.
func (d disk) replaceHeld(path string, b []byte, h *held) error {
	if !d.swap {
		return d.overwriteHeld(path, b, h)
	}
	f, err := d.temp(path, b, modeOf(path))
	if err != nil {
		return err
	}
	discard := func(err error) error { return errors.Join(err, f.Close(), os.Remove(f.Name())) }
	if err := tryLock(f); err != nil {
		return discard(fmt.Errorf("locking the new file: %w", err))
	}
	keep := path + keepSuffix
	if err := os.Remove(keep); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return discard(err)
	}
	linkErr := d.link(path, keep)
	if err := d.rename(f.Name(), path); err != nil {
		if linkErr == nil {
			err = errors.Join(err, os.Remove(keep))
		}
		return discard(err)
	}
	if err := safefile.SyncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, d.stay(f, keep, h))
	}
	if linkErr != nil || d.overwrite(h.current(), b) != nil || d.rename(keep, path) != nil {
		return d.stay(f, keep, h)
	}
	return errors.Join(f.Close(), safefile.SyncDir(filepath.Dir(path)))
}

// stay leaves the new file f in place and makes it the locked one.
func (d disk) stay(f *os.File, keep string, h *held) error {
	locks.adopt(h, f)
	if err := os.Remove(keep); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// overwrite replaces the content of an open file in place, which is not atomic: the caller keeps a durable
// copy elsewhere meanwhile.
func (d disk) overwrite(f *os.File, b []byte) error {
	if _, err := d.writeAt(f, b, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(b))); err != nil {
		return err
	}
	return d.sync(f)
}

// overwriteHeld is for systems that cannot rename over open files: while the file is overwritten, a durable
// copy of the content lies beside it, for readCopy to find.
func (d disk) overwriteHeld(path string, b []byte, h *held) error {
	if err := d.replace(path+copySuffix, b, newMode); err != nil {
		return err
	}
	if err := d.overwrite(h.current(), b); err != nil {
		return err
	}
	return os.Remove(path + copySuffix)
}

// readCopy returns the content that was being written over the file at path when the writer died, or nil if
// there is none. Only overwriteHeld leaves such a copy.
func readCopy(path string) ([]byte, error) {
	return locks.read(path + copySuffix)
}
