package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/view/timeline"
)

// drawn calls f, which does the command's work, and then writes its timeline to a file, even if f fails or
// panics. An empty name means no timeline. The file is tried before f is called, since the run cannot be
// repeated for its timeline.
func (a *app) drawn(name string, f func() int) (code int) {
	if name == "" {
		return f()
	}
	target, err := writable(name)
	if err != nil {
		return a.fail("Cannot write the timeline", "The file %s of -ephemeral-timeline cannot be written: %s. Nothing was done.", name, diag.Reason(err))
	}
	a.timeline = timeline.New()
	defer func() { // deferred, so that a panic does not prevent it
		if err := replace(target, a.timeline.Write); err != nil {
			code = a.fail("Failed to write the timeline", "The file %s of -ephemeral-timeline could not be written: %s. Everything else was done as reported above.", name, diag.Reason(err))
		}
	}()
	return f()
}

// writable returns the file that a name leads to, through symbolic links, after checking that it can be
// written.
func writable(name string) (string, error) {
	target, err := filepath.EvalSymlinks(name)
	switch info := fs.FileInfo(nil); {
	case errors.Is(err, fs.ErrNotExist):
		target = name
	case err != nil:
		return "", err
	default:
		if info, err = os.Stat(target); err != nil {
			return "", err
		}
		if err := safefile.CheckWritable(target); err != nil {
			return "", err
		}
		if !info.Mode().IsRegular() {
			return target, nil
		}
	}
	f, err := beside(target)
	if err != nil {
		return "", err
	}
	_ = f.Close()
	return target, os.Remove(f.Name())
}

// beside creates a file in the directory of another, readable only by its owner.
func beside(target string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
}

// replace replaces the content of a file atomically. Anything but a regular file, such as a terminal, is
// written to directly.
func replace(target string, write func(io.Writer) error) error {
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		f, err := safefile.Create(target)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := beside(target)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
