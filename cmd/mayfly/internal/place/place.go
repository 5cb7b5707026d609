// Package place names the working directory and its commit for people who read about a run elsewhere.
//
// It imports nothing of this module.
package place

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/pattern"
)

// Name returns the working directory from its Git repository on, or its own name if it is in none. It is ""
// if there is no working directory.
func Name() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	at, ok := repository(dir)
	if !ok {
		return filepath.Base(dir)
	}
	inside, _ := filepath.Rel(at, dir) // at is above dir
	return filepath.ToSlash(filepath.Join(filepath.Base(at), inside))
}

// repository returns the directory with the repository that dir is in.
func repository(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// Commit returns the beginning of the commit that is checked out in the working directory; "" if there is
// none or it cannot be found without Git. Files that have been changed since do not show in it.
func Commit() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	at, ok := repository(dir)
	if !ok {
		return ""
	}
	own := filepath.Join(at, ".git")
	if link, ok := strings.CutPrefix(first(own), "gitdir: "); ok { // of a worktree or submodule
		if own = link; !filepath.IsAbs(own) {
			own = filepath.Join(at, own)
		}
	}
	shared := own
	if common := first(filepath.Join(own, "commondir")); common != "" {
		shared = filepath.Join(own, common)
	}
	commit := first(filepath.Join(own, "HEAD"))
	if ref, ok := strings.CutPrefix(commit, "ref: "); ok {
		if commit = first(filepath.Join(shared, filepath.FromSlash(ref))); commit == "" {
			commit = packed(filepath.Join(shared, "packed-refs"), ref)
		}
	}
	if !commitID().MatchString(commit) {
		return ""
	}
	return commit[:shown]
}

const shown = 10 // characters, which tell commits apart

var commitID = pattern.New(`^[0-9a-f]{40,64}$`)

// first returns the first line of a small file, "" if there is none.
func first(file string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return ""
	}
	text, _ := os.ReadFile(file)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

// packed returns the commit of a reference in the file of packed references.
func packed(file, ref string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if commit, name, _ := strings.Cut(lines.Text(), " "); name == ref {
			return commit
		}
	}
	return ""
}
