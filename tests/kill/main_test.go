//go:build unix

package kill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

var (
	binary, mirror string
	environment    []string // of the user, whose caches make building fast
)

func TestMain(m *testing.M) {
	sysfault.Main()
	if os.Getenv(envKills) != "" {
		count, width, secrets = 30, 7, 10
	}
	program.Main(m, func(dir string) error {
		environment = os.Environ()
		built, err := program.Prepare(dir, simcloud.Source, "1.0.0")
		binary, mirror = built.Mayfly, built.Mirror
		return err
	})
}

// The infrastructure is larger where there are more points to end a run at.
var (
	count = 14 // resources
	width = 5  // how many of them depend on nothing

	secrets = 5 // ephemerals
)

// parents are the resources that resource i depends on.
func parents(i int) []int {
	if i < width {
		return nil
	}
	return []int{i - width, (i - width) / 2}
}

// config is count resources, each with a write-only argument from one of the ephemerals.
func config() string {
	var b strings.Builder
	b.WriteString("terraform {\n  required_providers {\n    sim = { source = \"" + simcloud.Source + "\" }\n  }\n}\n")
	for i := range secrets {
		fmt.Fprintf(&b, "ephemeral \"sim_secret\" \"e%d\" {\n  name = \"e%d\"\n}\n", i, i)
	}
	for i := range count {
		fmt.Fprintf(&b, "resource \"sim_thing\" \"r%d\" {\n  name      = \"r%d\"\n  delay     = \"%dms\"\n  secret_wo = ephemeral.sim_secret.e%d.value\n", i, i, 5+7*(i%5), i%secrets)
		if up := parents(i); up != nil {
			fmt.Fprintf(&b, "  tags      = { a = sim_thing.r%d.id, b = sim_thing.r%d.id }\n", up[0], up[1])
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// site is one working directory with a cloud of its own.
type site struct {
	*testing.T
	dir, cloud, log string
	home            string // of the user, with the journals of states in providers
	backend         string // a terraform block; "" for the local state
	calls           *simlog.Reader
	env             []string // more variables
}

func newSite(t *testing.T) *site { return newSharedSite(t, "") }

// newSharedSite returns a site whose state is in a backend.
func newSharedSite(t *testing.T, backend string) *site {
	t.Helper()
	s := &site{T: t, cloud: t.TempDir(), home: t.TempDir(), log: filepath.Join(t.TempDir(), "rpc.log"), backend: backend}
	s.calls = simlog.NewReader(s.log)
	s.enter(t.TempDir())
	return s
}

// enter goes on in another directory, as on another machine.
func (s *site) enter(dir string) {
	s.Helper()
	s.dir = dir
	filetest.Write(s, filepath.Join(dir, "main.tf"), config()+s.backend)
	s.must(0, "init", "-plugin-dir="+mirror)
}

func (s *site) command(stdout, stderr io.Writer, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, stdout, stderr
	cmd.Env = append(os.Environ(), simcloud.EnvDir+"="+s.cloud, simcloud.EnvLog+"="+s.log, "XDG_STATE_HOME="+s.home)
	cmd.Env = append(cmd.Env, s.env...)
	// A group of its own: a signal can be sent to the program with its plugins, and what is left can be
	// ended.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// must runs a command to its end and returns its standard output.
func (s *site) must(want int, args ...string) string {
	s.Helper()
	var stdout, stderr bytes.Buffer
	cmd := s.command(&stdout, &stderr, args...)
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		s.Fatalf("mayfly %s: got %v, want exit status %d:\n%s%s", strings.Join(args, " "), err, want, &stdout, &stderr)
	}
	return stdout.String()
}

// moment is when a run is ended: some time after the provider has been asked for so many creations or
// deletions.
type moment struct {
	calls int
	after time.Duration
}

func (m moment) String() string { return fmt.Sprintf("%s after call %d", m.after, m.calls) }

// moments picks n of them, spread over the apply.
func moments(t *testing.T, n int) []moment {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	out := make([]moment, n)
	for i := range out {
		out[i] = moment{1 + (i*(count-1)+r.IntN(count))/n, time.Duration(r.IntN(40)) * time.Millisecond}
	}
	return out
}

// run is an apply or destroy that was ended.
type run struct {
	output string
	code   int // -1 if a signal ended it
	calls  simlog.Log

	began, ended time.Time
}

// interrupted starts a command and sends the signal to it, or to its group, at the moment. It returns when
// the program and its plugins have ended.
func (s *site) interrupted(command string, calls simlog.Filter, at moment, sig syscall.Signal, group bool) run {
	s.Helper()
	out := &bytes.Buffer{}
	cmd := s.command(out, out, command, "-auto-approve", "-no-color")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	pid := cmd.Process.Pid
	s.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.until(fmt.Sprint(calls.Action, " ", at.calls), func() bool { return len(ended) > 0 || s.transcript().Count(calls) >= at.calls })
	time.Sleep(at.after)
	to := pid
	if group {
		to = -pid
	}
	if err := syscall.Kill(to, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		s.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		s.Fatalf("the program did not end:\n%s", out)
	}
	over := time.Now()
	s.quiet(pid)
	return run{out.String(), cmd.ProcessState.ExitCode(), s.transcript(), began, over}
}

// quiet waits for what the plugins of a program are doing: it goes on after their engine is gone. A plugin
// that has nothing to do may stay, since it has noticed nothing, and is killed.
func (s *site) quiet(pid int) {
	s.Helper()
	quiet := 0
	s.until("the end of what the plugins do", func() bool {
		if quiet++; slices.ContainsFunc(s.transcript().Calls(simlog.Filter{}), simlog.Call.Aborted) {
			quiet = 0
		}
		return quiet >= 20 || syscall.Kill(-pid, 0) != nil
	})
	_ = syscall.Kill(-pid, syscall.SIGKILL)
}

// until waits for what another process does; there is nothing but to look.
func (s *site) until(what string, done func() bool) {
	s.Helper()
	for range 4000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.Fatalf("waited too long for %s", what)
}

var (
	creation = simlog.Filter{RPC: "ApplyResourceChange", Action: "create"}
	deletion = simlog.Filter{RPC: "ApplyResourceChange", Action: "delete"}
)

func (s *site) transcript() simlog.Log {
	s.Helper()
	log, err := s.calls.Read()
	if err != nil {
		s.Fatal(err)
	}
	return log
}

var (
	created   = regexp.MustCompile(`(?m)^sim_thing\.(r\d+): Creation complete`)
	destroyed = regexp.MustCompile(`(?m)^sim_thing\.(r\d+): Destruction complete`)
)

// recorded are the ids of the resources in the state, by name. A crash before the first result leaves no
// state.
func (s *site) recorded() map[string]string {
	s.Helper()
	var doc struct {
		Resources []struct {
			Name      string
			Instances []struct {
				Attributes struct{ ID string }
			}
		}
	}
	if text := s.must(0, "state", "pull"); text != "" {
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			s.Fatalf("the state: %s\n%s", err, text)
		}
	}
	out := map[string]string{}
	for _, r := range doc.Resources {
		for _, i := range r.Instances {
			out[r.Name] = i.Attributes.ID
		}
	}
	return out
}

// orphans are the objects of the cloud that the state does not have.
func (s *site) orphans(have map[string]string) []*simcloud.Object {
	s.Helper()
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(objects, func(o *simcloud.Object) bool { return have[o.Name] == o.ID })
}
