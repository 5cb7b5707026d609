package safefile

import (
	"os"
	"path/filepath"
)

// Rewrite replaces the content of an existing file: all of it or, after a crash, nothing. Links to the file
// are preserved, as are its mode and owner. If the file cannot be replaced, because its directory is not
// writable or it has several names, it is overwritten in place. Errors come from os.OpenFile and os.File.
func Rewrite(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	// A read-only file is not replaced either.
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if replaceFile(path, info, content) == nil {
		return nil
	}
	return overwrite(file, content)
}

func overwrite(file *os.File, content []byte) error {
	if _, err := file.WriteAt(content, 0); err != nil {
		return err
	}
	if err := file.Truncate(int64(len(content))); err != nil {
		return err
	}
	return file.Sync()
}
