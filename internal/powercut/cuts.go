package powercut

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/mayfly-iac/mayfly/internal/sysfault"
)

// Cut is what a power cut may leave.
type Cut struct {
	Image
	At    string          // the call that the process was about to make, for people
	Marks map[string]bool // what the process had done by then
}

// Watched is a process and the directories that it works with. They have no symbolic links in their paths.
type Watched struct {
	Root  string // the directory whose content counts
	Skip  string // name of directories that do not
	Marks string // where the process creates a file for each thing that it has done
}

// Cuts runs a process to its end and returns what may be left if the power is cut before any of its calls
// that change something, or after the last one. The error wraps errors.ErrUnsupported on systems where calls
// are not announced, and is that of the process if it fails.
func (w Watched) Cuts(cmd *exec.Cmd) (cuts []Cut, err error) {
	d, err := New(w.Root, w.Skip)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	seen := map[string]bool{}
	note := func(c sysfault.Call) error {
		images, err := d.Left()
		if err != nil {
			return err
		}
		entries, err := os.ReadDir(w.Marks)
		if err != nil {
			return err
		}
		marks := map[string]bool{}
		for _, e := range entries {
			marks[e.Name()] = true
		}
		for _, m := range images {
			if key := fmt.Sprint(len(marks)) + m.Key(); !seen[key] {
				seen[key] = true
				cuts = append(cuts, Cut{Image: m, At: c.Name + " " + c.Path, Marks: marks})
			}
		}
		return nil
	}
	var failed error
	ran := sysfault.Run(cmd, func(c sysfault.Call) syscall.Errno {
		failed = errors.Join(failed, note(c))
		failed = errors.Join(failed, d.Before(c.Path, c.Synced))
		return 0
	})
	if err := errors.Join(ran, failed); err != nil {
		return nil, err
	}
	return cuts, note(sysfault.Call{Name: "the end"})
}
