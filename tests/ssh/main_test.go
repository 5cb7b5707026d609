//go:build unix

package ssh

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

var binary, mirror string

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) error {
		_ = os.Unsetenv("SSH_AUTH_SOCK")
		built, err := program.Prepare(dir, simcloud.Source, "1.0.0")
		binary, mirror = built.Mayfly, built.Mirror
		return err
	})
}

// site is one working directory with a cloud of its own. What is said of the host is in host, outside of it.
type site struct {
	*testing.T
	dir, host  string
	cloud, log string
	env        []string
}

// newSite makes a site with the configuration and initialises it.
func newSite(t *testing.T, config string) *site {
	t.Helper()
	s := &site{T: t, dir: t.TempDir(), host: t.TempDir(), cloud: t.TempDir(), log: filepath.Join(t.TempDir(), "rpc.log")}
	s.write("versions.tf", "terraform {\n  required_providers {\n    sim = { source = \""+simcloud.Source+"\" }\n  }\n}\n")
	s.config(config)
	return s
}

// config replaces the configuration, in which HOST stands for the directory for what is on the host.
func (s *site) config(text string) {
	s.Helper()
	s.write("main.tf", strings.ReplaceAll(text, "HOST", s.host))
	s.must("init", "-plugin-dir="+mirror)
}

func (s *site) write(name, text string) {
	s.Helper()
	filetest.Write(s, filepath.Join(s.dir, name), text)
}

func (s *site) command(out *bytes.Buffer, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, out, out
	cmd.Env = append(os.Environ(), simcloud.EnvDir+"="+s.cloud, simcloud.EnvLog+"="+s.log)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// run runs a command to its end and returns what it has printed, in one line, and its exit status.
func (s *site) run(args ...string) (string, int) {
	s.Helper()
	var out bytes.Buffer
	err := s.command(&out, args...).Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.String(), 0
	case errors.As(err, &exit):
		return out.String(), exit.ExitCode()
	}
	s.Fatal(err)
	return "", 0
}

func (s *site) must(args ...string) string {
	s.Helper()
	out, status := s.run(args...)
	if status != 0 {
		s.Fatalf("mayfly %s: got exit status %d, want 0:\n%s", strings.Join(args, " "), status, out)
	}
	return out
}

// apply applies, with the most talkative log.
func (s *site) apply(wantStatus int) string {
	s.Helper()
	s.env = append(s.env, "TF_LOG=trace", "TF_LOG_PATH="+filepath.Join(s.dir, "trace.log"))
	out, status := s.run("apply", "-auto-approve", "-no-color")
	if status != wantStatus {
		s.Fatalf("apply: got exit status %d, want %d:\n%s", status, wantStatus, out)
	}
	return out
}

// unwrapped is a text with every run of white space as one space: messages are wrapped.
func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

// says checks that a text has all of the words.
func (s *site) says(text string, want ...string) {
	s.Helper()
	for _, w := range want {
		if !strings.Contains(unwrapped(text), w) {
			s.Errorf("no %q in:\n%s", w, text)
		}
	}
}

// hides checks that none of the words is in the text, nor in any file of the working directory.
func (s *site) hides(text string, secrets ...string) {
	s.Helper()
	check := func(where, text string) {
		for _, word := range secrets {
			if strings.Contains(text, word) {
				s.Errorf("%q in %s:\n%s", word, where, text)
			}
		}
	}
	check("the output", text)
	files := 0
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "main.tf" || strings.Contains(path, ".terraform/") || strings.HasPrefix(d.Name(), "given") {
			return err
		}
		content, err := os.ReadFile(path)
		files++
		check(path, string(content))
		return err
	})
	if err != nil || files < 3 {
		s.Errorf("%d files were searched: %v", files, err)
	}
}

// onHost returns the content of a file on the host.
func (s *site) onHost(name string) string {
	s.Helper()
	content, err := os.ReadFile(filepath.Join(s.host, name))
	if err != nil {
		s.Error(err)
	}
	return string(content)
}

// noScripts checks that no script is left on the host.
func (s *site) noScripts() {
	s.Helper()
	if left, _ := filepath.Glob(filepath.Join(s.host, "script_*")); len(left) > 0 {
		s.Errorf("left on the host: %q", left)
	}
}

func (s *site) transcript() simlog.Log {
	s.Helper()
	log, err := simlog.ReadFile(s.log)
	if err != nil {
		s.Fatal(err)
	}
	return log
}

// interrupted applies and sends SIGINT when the file is on the host.
func (s *site) interrupted(file string) (string, int) {
	s.Helper()
	var out bytes.Buffer
	cmd := s.command(&out, "apply", "-auto-approve", "-no-color")
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 4000 { // there is nothing but to look for what another process does
		if _, err := os.Stat(filepath.Join(s.host, file)); err == nil || len(ended) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
		s.Errorf("the program did not end after the interrupt")
	}
	return out.String(), cmd.ProcessState.ExitCode()
}
