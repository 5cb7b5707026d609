package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/safefile"
	"github.com/mayfly-iac/mayfly/state"
)

// RescueName is the name of the file for a state that could not be stored.
const RescueName = "errored.tfstate"

// Rescue writes f, which the store did not accept, to a new file in the first of the directories where that
// succeeds, readable by its owner only. The file contains the whole state or does not exist. Existing files
// are not replaced: the name gets a suffix if necessary. It returns the path, to be shown to the user. c
// may be nil.
func Rescue(dirs []string, f *state.File, c Cipher) (string, error) {
	b, err := Encode(f, c)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, dir := range dirs {
		path, err := rescueIn(dir, b)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// rescueIn writes the state to a temporary file in dir, makes it durable, and publishes it. It leaves
// nothing behind if it fails.
func rescueIn(dir string, b []byte) (string, error) {
	file, err := os.CreateTemp(dir, "."+RescueName+".*.tmp")
	if err != nil {
		return "", fmt.Errorf("keeping the state in %s: %w", dir, err)
	}
	_, err = file.Write(b)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		var path string
		if path, err = publish(file.Name(), filepath.Join(dir, RescueName)); err == nil {
			return path, nil
		}
	}
	return "", errors.Join(fmt.Errorf("keeping the state in %s: %w", dir, err), os.Remove(file.Name()))
}

// publish renames a complete file to path, with a suffix if that exists, and returns the name.
func publish(file, path string) (string, error) {
	if _, err := os.Lstat(path); err == nil {
		path += "." + uuid.NewString()[:8]
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Rename(file, path); err != nil {
		return "", err
	}
	_ = safefile.SyncDir(filepath.Dir(path)) // the state is there all the same
	return path, nil
}
