package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

const (
	lockWait = time.Minute
	lockPoll = 10 * time.Millisecond
)

// Options describe a store and the key that opens it. Only Path is required.
type Options struct {
	// Path of the store file; relative to the working directory.
	Path string
	// KeyFile has the age identity; Path + ".key" if empty. Not used with a passphrase.
	KeyFile string
	// Name and KeyName are the names of the two files in errors: "store NAME" and "key file KEYNAME". They
	// take the place of paths that may be secret. Empty ones are the paths.
	Name, KeyName string
	// Passphrase opens the store instead of a key file.
	Passphrase string
	// Token, if not empty, is the token of a lease of this store: every operation requires that the lease
	// is live at that moment.
	Token string
	// Now is the clock for leases; nil means time.Now.
	Now func() time.Time
}

// Store is a handle to one store file. Between calls it keeps neither open files nor decrypted content, so
// it needs no closing. It is safe for concurrent use, as are several handles and several processes on one
// file.
//
// All errors of its methods are [*Problem] or come from the context.
type Store struct {
	path, keyFile string
	name, keyName string // of the files in errors
	secretKeys    *keys  // from the passphrase; nil with a key file
	token         string
	now           func() time.Time
	turn          chan struct{} // one writer of this handle at a time waits for the file lock
}

// Open checks the options. It accesses no file except to follow a symbolic link: the first change creates
// the store and its key.
func Open(o Options) (*Store, error) {
	if o.Path == "" {
		return nil, &Problem{Kind: ErrInvalid, Summary: "No store path", Detail: "The path of the store is empty. Set path to a file name."}
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, ioProblem("Cannot find the working directory", "store "+o.Name, err, "Give an absolute path.")
	}
	keyFile := cmp.Or(o.KeyFile, path+".key")
	if keyFile, err = filepath.Abs(keyFile); err != nil {
		return nil, ioProblem("Cannot find the working directory", "key file "+o.KeyName, err, "Give an absolute path.")
	}
	s := &Store{path: followLinks(path), keyFile: keyFile, name: cmp.Or(o.Name, path), keyName: cmp.Or(o.KeyName, keyFile), token: o.Token, now: o.Now, turn: make(chan struct{}, 1)}
	if s.now == nil {
		s.now = time.Now
	}
	if o.Passphrase != "" {
		k, err := passphraseKeys(o.Passphrase)
		if err != nil {
			return nil, &Problem{Kind: ErrInvalid, Summary: "Unusable passphrase", Detail: "The passphrase was not accepted. Choose another one."}
		}
		s.secretKeys = &k
	}
	return s, nil
}

