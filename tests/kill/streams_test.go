//go:build unix

package kill

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// TestFullOutput has standard output on a disk that is full: scripts go by the exit status.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	s := newDiskSite(t, 2, 1)
	s.must(0, "apply", "-auto-approve")
	for _, command := range []string{"state pull", "state list", "validate", "output -json", "show", "plan -out=saved", "version", "graph", "apply -auto-approve"} {
		var errs bytes.Buffer
		cmd := s.command(full, &errs, strings.Fields(command)...)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || strings.Count(errs.String(), "no space left on device") != 1 {
			t.Errorf("%s: got %v, want exit status 1, and the missing space reported once\n%s", command, err, &errs)
		}
	}
}

// TestWithoutStreams closes standard input, output and error at the start. What the program opens then must
// not get their numbers, or messages would be written into the state.
func TestWithoutStreams(t *testing.T) {
	t.Parallel()
	s := newDiskSite(t, 4, 1)
	s.shell("exec <&- >&- 2>&-; exec \"$0\" apply -auto-approve")
	s.converges(4)
}

// shell runs a shell command, whose $0 is the program, and returns the exit status and what it prints.
func (s *site) shell(script string) (int, string) {
	s.Helper()
	cmd := s.command(nil, nil)
	sh := exec.Command("sh", "-c", script, cmd.Path)
	sh.Dir, sh.Env = cmd.Dir, cmd.Env
	out, err := sh.CombinedOutput()
	if sh.ProcessState == nil {
		s.Fatal(err)
	}
	return sh.ProcessState.ExitCode(), string(out)
}

// TestFewDescriptors applies with as few open files as the program can start with, and then more: either all
// goes well, or an error names the limit, and the next run completes what is there.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	s := newDiskSite(t, 4, 1)
	for _, limit := range []string{"8", "10", "12", "14", "16", "18"} {
		code, out := s.shell("ulimit -n " + limit + "; exec \"$0\" apply -auto-approve -no-color")
		if code != 0 && (code != 1 || !strings.Contains(strings.Join(strings.Fields(out), " "), "too many open files")) {
			t.Errorf("%s files: got exit status %d, want 0, or 1 and too many open files\n%s", limit, code, out)
		}
	}
	s.converges(4)
}

// TestStopped stops the program for longer than a lease lasts, as closing a laptop does, and lets it go on.
// The lease is renewed at once, or its loss is reported.
func TestStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), strings.Replace(noisy, "seq 20000", "until [ -e renewed ]; do sleep 0.1; done", 1))
	var out bytes.Buffer
	cmd := s.command(&out, &out, "apply", "-auto-approve", "-no-color")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	renewals := func() int { return s.transcript().Count(simlog.Filter{RPC: "RenewEphemeralResource"}) }
	s.until("a renewal", func() bool { return renewals() > 0 })
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGSTOP)
	if code, _ := s.shell("sleep 3"); code != 0 {
		t.Error(code)
	}
	before := renewals()
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGCONT)
	s.until("a renewal after the stop", func() bool { return renewals() > before })
	filetest.Write(t, filepath.Join(s.dir, "renewed"), "")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	if open := s.transcript().Unclosed(); len(open) > 0 {
		t.Errorf("left open: %q", open)
	}
}
