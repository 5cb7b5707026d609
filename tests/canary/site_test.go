//go:build unix

package canary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/secretscan"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// exceptions are the files in which a canary stands rightly, by their paths below the root of a site. Every
// other file, and every other canary in these files, is a leak.
var exceptions = []struct{ path, canary, why string }{
	{"children/asked", "var.by_file.password", "the configuration gives the value to this command in its environment, and the command prints that"},
	{"children/asked", "ephemeral.keep_secret.k", "the same"},
}

// site is everything that a user has: a working directory, a home directory and others, all below root. What
// only the test and its provider keep is outside of it.
type site struct {
	*testing.T
	binary  string
	env     []string
	root    string
	outside string
	values  canaries
	scanner secretscan.Scanner
	brought map[string]string   // the content of files that the test wrote, by path
	stored  func() []byte       // the content of the server that has the state; nil if there is none
	sealed  *secretscan.Scanner // of secrets that commands may print and read, and store encrypted only; nil if there are none
	found   []leak
	anyEnd  bool // the steps may end in any way
}

// leak is a canary where none may be.
type leak struct {
	after string // what was done before
	where string // the file, below the root, or another place
	secretscan.Finding
}

func (l leak) String() string {
	return fmt.Sprintf("after mayfly %s: %s has %s", l.after, l.where, l.Finding)
}

