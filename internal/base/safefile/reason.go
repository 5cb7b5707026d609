package safefile

import (
	"errors"
	"io/fs"
	"os"
)

// Reason returns the text of an error about a file without the names of files that the system's errors have:
// a path may come from a secret value.
func Reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return Reason(path.Err)
	case errors.As(err, &link):
		return Reason(link.Err)
	default:
		return err.Error()
	}
}
