package safefile

import (
	"bytes"
	"io/fs"

	"github.com/natefinch/atomic"
)

// replaceFile puts a new file in the place of another.
func replaceFile(path string, _ fs.FileInfo, content []byte) error {
	return atomic.WriteFile(path, bytes.NewReader(content))
}