// followLinks returns the file that a path leads to through symbolic links, whether or not it exists: a
// rename would replace the link instead of its target.
func followLinks(path string) string {
	const most = 40 // as in the kernel: links may form a cycle
	for range most {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// Path is the absolute path of the store file.
func (s *Store) Path() string { return s.path }

// Check opens the store and, if there is a token, verifies its lease. A missing store is accepted if there
// is no token.
func (s *Store) Check(ctx context.Context) error {
	return s.view(ctx, func(*document) error { return nil })
}

// view runs fn on the current content. fn must copy any data of the document that it keeps.
func (s *Store) view(ctx context.Context, fn func(*document) error) error {
	if readsNeedLock && s.exists() {
		unlock, err := s.lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}
	doc, _, err := s.load(ctx)
	if err != nil {
		return err
	}
	defer doc.wipe()
	if err := s.authenticate(doc); err != nil {
		return err
	}
	return fn(doc)
}

// update runs fn on the content under the exclusive lock and writes the changed content back, unless fn
// fails. An empty store is removed.
func (s *Store) update(ctx context.Context, fn func(*document) error) error {
	if _, err := safefile.MakeDirs(filepath.Dir(s.path), 0o700); err != nil {
		return ioProblem("Cannot create the store's folder", "store "+s.name, err, "Choose a path in a folder this user may write to.")
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	doc, k, err := s.load(ctx)
	if err != nil {
		return err
	}
	defer doc.wipe()
	if err := s.authenticate(doc); err != nil {
		return err
	}
	doc.dropExpired(s.now())
	if err := fn(doc); err != nil {
		return err
	}
	if doc.empty() {
		return s.remove(ctx, doc)
	}
	return s.save(ctx, doc, k)
}

func (s *Store) exists() bool {
	_, err := os.Lstat(s.path)
	return err == nil
}

// load reads the file. If there is none, the document is empty and the keys are nil.
func (s *Store) load(ctx context.Context) (*document, *keys, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	sealed, err := readBounded(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		doc := newDocument()
		doc.absent = true
		return doc, nil, nil
	}
	if err != nil {
		return nil, nil, ioProblem("Cannot read the store", "store "+s.name, err, "Check the path, and that this user may read the file.")
	}
	k, err := s.existingKeys()
	if err != nil {
		return nil, nil, err
	}
	plain, err := k.open(s.name, sealed)
	if err != nil {
		return nil, nil, err
	}
	defer clear(plain)
	doc, err := parse(plain)
	if errors.Is(err, errNewer) {
		return nil, nil, &Problem{Kind: ErrTooNew, Summary: "Store format too new", Detail: fmt.Sprintf(
			"The store %s was %s. Use a newer version of the keep provider. Nothing was changed.", s.name, err)}
	}
	if err != nil {
		return nil, nil, damaged(s.name, err.Error())
	}
	return doc, k, nil
}

// existingKeys returns the keys of an existing store. It never creates any.
func (s *Store) existingKeys() (*keys, error) {
	if s.secretKeys != nil {
		return s.secretKeys, nil
	}
	k, err := loadKeys(s.keyFile, s.keyName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Problem{Kind: ErrKeyMissing, Summary: "Key file missing", Cause: fs.ErrNotExist, Detail: fmt.Sprintf(
			"The store %s exists, but the key file %s does not. No new key was made: it could not open this store. "+
				"Restore the key file from a backup, point key_file at it, or set the passphrase if the store has one.", s.name, s.keyName)}
	}
	return &k, err
}

// save replaces the store's file. Without keys, it makes the first ones. The content in clear is overwritten
// in memory afterwards.
func (s *Store) save(ctx context.Context, doc *document, k *keys) error {
	if k == nil {
		fresh, err := s.firstKeys()
		if err != nil {
			return err
		}
		k = &fresh
	}
	plain, err := json.Marshal(doc)
	if err != nil {
		return &Problem{Kind: ErrInvalid, Summary: "Cannot write the store", Detail: "The store " + s.name + ": the content could not be encoded. Nothing was changed."}
	}
	defer clear(plain)
	sealed, err := k.seal(plain)
	if err != nil {
		return ioProblem("Cannot encrypt the store", "store "+s.name, err, "Nothing was changed.")
	}
	if len(sealed) > maxFile {
		return &Problem{Kind: ErrTooLarge, Summary: "Store full", Detail: fmt.Sprintf(
			"The store %s would grow to %d bytes; the limit is %d. Nothing was changed. Remove what is no longer needed, or use a second store.", s.name, len(sealed), maxFile)}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := safefile.ReplacePrivate(s.path, sealed); err != nil {
		return ioProblem("Cannot write the store", "store "+s.name, err, "The store holds what it held before. Check free space and permissions, then try again.")
	}
	return nil
}

// remove deletes the store's file, so that the next store at this path may have another passphrase: this
// one's may have existed only as long as the protected data. The key file stays and is used again.
func (s *Store) remove(ctx context.Context, doc *document) error {
	if doc.absent {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := os.Remove(s.path)
	if err == nil {
		err = safefile.SyncDir(filepath.Dir(s.path))
	}
	if err != nil {
		return ioProblem("Cannot remove the empty store", "store "+s.name, err, "Check permissions of its folder, then try again.")
	}
	return nil
}

// firstKeys returns the keys for a new store: from an existing key file, or else a new one.
func (s *Store) firstKeys() (keys, error) {
	if s.secretKeys != nil {
		return *s.secretKeys, nil
	}
	k, err := loadKeys(s.keyFile, s.keyName)
	if errors.Is(err, fs.ErrNotExist) {
		return createKeys(s.keyFile, s.keyName, s.now().UTC())
	}
	return k, err
}

// lock keeps other goroutines and processes out of the store until unlock is called. Both are needed: a
// file lock belongs to the process, so it does not keep its own goroutines apart.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if err != nil {
			<-s.turn
		}
	}()
	fl := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	bounded, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if _, err := fl.TryLockContext(bounded, lockPoll); err != nil {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return nil, &Problem{Kind: ErrBusy, Summary: "Store is locked", Cause: err, Detail: fmt.Sprintf(
				"Another process has held the lock file of the store %s, whose name ends in .lock, for more than %s. Wait for it to end, then try again.", s.name, lockWait)}
		}
		return nil, ioProblem("Cannot lock the store", "store "+s.name, err, "The lock file, whose name ends in .lock, must be writable for everyone who uses the store.")
	}
	return func() {
		// A failing unlock doesn't matter: closing the file releases the lock.
		_ = fl.Close()
		<-s.turn
	}, nil
}

// readBounded reads a file that no store exceeds. Without the limit, a path such as /dev/zero would fill
// the memory.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has more than %d bytes, which no keep store has", maxFile)
	}
	return data, nil
}
