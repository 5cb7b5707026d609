package main

import (
	"io/fs"
	"path"
	"time"
)

// snapshot is the configuration files in a saved plan. It implements config.FS.
type snapshot map[string][]byte

// ReadFile implements config.FS.
func (s snapshot) ReadFile(name string) ([]byte, error) {
	src, ok := s[path.Clean(name)]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return src, nil
}

// ReadDir implements config.FS. A directory that the plan has no files of was there without configuration
// files when it was made.
func (s snapshot) ReadDir(name string) ([]fs.DirEntry, error) {
	name = path.Clean(name)
	var out []fs.DirEntry
	for file, src := range s {
		if path.Dir(path.Clean(file)) == name {
			out = append(out, fs.FileInfoToDirEntry(snapshotFile{path.Base(file), int64(len(src))}))
		}
	}
	return out, nil
}

// snapshotFile implements fs.FileInfo.
type snapshotFile struct {
	name string
	size int64
}

func (f snapshotFile) Name() string       { return f.name }
func (f snapshotFile) Size() int64        { return f.size }
func (f snapshotFile) Mode() fs.FileMode  { return 0o444 }
func (f snapshotFile) ModTime() time.Time { return time.Time{} }
func (f snapshotFile) IsDir() bool        { return false }
func (f snapshotFile) Sys() any           { return nil }
