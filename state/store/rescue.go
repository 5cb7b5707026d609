package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/mayfly-iac/mayfly/internal/base/safefile"
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

// rescueIn writes the state to a new file in dir and returns its name. It leaves nothing behind if it fails.
func rescueIn(dir string, b []byte) (string, error) {
	path := filepath.Join(dir, RescueName)
	err := safefile.CreatePrivate(path, b)
	if errors.Is(err, fs.ErrExist) {
		path += "." + uuid.NewString()[:8]
		err = safefile.CreatePrivate(path, b)
	}
	if err != nil {
		return "", fmt.Errorf("keeping the state in %s: %w", dir, err)
	}
	return path, nil
}
