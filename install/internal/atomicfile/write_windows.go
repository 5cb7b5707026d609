package atomicfile

import (
	"bytes"

	"github.com/natefinch/atomic"
)

// Write replaces the content of the file at path, so that readers see the old or the new content in full. The
// directory must exist.
func Write(path string, content []byte) error {
	return atomic.WriteFile(path, bytes.NewReader(content))
}

// WriteSecret is like Write. On this system the files of a person's profile are the person's own.
func WriteSecret(path string, content []byte) error { return Write(path, content) }
