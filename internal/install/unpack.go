package install

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// limits bound the unpacked content of an archive, so that a small file cannot fill the disk.
type limits struct {
	files int
	bytes int64
}

// packageLimits are far above known providers: the largest have a few files and less than one gigabyte.
var packageLimits = limits{files: 10_000, bytes: 4 << 30}

// unpack extracts an archive into the existing directory dir. Names that lead outside of it, links and
// special files are refused. After an error, dir contains some of the files; the caller removes it.
func unpack(archive *zip.Reader, dir string, lim limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if len(archive.File) > lim.files {
		return fmt.Errorf("the archive has %d files; at most %d are accepted", len(archive.File), lim.files)
	}
	left := lim.bytes
	for _, f := range archive.File {
		if err := checkEntry(f); err != nil {
			return err
		}
		if f.FileInfo().IsDir() {
			if err := root.MkdirAll(path.Clean(f.Name), 0o755); err != nil {
				return err
			}
			continue
		}
		n, err := unpackFile(root, f, left)
		if err != nil {
			return err
		}
		if left -= n; left < 0 {
			return fmt.Errorf("the archive unpacks to more than %d bytes", lim.bytes)
		}
	}
	return nil
}

// checkEntry refuses an entry that would be written outside of the package, or is not a file or directory.
func checkEntry(f *zip.File) error {
	name := strings.TrimSuffix(f.Name, "/")
	// Backslashes are separators on Windows, where another program would follow them.
	if !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("the archive has an entry %q, whose name points outside of the package", f.Name)
	}
	if mode := f.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return fmt.Errorf("the archive has an entry %q that is neither a file nor a directory; links are not accepted", f.Name)
	}
	return nil
}

// unpackFile writes one file of at most limit bytes, plus one byte if it is larger.
func unpackFile(root *os.Root, f *zip.File, limit int64) (n int64, err error) {
	if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
		return 0, err
	}
	in, err := f.Open()
	if err != nil {
		return 0, fmt.Errorf("reading %q of the archive: %w", f.Name, err)
	}
	defer in.Close()
	perm := fs.FileMode(0o644) | f.Mode().Perm()&0o111
	out, err := root.OpenFile(f.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err = io.Copy(out, io.LimitReader(in, limit+1))
	if err != nil {
		return n, fmt.Errorf("unpacking %q: %w", f.Name, err)
	}
	return n, nil
}
