package kill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stranger is a user who has no processes.
const stranger = 54321

// hand gives a directory with everything in it to the stranger, and lets them reach it.
func hand(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, stranger, stranger))
	})
	for up := filepath.Dir(dir); err == nil && up != filepath.Dir(os.TempDir()) && up != "/" && up != os.TempDir(); up = filepath.Dir(up) {
		err = os.Chmod(up, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestProcessLimit applies as a user who may have few processes and threads. Go's runtime ends a program that
// gets no thread when it needs one, which must be no worse than a kill.
func TestProcessLimit(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start programs as a user without other processes")
	}
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip(err)
	}
	for _, limit := range []int{12, 17, 24} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			s := newSite(t)
			home := t.TempDir()
			for _, dir := range []string{s.dir, s.cloud, filepath.Dir(s.log), home} {
				hand(t, dir)
			}
			hand(t, filepath.Dir(binary))
			out := &bytes.Buffer{}
			cmd := s.command(out, out, "apply", "-auto-approve", "-no-color")
			cmd.Args = append([]string{"prlimit", fmt.Sprint("--nproc=", limit), cmd.Path}, cmd.Args[1:]...)
			cmd.Path, _ = exec.LookPath("prlimit")
			cmd.Env = append(cmd.Env, "HOME="+home, "TMPDIR="+home)
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: stranger, Gid: stranger}
			began := time.Now()
			err := cmd.Run()
			over := time.Now()
			s.quiet(cmd.Process.Pid)
			r := run{out.String(), cmd.ProcessState.ExitCode(), s.transcript(), began, over}
			have := s.recorded()
			t.Logf("%d begun, %d recorded: %v", r.calls.Count(creation), len(have), err)
			s.checkRecorded(r, have)
			later := s.must(0, "apply", "-auto-approve", "-no-color")
			for _, name := range s.converged() {
				if !strings.Contains(later, "sim_thing."+name+" (create)") && !strings.Contains(r.output, "with sim_thing."+name+",") {
					t.Errorf("%s exists, no state has it, and no command names it:\n%s", name, later)
				}
			}
			s.checkListed(r, later)
		})
	}
}
