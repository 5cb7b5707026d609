package atomicfile

import (
	"bytes"

	"github.com/natefinch/atomic"
)

// Write replaces the content of the file at path, so that readers see the complete old or new content. The
// directory must exist.
func Write(path string, content []byte) error {
	return atomic.WriteFile(path, bytes.NewReader(content))
}

// WriteSecret is Write. On this system, other users cannot read the files in a user's profile.
func WriteSecret(path string, content []byte) error { return Write(path, content) }
