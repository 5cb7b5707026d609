package safefile

import (
	"bytes"
	"io/fs"

	"github.com/natefinch/atomic"
)

// Replace makes content the whole content of a file. Readers see the complete old or new content. The
// directory must exist.
func Replace(path string, content []byte) error {
	return atomic.WriteFile(path, bytes.NewReader(content))
}

// ReplacePrivate is Replace: on this system, other users cannot read the files in a user's profile.
func ReplacePrivate(path string, content []byte) error { return Replace(path, content) }

// SyncDir does nothing: the system makes renames durable by itself.
func SyncDir(string) error { return nil }

// replaceFile replaces a file by a new one.
func replaceFile(path string, _ fs.FileInfo, content []byte) error { return Replace(path, content) }
