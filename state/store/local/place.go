package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/safefile"
)

// paths are the files of one workspace. Symbolic links to the state are followed once, when the paths are
// determined: the other files lie beside the target, so that they are found whichever name is used for the
// state.
type paths struct {
	read, write string
	backup      string // "" for none
	journal     string
	info        string // of the lock
	streams     bool   // the state to read was named by an option, so that its pipe or device is read to the end
	redirected  string // the file to write according to options; "" if they name none
	infoByName  string // where an engine that does not follow links looks for it; usually the same
}

// infoPath returns the name that other engines give to the information about a lock on the state.
func infoPath(state string) string {
	return filepath.Join(filepath.Dir(state), "."+filepath.Base(state)+".lock.info")
}

// follow returns the target of the path if it is a symbolic link; the target need not exist. Any other path
// is returned unchanged.
func follow(path string) string {
	at := path
	for range 40 { // the usual limit of systems
		next, err := os.Readlink(at)
		if err != nil {
			return at
		}
		if !filepath.IsAbs(next) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(at))
			if err != nil {
				return path
			}
			next = filepath.Join(dir, next)
		}
		// The system's names for open pipes and terminals read like links but lead nowhere.
		if isStream(at) && !exists(next) {
			return path
		}
		at = next
	}
	return path
}

// isStream reports whether path names a file that can only be read or written from beginning to end: a
// pipe, a socket or a character device.
func isStream(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice) != 0
}

// checkTargets returns an error if the state or its backup could not be written where the options say.
// It changes nothing. Because a result that cannot be stored is hard to recover, it is called before an
// operation begins and again before each write.
func (p paths) checkTargets() error {
	if fi, err := os.Stat(p.write); err == nil && !fi.Mode().IsRegular() {
		return fmt.Errorf("the state cannot be kept in %s, because it is %s. Choose a regular file, or one that does not exist yet",
			p.write, safefile.Kind(fi.Mode()))
	}
	if p.backup == "" {
		return nil
	}
	fi, err := os.Stat(p.backup)
	switch {
	case err == nil && !fi.Mode().IsRegular() && fi.Mode()&fs.ModeCharDevice == 0:
		err = fmt.Errorf("it is %s", safefile.Kind(fi.Mode())) // a pipe could lose its reader before it is written to
	case errors.Is(err, fs.ErrNotExist):
		if _, err = os.Stat(filepath.Dir(p.backup)); filepath.Dir(p.backup) == filepath.Dir(p.write) {
			err = nil // which is created together with the state
		} else if err == nil {
			err = safefile.CheckWritable(p.backup)
		}
	}
	if err != nil {
		return fmt.Errorf("the backup of the state cannot be kept in %s: %s. Choose another file, or use -backup=- for no backup", p.backup, diag.Reason(err))
	}
	return nil
}

// maxStream is the maximum size of a state read from a pipe or device, in bytes.
const maxStream = 256 << 20

// readStream reads a state that is not a regular file, which is possible only once.
func readStream(path string) ([]byte, error) {
	return safefile.ReadStream(path, maxStream)
}

// writeDevice writes b to a character device, such as the null device.
func writeDevice(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
