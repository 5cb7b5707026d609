package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

var errHeld = errors.New("the file is locked")

// held is a lock that this process holds on a state file.
//
// Other engines lock the state file itself. Replacing it by a rename would leave the lock on a file without
// a name, and an engine that waits with that file open would later read and write the wrong file. Therefore
// a replaced file is put back under its name, see replaceHeld. Only if that is impossible does the lock
// move to the new file, and both stay locked until the end.
type held struct {
	files   []*os.File // the last one is the state file, earlier ones have been replaced
	created bool       // by taking the lock
}

// current returns the file that has the name of the state now.
func (h *held) current() *os.File { return h.files[len(h.files)-1] }

// registry knows the state files that this process has locked. Record locks don't exclude two holders in
// one process, and on some systems closing any descriptor of a file releases all of the process's locks on
// it. So locked files are never opened a second time: they are read through the descriptor that holds the
// lock.
type registry struct {
	mu   sync.Mutex
	open []*os.File
}

var locks registry

// find returns the locked file that fi describes, under whatever name, or nil. The caller holds mu.
func (r *registry) find(fi fs.FileInfo) *os.File {
	for _, f := range r.open {
		if other, err := f.Stat(); err == nil && os.SameFile(fi, other) {
			return f
		}
	}
	return nil
}

// read returns the content of a file, or nil if it does not exist. The file need not be a locked one.
func (r *registry) read(path string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if f := r.find(fi); f != nil {
		b := make([]byte, fi.Size())
		_, err := io.ReadFull(io.NewSectionReader(f, 0, fi.Size()), b)
		return b, err
	}
	b, err := safefile.Read(path, math.MaxInt64-1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// lock opens path, creating it if necessary, and locks it. It fails with errHeld if this or another process
// holds the lock.
func (r *registry) lock(path string) (*held, error) {
	if _, err := safefile.MakeDirs(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		fi, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		created := err != nil
		if !created && !fi.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "lock", Path: path, Err: fmt.Errorf("it is %s, not a regular file", safefile.Kind(fi.Mode()))}
		}
		if !created && r.find(fi) != nil {
			return nil, errHeld
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := tryLock(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if sameFile(path, f) {
			r.open = append(r.open, f)
			return &held{files: []*os.File{f}, created: created}, nil
		}
		// The previous holder replaced or removed the file after it was opened here and before it was
		// locked.
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// adopt makes a file that is already locked the current file of h.
func (r *registry) adopt(h *held, f *os.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.files = append(h.files, f)
	r.open = append(r.open, f)
}

// create creates a file for writing, which stays locked by this process until it is closed by close or
// remove. It fails with fs.ErrExist if the file exists.
func (r *registry) create(path string) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the new file: %w", err), f.Close(), os.Remove(path))
	}
	r.open = append(r.open, f)
	return f, nil
}

// take opens an existing file and locks it. It fails with errHeld if this or another process holds the
// lock.
func (r *registry) take(path string) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if r.find(fi) != nil {
		return nil, errHeld
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.open = append(r.open, f)
	return f, nil
}

// close releases the lock on a file from create or take, and closes it.
func (r *registry) close(f *os.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(f)
	return f.Close()
}

// remove is close for a file that is also removed, if path still names it. The removal is durable when it
// returns.
func (r *registry) remove(path string, f *os.File) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(f)
	if !sameFile(path, f) {
		return f.Close()
	}
	var err error
	if canReplaceOpen { // while it is locked, so that no other run can have replaced it
		err = errors.Join(os.Remove(path), f.Close())
	} else {
		err = errors.Join(f.Close(), os.Remove(path))
	}
	return errors.Join(err, safefile.SyncDir(filepath.Dir(path)))
}

// forget removes a file from the registry before it is closed. The caller holds mu.
func (r *registry) forget(f *os.File) {
	r.open = slices.DeleteFunc(r.open, func(o *os.File) bool { return o == f })
}

// unlock closes the files of h. If taking the lock created the file and it is still empty, it is removed,
// as other engines do.
func (r *registry) unlock(h *held, path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	fi, err := h.current().Stat()
	remove := h.created && err == nil && fi.Size() == 0 && sameFile(path, h.current())
	if remove && canReplaceOpen {
		errs = append(errs, os.Remove(path))
	}
	for _, f := range h.files {
		r.forget(f)
		errs = append(errs, f.Close())
	}
	if remove && !canReplaceOpen {
		errs = append(errs, os.Remove(path))
	}
	return errors.Join(errs...)
}

// sameFile reports whether path is now the name of the open file f.
func sameFile(path string, f *os.File) bool {
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := f.Stat()
	return err == nil && os.SameFile(a, b)
}
