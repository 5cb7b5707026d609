package lockfile

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"golang.org/x/mod/sumdb/dirhash"
)

// HashDir returns the h1 hash of an unpacked package. dir may be a symbolic link to the package.
func HashDir(dir string) (Hash, error) {
	// The library would treat a link as an empty package.
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	h, err := dirhash.HashDir(real, "", dirhash.Hash1)
	return Hash(h), err
}

// HashArchive returns the zh hash of a packed package, size bytes long.
func HashArchive(r io.ReaderAt, size int64) (Hash, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, size)); err != nil {
		return "", err
	}
	return Hash("zh:" + hex.EncodeToString(sum.Sum(nil))), nil
}

// HashContent returns the h1 hash of a packed package, which equals the hash of its unpacked directory.
func HashContent(archive *zip.Reader) (Hash, error) {
	files := make(map[string]*zip.File, len(archive.File))
	var names []string
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if files[f.Name] != nil {
			return "", fmt.Errorf("the archive has two files named %q", f.Name)
		}
		files[f.Name] = f
		names = append(names, f.Name)
	}
	h, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
	return Hash(h), err
}
