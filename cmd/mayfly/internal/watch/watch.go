// Package watch tells which files in a number of directories change.
//
// It knows no command and reads no file: whether a change matters, its user decides.
package watch

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing may change before changes are reported: an editor that writes a file, or a
	// checkout of another branch, makes many.
	quiet = 100 * time.Millisecond
	// longest is how long changes may be held back while others follow.
	longest = 2 * time.Second
	// mostDirs bounds how many directories Below returns, since systems bound the number of watches.
	mostDirs = 2000
)

// Unknown is reported in place of a file if changes were lost, so that any file may have changed.
const Unknown = ""

// Watcher collects changes of files from New to Close. It belongs to one goroutine.
type Watcher struct {
	files *fsnotify.Watcher
	dirs  map[string]struct{}
}

// New returns a watcher without directories.
func New() (*Watcher, error) {
	w, err := fsnotify.NewBufferedWatcher(1024)
	if err != nil {
		return nil, err
	}
	return &Watcher{files: w, dirs: map[string]struct{}{}}, nil
}

// Below returns the directories and those below them, the nearest first. Links are not followed, and hidden
// directories are left out, unless they are given. Of very many directories, the deepest are left out.
func Below(dirs []string) []string {
	out := slices.Clone(dirs)
	known := map[string]struct{}{}
	for _, dir := range out {
		known[dir] = struct{}{}
	}
	for i := 0; i < len(out) && len(out) < mostDirs; i++ {
		entries, _ := os.ReadDir(filepath.FromSlash(out[i])) // an unreadable directory cannot be watched either
		for _, e := range entries {
			dir := path.Join(out[i], e.Name())
			if _, ok := known[dir]; !ok && e.IsDir() && !strings.HasPrefix(e.Name(), ".") && len(out) < mostDirs {
				known[dir] = struct{}{}
				out = append(out, dir)
			}
		}
	}
	return out
}

// Close ends the collection.
func (w *Watcher) Close() error { return w.files.Close() }

// Watch makes these the directories that are watched. One that does not exist is left out. Changes that are
// collected but not reported yet remain.
func (w *Watcher) Watch(dirs []string) {
	wanted := map[string]struct{}{}
	for _, dir := range dirs {
		if w.files.Add(filepath.FromSlash(dir)) == nil { // again too, since it may have been replaced
			wanted[dir] = struct{}{}
		}
	}
	for dir := range w.dirs {
		if _, ok := wanted[dir]; !ok {
			_ = w.files.Remove(filepath.FromSlash(dir)) // which fails if the directory is gone
		}
	}
	w.dirs = wanted
}

// Changed returns the files that have changed and were not reported yet, without waiting. Names are slash
// separated and begin with the directory that they are in, as it was given to Watch; they are sorted.
func (w *Watcher) Changed() []string {
	changed := map[string]struct{}{}
	for len(w.files.Events)+len(w.files.Errors) > 0 && w.note(changed, nil) {
	}
	return slices.Sorted(maps.Keys(changed))
}

// Wait waits for changes and returns them like Changed, once they have stopped for a moment. It returns
// nothing when ctx ends.
func (w *Watcher) Wait(ctx context.Context) []string {
	changed := map[string]struct{}{}
	for len(changed) == 0 {
		if !w.note(changed, ctx.Done()) {
			return nil
		}
	}
	end := time.After(longest)
	for {
		pause, stop := context.WithTimeout(ctx, quiet)
		more := w.note(changed, pause.Done())
		stop()
		select {
		case <-end:
			return slices.Sorted(maps.Keys(changed))
		default:
		}
		if !more {
			return slices.Sorted(maps.Keys(changed))
		}
	}
}

// note adds the next change to a set. It returns false if there is none until done.
func (w *Watcher) note(changed map[string]struct{}, done <-chan struct{}) bool {
	select {
	case e, ok := <-w.files.Events:
		if ok && e.Op != fsnotify.Chmod { // which changes only attributes
			changed[filepath.ToSlash(filepath.Clean(e.Name))] = struct{}{}
		}
		return ok
	case _, ok := <-w.files.Errors:
		changed[Unknown] = struct{}{}
		return ok
	case <-done:
		return false
	}
}
