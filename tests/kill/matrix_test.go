//go:build unix

package kill

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

// ending is how a run is ended at a call: by a signal to the program, and maybe by others some calls later.
type ending struct {
	signals []syscall.Signal
	heeded  bool // the program ends by itself
}

func (e ending) String() string {
	names := make([]string, len(e.signals))
	for i, sig := range e.signals {
		names[i] = sig.String()
	}
	return strings.Join(names, ", ")
}

// between is how many calls after a signal the next one follows.
const between = 3

// stateStore is a terraform block with a state store in a provider, whose states are in the cloud of a site.
const stateStore = "terraform {\n  state_store \"sim_files\" {\n    provider \"sim\" {}\n    dir = \"matrix\"\n  }\n}\n"

var endings = []ending{
	{[]syscall.Signal{syscall.SIGINT}, true},
	{[]syscall.Signal{syscall.SIGTERM}, true},
	{[]syscall.Signal{syscall.SIGKILL}, false},
	{[]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}, false}, // the third ends it at once
}

// TestMatrix ends applies by each ending at points spread evenly over all calls that the program makes to
// write anything, to disks, plugins and servers. An ending comes at other points for each store. The variable
// MAYFLY_TEST_KILLS replaces their number.
func TestMatrix(t *testing.T) {
	for shift, store := range []string{"local", "pg", "s3", "provider"} {
		t.Run(store, func(t *testing.T) {
			block := func() string { return "" }
			if store == "provider" {
				block = func() string { return stateStore }
			}
			for _, kind := range services.Kinds {
				if kind.Name == store {
					server, states := kind.Start(t), new(atomic.Int32)
					block = func() string { return server.Block(fmt.Sprintf("matrix%d", states.Add(1))) }
				}
			}
			whole := newSharedSite(t, block())
			_, all := whole.ended(ending{}, 0)
			t.Logf("an apply makes %d calls", all)
			t.Run("points", func(t *testing.T) { // ends before the server
				n := points(t)
				for i, e := range endings {
					for k := range n {
						at := 1 + (k*len(endings)+(i+shift)%len(endings))*all/(n*len(endings))
						t.Run(fmt.Sprintf("%s at call %d", e, at), func(t *testing.T) {
							t.Parallel()
							s := newSharedSite(t, block())
							r, _ := s.ended(e, at)
							s.checkEnded(e, r)
							if t.Failed() {
								t.Logf("exit status %d; the run ended with:\n%s", r.code, r.output[max(0, len(r.output)-2500):])
							}
						})
					}
				}
			})
		})
	}
}

// ended applies, and ends the run right before the call of a number, from 1; 0 for none. It returns the
// number of calls.
func (s *site) ended(e ending, at int) (r run, calls int) {
	s.Helper()
	var out bytes.Buffer
	cmd := s.command(&out, &out, "apply", "-auto-approve", "-no-color")
	began := time.Now()
	err := sysfault.Run(cmd, func(sysfault.Call) syscall.Errno {
		if calls++; at == 0 || calls < at || (calls-at)%between != 0 || (calls-at)/between >= len(e.signals) {
			return 0
		}
		_ = syscall.Kill(cmd.Process.Pid, e.signals[(calls-at)/between])
		return 0
	})
	over := time.Now()
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	if errors.Is(err, errors.ErrUnsupported) {
		s.Skip(err)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.Fatal(err)
	}
	s.quiet(cmd.Process.Pid)
	return run{out.String(), cmd.ProcessState.ExitCode(), s.transcript(), began, over}, calls
}

// checkEnded checks what a run has left, and that the next one completes it.
func (s *site) checkEnded(e ending, r run) {
	s.Helper()
	if e.heeded {
		s.checkHeeded(r)
		return
	}
	former := s.dir
	if s.backend != "" {
		s.enter(s.TempDir())
	}
	later := s.breakLock()
	have := s.recorded()
	s.checkRecorded(r, have)
	later += s.must(0, "apply", "-auto-approve", "-no-color")
	out := r.output + later
	for _, name := range s.converged() {
		// A run that gives up by itself names it in an error, one that is killed leaves that to the next run.
		if !strings.Contains(out, "sim_thing."+name+" (create)") && !strings.Contains(out, "with sim_thing."+name+",") {
			s.Errorf("%s exists, no state has it, and no command names sim_thing.%s:\n%s", name, name, out)
		}
	}
	if s.dir != former { // which alone knows what was opened to plan
		s.dir = former
		later += s.must(0, "plan", "-no-color")
	}
	s.checkListed(r, later)
	if strings.Contains(r.output, "goroutine ") {
		s.Error("a stack trace shows words of memory")
	}
	s.Logf("%d begun, %d recorded, %d leases outlived the run", r.calls.Count(creation), len(have), len(r.calls.Unclosed()))
}
