package safefile

import (
	"bytes"
	"io/fs"

	"github.com/natefinch/atomic"
)

// replaceFile replaces a file by a new one.
func replaceFile(path string, _ fs.FileInfo, content []byte) error {
	return atomic.WriteFile(path, bytes.NewReader(content))
}
