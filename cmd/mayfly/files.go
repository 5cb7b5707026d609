package main

import (
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/safefile"
)

// fileOption is a file that an option or argument names.
type fileOption struct {
	option string // as it is typed
	path   string // "" if it was not given
	reads  bool   // that the file is only read
}

const (
	// maxGiven bounds a file that the command line names, in bytes.
	maxGiven = 2 << 30
	// maxInput bounds what is read of standard input as a file, in bytes.
	maxInput = 256 << 20
)

// readGiven reads a file that a person has named, which may be a pipe.
func readGiven(path string) ([]byte, error) { return safefile.ReadStream(path, maxGiven) }

// checkFiles refuses two options for the same file: one would overwrite what the other has written
// or is about to read.
func checkFiles(files []fileOption) diag.List {
	for i, f := range files {
		for _, other := range files[:i] {
			state := f.option == "-state" || other.option == "-state"
			if f.reads && other.reads || state && (f.option == "-state-out" || other.option == "-state-out") || !sameFile(f.path, other.path) {
				continue
			}
			return diag.Errorf("Conflicting files", "Both %s and %s name the file %s, so one would overwrite the other. Give each a file of its own. Nothing was done.", other.option, f.option, f.path)
		}
	}
	return nil
}

// sameFile reports whether two paths lead to one file, which need not exist yet. Terminals, pipes and the
// like are not files in this sense: all that is written to them arrives.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return errX != nil && errY != nil && targetOf(a) == targetOf(b)
}

// targetOf returns where a file would be made: the absolute path, with the links in its directory and in its
// name followed.
func targetOf(path string) string {
	for range 40 { // as many links as systems follow
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	if whole, err := filepath.Abs(filepath.Join(dir, filepath.Base(path))); err == nil {
		return whole
	}
	return path
}

func (a *app) variableFiles() []fileOption {
	var out []fileOption
	for _, s := range a.settings {
		if s.File {
			out = append(out, fileOption{"-var-file", s.Text, true})
		}
	}
	return out
}
