package main

import (
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// fileOption is a file named by an option or argument. Commands collect all of theirs before they open one.
type fileOption struct {
	option string // as it is typed
	path   string // "" if it was not given
	reads  bool   // the file is only read
}

const (
	// maxGiven bounds a file that the command line names, in bytes.
	maxGiven = 2 << 30
	// maxInput bounds a file read from standard input, in bytes.
	maxInput = 256 << 20
)

// readGiven reads a file named on the command line, which may be a pipe.
func readGiven(path string) ([]byte, error) { return safefile.ReadStream(path, maxGiven) }

// checkFiles refuses two options for the same file: one would overwrite the file that the other has written
// or is about to read. Files are the same if they are one file of the system, by whatever names.
func checkFiles(files []fileOption) diag.List {
	for i, f := range files {
		for _, other := range files[:i] {
			// A state may be written back to the file that it was read from.
			state := f.option == "-state" || other.option == "-state"
			if f.reads && other.reads || state && (f.option == "-state-out" || other.option == "-state-out") || !safefile.Same(f.path, other.path) {
				continue
			}
			return diag.Errorf("Conflicting files", "Both %s and %s name the file %s, so one would overwrite the other. Give each a file of its own. Nothing was done.", other.option, f.option, f.path)
		}
	}
	return nil
}
