package safefile

import (
	"os"
	"path/filepath"
)

// Same reports whether two paths name one file, which need not exist yet. It reports false for
// terminals, pipes and the like: several writers to them overwrite nothing.
func Same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	return targetOf(a) == targetOf(b)
}

// targetOf returns the absolute path at which a file would be created, with symbolic links followed,
// including one with the file's own name.
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
