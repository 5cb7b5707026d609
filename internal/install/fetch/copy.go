package fetch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Copy copies a package to another directory, which must not exist, without the history of a repository.
func Copy(from, to string) error {
	if info, err := os.Lstat(from); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	return CopyInto(from, to)
}

// CopyInto copies the content of a directory into another, which may exist, without the history of a
// repository. It overwrites no file.
func CopyInto(from, to string) error { return os.CopyFS(to, withoutHistory{os.DirFS(from)}) }

// withoutHistory is a file system without the directory .git at its root.
type withoutHistory struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (w withoutHistory) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, name)
	if name != "." {
		return entries, err
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" }), err
}

// ReadLink implements fs.ReadLinkFS.
func (w withoutHistory) ReadLink(name string) (string, error) { return fs.ReadLink(w.FS, name) }

// Lstat implements fs.ReadLinkFS.
func (w withoutHistory) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(w.FS, name) }

// Dirs returns the directories of a package that match a pattern; see Source.Subdir.
func Dirs(pkg, pattern string) ([]string, error) {
	matches, err := filepath.Glob(filepath.Join(pkg, filepath.FromSlash(pattern)))
	var out []string
	for _, m := range matches {
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			if rel, err := filepath.Rel(pkg, m); err == nil {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return out, err
}
