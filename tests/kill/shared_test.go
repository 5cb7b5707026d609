//go:build unix

package kill

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/tests/internal/services"
)

// kills is how often the program is ended by default in each way, for each backend and store.
const kills = 1

// envKills is how often instead.
const envKills = "MAYFLY_TEST_KILLS"

// points returns the number of envKills, or kills if there is none.
func points(t *testing.T) int {
	n, text := kills, os.Getenv(envKills)
	if text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// TestSIGKILLShared kills the program and its plugins, and goes on on another machine, which has nothing
// but the configuration, or in another directory if the state is in a provider, whose journal is on the
// machine.
func TestSIGKILLShared(t *testing.T) {
	n := points(t)
	for _, kind := range services.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			server, place := kind.Start(t), 0
			sharedKill(t, n, func(*testing.T) string {
				place++
				return server.Block(fmt.Sprintf("kill%d", place))
			})
		})
	}
	t.Run("provider", func(t *testing.T) { sharedKill(t, n, func(*testing.T) string { return stateStore }) })
}

func sharedKill(t *testing.T, n int, backend func(*testing.T) string) {
	for _, at := range moments(t, n) {
		t.Run(at.String(), func(t *testing.T) {
			s := newSharedSite(t, backend(t))
			r := s.interrupted("apply", creation, at, syscall.SIGKILL, true)
			former := s.dir
			s.enter(t.TempDir())
			out := s.breakLock()
			have := s.recorded()
			s.checkRecorded(r, have)
			out += s.goOn()
			for _, name := range s.converged() {
				if !strings.Contains(out, "sim_thing."+name+" (create)") {
					t.Errorf("%s exists, no state has it, and no command after the crash names sim_thing.%s:\n%s", name, name, out)
				}
			}
			if !listed(r, out) { // with nothing to do, a run claims nothing and does not meet the one that was killed
				out += s.goOn("-replace=sim_thing.r0")
			}
			s.dir = former // which alone knows what was opened to plan
			s.checkListed(r, out+s.must(0, "plan", "-no-color"))
			t.Logf("%d begun, %d recorded", r.calls.Count(creation), len(have))
		})
	}
}

var lockID = regexp.MustCompile(`(?m)^ *ID: +(\S+)$`)

// breakLock plans, and if the lock of the run that was killed is still there, releases it. It returns what
// the plan prints.
func (s *site) breakLock() string {
	s.Helper()
	out, err := s.output("plan", "-no-color", "-input=false", "-lock-timeout=1s")
	if err == nil {
		return out
	}
	id := lockID.FindStringSubmatch(out)
	if id == nil {
		s.Fatalf("the next run fails, and not because of the lock:\n%s", out)
	}
	s.must(0, "force-unlock", "-force", id[1])
	return out
}

// claimingRun is the command that frees the claims of a run, in the error of another one.
var claimingRun = regexp.MustCompile(`(?m)^ *mayfly force-unlock (\S+)$`)

// goOn applies, with more arguments, and, where plans take no lock and the run that was killed has claims on
// the state, frees these first. It returns all that is printed.
func (s *site) goOn(more ...string) string {
	s.Helper()
	out, err := s.output(append([]string{"apply", "-auto-approve", "-no-color", "-input=false"}, more...)...)
	if err == nil {
		return out
	}
	id := claimingRun.FindStringSubmatch(out)
	if id == nil {
		s.Fatalf("the next run fails, and not because of claims:\n%s", out)
	}
	out += s.must(0, "force-unlock", "-force", id[1])
	return out + s.must(0, append([]string{"apply", "-auto-approve", "-no-color"}, more...)...)
}

// output runs a command to its end and returns what it prints.
func (s *site) output(args ...string) (string, error) {
	cmd := s.command(nil, nil, args...)
	out, err := (&exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env}).CombinedOutput()
	return string(out), err
}
