package powercut

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

// Cut is a possible outcome of a power cut.
type Cut struct {
	Image
	At   string   // the call that the process was about to make, for people
	Done []string // actions of the process up to then
}

// Has reports whether the process had done something.
func (c Cut) Has(done string) bool { return slices.Contains(c.Done, done) }

// Watched is a process and the directory that it works with.
type Watched struct {
	Root string // the directory whose content counts; no symbolic link is in its path
	Skip string // name of directories that do not
	// Done returns the actions of the process so far. It is called before each of its calls, while that
	// waits.
	Done func() ([]string, error)
}

// Files returns a Done for a process that creates a file in a directory for each thing that it has done.
func Files(dir string) func() ([]string, error) {
	return func() (names []string, err error) {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, err
	}
}

// Cuts runs a process to its end and returns the possible outcomes if the power is cut before any of its
// calls that change something, or after the last one. The error wraps errors.ErrUnsupported on systems where
// calls are not announced, or is the process's own if it fails.
func (w Watched) Cuts(cmd *exec.Cmd) (cuts []Cut, err error) {
	d, err := New(w.Root, w.Skip)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	seen := map[string]bool{}
	note := func(c sysfault.Call) error {
		done, err := w.Done()
		if err != nil {
			return err
		}
		images, err := d.Left()
		for _, m := range images {
			if key := fmt.Sprintf("%q", done) + m.Key(); !seen[key] {
				seen[key] = true
				cuts = append(cuts, Cut{Image: m, At: c.Name + " " + c.Path, Done: done})
			}
		}
		return err
	}
	var failed error
	ran := sysfault.Run(cmd, func(c sysfault.Call) syscall.Errno {
		failed = errors.Join(failed, note(c), d.Before(c.Path, c.Synced))
		return 0
	})
	if err := errors.Join(ran, failed); err != nil {
		return nil, err
	}
	return cuts, note(sysfault.Call{Name: "the end"})
}
