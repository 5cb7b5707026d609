package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/state"
)

// RescueName is the name of the file that keeps a state that could not be stored.
const RescueName = "errored.tfstate"

// Rescue keeps f in a new file in the first of the directories that takes it, readable by its owner only,
// because the store did not take it. The file is there with all of the state or not at all. No file is
// replaced: if there is already one, the name gets a suffix. It returns the path, to be shown to the user. c
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

// publish gives a complete file the name path, or that with a suffix if there is such a file, and returns it.
func publish(file, path string) (string, error) {
	if _, err := os.Lstat(path); err == nil {
		path += "." + uuid.NewString()[:8]
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Rename(file, path); err != nil {
		return "", err
	}
	// The folder is synchronised as far as the system knows such a thing.
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = errors.Join(d.Sync(), d.Close())
	}
	return path, nil
}
