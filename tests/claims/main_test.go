//go:build unix

package claims

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // for looking at the rows

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

var binary, mirror string

// patience is how long tests wait for what must happen. Only a test that fails waits so long.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	program.Main(ending{m}, func(dir string) error {
		built, err := program.Prepare(dir, simcloud.Source, "1.0.0")
		binary, mirror = built.Mayfly, built.Mirror
		return errors.Join(err, os.Setenv("PGCTLTIMEOUT", fmt.Sprint(patience.Seconds())))
	})
}

// site is a state in PostgreSQL with a cloud.
type site struct {
	*testing.T
	cloud, url  string
	host        *host
	database    string
	db          *sql.DB
	files       map[string]string
	initialized string // a directory with the same modules; "" for none
}

// newSite returns a site for a configuration. Its text is followed by the blocks about the provider and the
// backend.
func newSite(t *testing.T, text string, more map[string]string) *site {
	t.Helper()
	return sharedHost(t).newSite(t, text, more)
}

// blocks are the blocks about the provider and the backend.
const blocks = "\nterraform {\n  required_providers {\n    sim = { source = \"" + simcloud.Source + "\" }\n  }\n  backend \"postgres\" {}\n}\n"

// machine returns an initialized directory, as on another machine. Only the first one for modules is made by
// the command, which takes as long as a run: others are copies.
func (s *site) machine() string {
	s.Helper()
	dir := s.TempDir()
	for name, text := range s.files {
		filetest.Write(s, filepath.Join(dir, name), text)
	}
	if s.initialized == "" {
		s.must(dir, "init", "-plugin-dir="+mirror)
		s.initialized = dir
		return dir
	}
	for _, name := range []string{".terraform", ".terraform.lock.hcl"} {
		from, to := filepath.Join(s.initialized, name), filepath.Join(dir, name)
		if out, err := exec.Command("cp", "-R", from, to).CombinedOutput(); err != nil {
			s.Fatalf("copying %s: %v\n%s", from, err, out)
		}
	}
	return dir
}

// behindProxy has all commands from now on reach the server through a proxy.
func (s *site) behindProxy() *tcpproxy.Proxy {
	s.Helper()
	u, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		s.Fatal(err)
	}
	proxy := tcpproxy.Start(s, port)
	u.Host = fmt.Sprintf("127.0.0.1:%d", proxy.Port)
	s.url = u.String()
	return proxy
}

func (s *site) command(dir string, args ...string) *exec.Cmd {
	cmd := command(dir, s.url, args...)
	cmd.Env = append(cmd.Env, simcloud.EnvDir+"="+s.cloud)
	return cmd
}

// command returns a command in a directory, with processes that are a group, and a database.
func command(dir, url string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PG_CONN_STR="+url, "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// result is a command that has ended.
type result struct {
	code   int
	output string // of both streams
}

// run runs a command, again if the machine was so slow that a connection took longer than a run waits for it.
func (s *site) run(dir string, args ...string) result {
	s.Helper()
	s.host.up.RLock()
	defer s.host.up.RUnlock()
	for deadline := time.Now().Add(patience); ; {
		var out bytes.Buffer
		cmd := s.command(dir, args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); cmd.ProcessState == nil {
			s.Fatal(err)
		}
		r := result{cmd.ProcessState.ExitCode(), out.String()}
		if r.code == 0 || !r.says(tooSlow) || time.Now().After(deadline) {
			return r
		}
	}
}

// tooSlow is a part of the error of a run that got no connection in its time.
const tooSlow = "i/o timeout (tried "

// says reports whether a command has printed one of some texts, on however many lines.
func (r result) says(texts ...string) bool {
	output := strings.Join(strings.Fields(r.output), " ")
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(output, text) })
}

// must runs a command that has to succeed.
func (s *site) must(dir string, args ...string) string {
	s.Helper()
	r := s.run(dir, args...)
	if r.code != 0 {
		s.Fatalf("mayfly %s: got the exit status %d, want 0\n%s", strings.Join(args, " "), r.code, r.output)
	}
	return r.output
}

// document is the part of a state that tests look at.
type document struct {
	Resources []struct {
		Name      string
		Instances []struct {
			Key        int `json:"index_key"`
			Attributes struct {
				ID   string
				Tags map[string]string
			}
		}
	}
}

// pull returns the state. The messages of the command are not part of it: a slow machine prints some.
func (s *site) pull(dir string) (doc document) {
	s.Helper()
	s.host.up.RLock()
	defer s.host.up.RUnlock()
	out, err := s.command(dir, "state", "pull").Output()
	if err == nil {
		err = json.Unmarshal(out, &doc)
	}
	if err != nil {
		s.Fatalf("mayfly state pull: %v\n%s", err, out)
	}
	return doc
}

// start starts a command that goes on beside the test.
func (s *site) start(dir string, args ...string) (cmd *exec.Cmd, ended <-chan result) {
	return s.startBy(s.url, dir, args...)
}

// startBy starts a command that reaches the server by another connection string.
func (s *site) startBy(url, dir string, args ...string) (cmd *exec.Cmd, ended <-chan result) {
	s.Helper()
	var out bytes.Buffer
	cmd = s.command(dir, args...)
	cmd.Env = append(cmd.Env, "PG_CONN_STR="+url)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	done := make(chan result, 1)
	go func() {
		_ = cmd.Wait()
		done <- result{cmd.ProcessState.ExitCode(), out.String()}
	}()
	return cmd, done
}

// until waits until a query about the database counts so many rows.
func (s *site) until(count int, query string) {
	s.Helper()
	got := 0
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := s.db.QueryRow(query).Scan(&got); err == nil && got == count {
			return
		}
	}
	s.Fatalf("got %d rows, want %d: %s", got, count, query)
}

// underWay counts operations that have begun and not ended.
const underWay = `SELECT count(*) FROM mayfly.operations WHERE ended IS NULL`

// waits counts runs that wait for claims.
const waits = `SELECT count(*) FROM mayfly.runs WHERE state = 'waiting'`

// active counts statements that are carried out, but for this one.
const active = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()`

// halt has the processes of a command stand still during an operation, until the function is called that it
// returns. So what others do meanwhile meets the operation, however slow the machine.
func (s *site) halt(cmd *exec.Cmd) (goOn func()) {
	s.Helper()
	send := func(signal syscall.Signal) {
		s.Helper()
		if err := syscall.Kill(-cmd.Process.Pid, signal); err != nil {
			s.Fatal(err)
		}
	}
	for {
		s.until(1, underWay)
		send(syscall.SIGSTOP)
		s.until(0, active)
		var open int
		if err := s.db.QueryRow(underWay).Scan(&open); err != nil {
			s.Fatal(err)
		}
		if open == 1 {
			return func() { send(syscall.SIGCONT) }
		}
		send(syscall.SIGCONT) // it has ended in the meantime
	}
}

// attribute returns an attribute of an object in the cloud, as JSON; "" if there is none.
func (s *site) attribute(name, attribute string) string {
	s.Helper()
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.Fatal(err)
	}
	for _, o := range objects {
		if o.Name == name {
			var out bytes.Buffer
			if err := json.Compact(&out, o.Attrs[attribute]); err != nil {
				s.Fatal(err)
			}
			return out.String()
		}
	}
	return ""
}

// contains reports whether a text has all parts, and fails the test for each that it lacks.
func (s *site) contains(text string, parts ...string) {
	s.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			s.Errorf("got the text\n%s\nwant %q in it", text, p)
		}
	}
}

func set(name string, value any) string { return fmt.Sprintf("-var=%s=%v", name, value) }