// newSite makes a site with the configuration in a folder of testdata.
func newSite(t *testing.T, binary, config string) *site {
	t.Helper()
	s := &site{T: t, binary: binary, root: t.TempDir(), outside: t.TempDir(), values: newCanaries(t), brought: map[string]string{}}
	s.values.plant(&s.scanner)
	for _, name := range []string{"work", "home", "tmp", "cache", "config", "state", "data", "children"} {
		if err := os.Mkdir(filepath.Join(s.root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.copyFrom(filepath.Join("testdata", config))
	filetest.Write(t, filepath.Join(s.outside, "given.tfvars"), s.values.varFile())
	filetest.Write(t, s.kept(), s.values.kept)
	s.env = append(os.Environ(),
		"HOME="+s.at("home"), "TMPDIR="+s.at("tmp"), "XDG_CACHE_HOME="+s.at("cache"), "XDG_CONFIG_HOME="+s.at("config"), "XDG_STATE_HOME="+s.at("state"), "XDG_DATA_HOME="+s.at("data"),
		"CANARY_CHILDREN="+s.at("children"), "TF_LOG=trace", "TF_LOG_PATH="+s.at("trace.log"), "TF_VAR_by_env="+s.values.env,
		simcloud.EnvDir+"="+filepath.Join(s.outside, "cloud"), simcloud.EnvLog+"="+filepath.Join(s.outside, "calls"))
	return s
}

// at returns a path below the root.
func (s *site) at(names ...string) string {
	return filepath.Join(append([]string{s.root}, names...)...)
}

// kept returns the path of the file whose content an ephemeral attribute has.
func (s *site) kept() string { return filepath.Join(s.outside, "kept") }

// copyFrom copies a configuration into the working directory, with the name of its ephemeral resources and
// the path of the file that it reads.
func (s *site) copyFrom(dir string) {
	s.Helper()
	names := strings.NewReplacer("@NAME@", strings.Trim(strconv.Quote(s.values.name), `"`), "@KEPT@", s.kept())
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			s.bring(strings.TrimPrefix(path, dir), names.Replace(string(text)))
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// bring writes a file into the working directory, in which canaries are allowed as long as it is not changed.
// Without content it removes it.
func (s *site) bring(name, content string) {
	s.Helper()
	path := s.at("work", name)
	if content == "" {
		if err := os.Remove(path); err != nil {
			s.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	filetest.Write(s, path, content)
	s.brought[path] = content
}

// run carries out a step, searches what it leaves behind, and returns what it printed.
func (s *site) run(st step) string {
	s.Helper()
	for name, content := range st.files {
		s.bring(name, content)
	}
	ctx, cancel := context.WithTimeout(s.Context(), 3*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	words, env := s.commandLine(st.args)
	cmd := exec.CommandContext(ctx, s.binary, words...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Stdin = s.at("work"), &stdout, &stderr, strings.NewReader(st.stdin)
	cmd.Env = append(append(s.env[:len(s.env):len(s.env)], env...), st.env...)
	if st.deeds != "" {
		rules := filepath.Join(s.outside, "rules.json")
		filetest.Write(s, rules, st.deeds)
		cmd.Env = append(cmd.Env, simcloud.EnvMisbehave+"="+rules)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what is left of it can be ended
	cmd.WaitDelay = 10 * time.Second
	begun := s.waits()
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	if st.signals != nil {
		s.signal(st, cmd.Process.Pid, begun)
	}
	if st.meanwhile != nil {
		s.until(func() bool { return s.waits() > begun })
		st.meanwhile()
	}
	_ = cmd.Wait() // the exit status is looked at
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	s.search(st.args, map[string][]byte{"standard output": stdout.Bytes(), "standard error": stderr.Bytes()})
	out := stdout.String() + stderr.String()
	if code := cmd.ProcessState.ExitCode(); !s.anyEnd && (code != st.exit || !strings.Contains(out, st.prints)) {
		s.Errorf("mayfly %s: got exit status %d, want %d, and %q printed:\n%s", st.args, code, st.exit, st.prints, s.readable(out))
	}
	s.learn()
	return out
}

// logLine matches what a reader of a failed test does not need.
var logLine = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT.*\n`)

// readable returns output without log lines and canaries, which the log of a test should not have either.
func (s *site) readable(out string) string {
	for _, f := range s.scanner.Scan([]byte(out)) {
		return "(it has " + f.String() + ")"
	}
	return logLine.ReplaceAllString(out, "")
}

// commandLine returns the words of a command line, with the options and environment that set the variables
// in place of VARS, or of TYPED without the one that is asked for, and with those of a backend in place of
// CREDENTIALS.
func (s *site) commandLine(line string) (words, env []string) {
	for _, word := range strings.Fields(line) {
		switch word {
		case "VARS":
			words = append(words, "-var", "by_option="+s.values.option)
			fallthrough
		case "TYPED":
			words = append(words, "-var-file="+filepath.Join(s.outside, "given.tfvars"))
			env = append(env, "TF_CLI_ARGS=-var 'by_args="+s.values.args+"'")
		case "CREDENTIALS":
			words = append(words, "-backend-config=password="+s.values.typed)
		default:
			words = append(words, word)
		}
	}
	return words, env
}

// waits returns how often the resource that waits has been changed, or begun to be.
func (s *site) waits() int { return s.calls(simlog.Filter{RPC: "ApplyResourceChange", Name: "waits"}) }

func (s *site) calls(f simlog.Filter) int {
	s.Helper()
	log, err := simlog.ReadFile(filepath.Join(s.outside, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
	return log.Count(f)
}

// signal searches what there is in the middle of an apply, and ends it.
func (s *site) signal(st step, pid, begun int) {
	s.Helper()
	s.until(func() bool { return s.waits() > begun })
	s.search("in the middle of "+st.args, nil)
	for i, sig := range st.signals {
		if i > 0 {
			s.until(func() bool { return s.calls(simlog.Filter{RPC: "StopProvider"}) > 0 })
			time.Sleep(300 * time.Millisecond) // sooner, it is taken for the first one
		}
		if err := syscall.Kill(pid, sig); err != nil {
			s.Fatal(err)
		}
	}
}

// until waits for what another process does; there is nothing but to look.
func (s *site) until(done func() bool) {
	s.Helper()
	for range 6000 {
		if done() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.Fatal("waited too long for a call of the provider")
}

// learn makes the value known that a random ephemeral resource had, which only the command has that was
// given it.
func (s *site) learn() {
	asked, _ := os.ReadFile(s.at("children", "asked")) // not yet there before the first apply
	for line := range strings.Lines(string(asked)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "KEPT="); ok {
			s.scanner.Add("ephemeral.keep_secret.k", value)
		}
	}
}

// search looks for canaries in all files below the root, in what a command printed, and in what a server
// has stored. A leak fails the test, without the value.
func (s *site) search(after string, printed map[string][]byte) {
	s.Helper()
	err := filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			if errors.Is(err, fs.ErrNotExist) { // removed in the meantime
				return nil
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && (s.brought[path] == "" || s.brought[path] != string(text)) {
			s.judge(after, strings.TrimPrefix(path, s.root+"/"), text)
			s.judgeStored(after, strings.TrimPrefix(path, s.root+"/"), text)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	for name, text := range printed {
		s.judge(after, name, text)
	}
	if s.stored != nil {
		s.judge(after, "the server", s.stored())
	}
}

// judge reports what stands in one text, unless it is an exception.
func (s *site) judge(after, name string, text []byte) {
	s.Helper()
	for _, f := range append(s.scanner.Scan(text), s.scanner.Scan([]byte(name))...) {
		if !excused(name, f.Secret) {
			s.found = append(s.found, leak{after, name, f})
		}
	}
}

// judgeStored reports secrets that are stored in clear.
func (s *site) judgeStored(after, name string, text []byte) {
	if s.sealed == nil {
		return
	}
	for _, f := range s.sealed.Scan(text) {
		s.found = append(s.found, leak{after, name, f})
	}
}

func excused(path, canary string) bool {
	for _, e := range exceptions {
		if e.path == path && strings.HasSuffix(canary, e.canary) {
			return true
		}
	}
	return false
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}
