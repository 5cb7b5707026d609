// Package place names the working directory for people who read about a run elsewhere.
//
// It imports nothing of this module.
package place

import (
	"os"
	"path/filepath"
)

// Name returns the working directory from its Git repository on, or its own name if it is in none. It is ""
// if there is no working directory.
func Name() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			inside, _ := filepath.Rel(at, dir) // at is above dir
			return filepath.ToSlash(filepath.Join(filepath.Base(at), inside))
		}
		if at == filepath.Dir(at) {
			return filepath.Base(dir)
		}
	}
}
