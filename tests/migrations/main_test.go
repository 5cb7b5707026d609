//go:build unix

package migrations

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

var binary, mirror string

func TestMain(m *testing.M) {
	sysfault.Main()
	program.Main(m, func(dir string) error {
		built, err := program.Prepare(dir, simcloud.Source, "1.0.0")
		binary, mirror = built.Mayfly, built.Mirror
		return err
	})
}

// site is a working directory with a cloud of its own.
type site struct {
	*testing.T
	dir, cloud string
	env        []string
}

// newSite returns a site for a configuration, without a backend block, that runs programs in an environment.
func newSite(t *testing.T, env []string, files map[string]string) *site {
	t.Helper()
	s := &site{T: t, dir: t.TempDir(), cloud: t.TempDir()}
	s.env = append(env[:len(env):len(env)], simcloud.EnvDir+"="+s.cloud, "XDG_STATE_HOME="+t.TempDir(), "NO_COLOR=1")
	for name, text := range files {
		filetest.Write(t, filepath.Join(s.dir, name), text)
	}
	return s
}

// copied returns another site with the same files, and a cloud of its own with the same objects.
func (s *site) copied(t *testing.T, env []string) *site {
	t.Helper()
	out := newSite(t, env, nil)
	for to, from := range map[string]string{out.dir: s.dir, out.cloud: s.cloud} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// in returns the site with a workspace that the environment selects.
func (s *site) in(workspace string) *site {
	other := *s
	other.env = append(s.env[:len(s.env):len(s.env)], "TF_WORKSPACE="+workspace)
	return &other
}

// begin initializes the directory and applies in workspaces, the last of which is selected then. It returns
// their states by name.
func (s *site) begin(workspaces ...string) map[string]string {
	s.Helper()
	s.must("init", "-plugin-dir="+mirror)
	states := map[string]string{}
	for _, name := range workspaces {
		if name != "default" {
			s.must("workspace", "new", name)
		}
		s.must("apply", "-auto-approve")
		states[name] = s.must("state", "pull")
		s.contains("state pull", states[name], `"in `+name+`"`)
	}
	return states
}

// put has the configuration keep its state in a place, which is a terraform block. More blocks may follow.
func (s *site) put(place string, more ...string) {
	s.Helper()
	filetest.Write(s, filepath.Join(s.dir, "place.tf"), place+strings.Join(more, ""))
}

// move puts the state into another place, with more blocks in the configuration from then on.
func (s *site) move(place string, more ...string) string {
	s.Helper()
	s.put(place, more...)
	return s.must(migrating(patient)...)
}

// patient is an option with which a move that waited for itself would not end.
const patient = "-lock-timeout=1h"

// migrating are the arguments of the command that moves states, with more options.
func migrating(more ...string) []string {
	return append([]string{"init", "-migrate-state", "-force-copy", "-input=false", "-plugin-dir=" + mirror}, more...)
}

func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs a command, which must end with an exit status, and returns what it prints.
func (s *site) run(exit int, args ...string) (stdout, stderr string) {
	s.Helper()
	var out, errs bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exit {
		s.Fatalf("mayfly %s: got %v, want the exit status %d\n%s%s", strings.Join(args, " "), err, exit, &out, &errs)
	}
	return out.String(), errs.String()
}

// must runs a command that has to succeed, and returns its standard output.
func (s *site) must(args ...string) string {
	s.Helper()
	out, _ := s.run(0, args...)
	return out
}

// fails runs a command that has to fail with an error that has all parts.
func (s *site) fails(args []string, parts ...string) {
	s.Helper()
	_, errs := s.run(1, args...)
	s.contains("the error", errs, parts...)
}

// contains checks that a text has all parts.
func (s *site) contains(what, text string, parts ...string) {
	s.Helper()
	flat := strings.Join(strings.Fields(text), " ") // whatever the lines are
	for _, p := range parts {
		if !strings.Contains(flat, p) {
			s.Errorf("%s: got\n%s\nwant %q in it", what, text, p)
		}
	}
}

// has checks that the state is one that was pulled before.
func (s *site) has(want string) {
	s.Helper()
	got := s.must("state", "pull")
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(lines []string) string { return strings.Join(lines[max(0, i-5):min(len(lines), i+8)], "\n") }
	s.Errorf("state pull: got, around line %d,\n%s\nwant\n%s", i+1, part(a), part(b))
}

// copied is the line of init about the states of workspaces that it has copied.
func copied(workspaces ...string) string {
	var quoted []string
	for _, name := range workspaces {
		quoted = append(quoted, strconv.Quote(name))
	}
	return fmt.Sprintf("Copied %d state(s), of workspace %s:", len(quoted), strings.Join(quoted, " and "))
}

func environ(more ...string) []string { return append(os.Environ(), more...) }
