package simcloud

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// StateDir returns the directory of the states of a state store, in the directory of a cloud.
func StateDir(cloud, name string) string { return filepath.Join(cloud, "states", url.PathEscape(name)) }

// StatePath returns the file of a state in a directory of states.
func StatePath(dir, id string) string { return filepath.Join(dir, url.PathEscape(id)+".tfstate") }

// LockPath returns the file of the lock of a state.
func LockPath(dir, id string) string { return filepath.Join(dir, url.PathEscape(id)+".lock") }

// States returns the IDs of the states in a directory.
func States(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.tfstate"))
	var out []string
	for _, p := range paths {
		id, bad := url.PathUnescape(strings.TrimSuffix(filepath.Base(p), ".tfstate"))
		out, err = append(out, id), errors.Join(err, bad)
	}
	return out, err
}

// WriteState replaces a state completely or not at all.
func WriteState(dir, id string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replaceFile(StatePath(dir, id), data)
}

// UseStateKey gives the directory the hash of a key, and fails if it has another one.
func UseStateKey(dir, hash string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(dir, "key")
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaceFile(path, []byte(hash))
	case err == nil && string(have) != hash:
		return errors.New("the key of the state store is wrong")
	}
	return err
}

// LockState locks a state and returns the ID of the lock, or the description of the one that there is. A lock
// appears with its description, since a file without one would be no lock.
func LockState(dir, id, operation string) (lock, holder string, err error) {
	lock = "sim-" + strings.ToLower(rand.Text())
	host, _ := os.Hostname()
	text := fmt.Sprintf("Lock Info:\n  ID:        %s\n  Operation: %s\n  Who:       sim@%s\n  Created:   %s\n", lock, operation, host, time.Now().UTC())
	own := filepath.Join(dir, ".tmp-"+lock)
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.Remove(own)) }()
	for {
		err := os.Link(own, LockPath(dir, id))
		if !errors.Is(err, fs.ErrExist) {
			return lock, "", err
		}
		have, err := os.ReadFile(LockPath(dir, id))
		if !errors.Is(err, fs.ErrNotExist) { // or else it was released just now
			return "", string(have), err
		}
	}
}

// UnlockState releases the lock with that ID.
func UnlockState(dir, id, lock string) error {
	text, err := os.ReadFile(LockPath(dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the state is not locked")
	}
	if err == nil && !strings.Contains(string(text), " "+lock+"\n") {
		err = fmt.Errorf("the state is locked with another ID than %q.\n\n%s", lock, text)
	}
	if err == nil {
		err = os.Remove(LockPath(dir, id))
	}
	return err
}
