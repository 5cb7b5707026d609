//go:build !unix

package install

import (
	"fmt"
	"os"
)

// fileTrace describes a file by its size and the time of its last modification.
func fileTrace(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano()), nil
}
