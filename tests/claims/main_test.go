//go:build unix

package claims

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // for looking at the rows

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
)

var binary, mirror string

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) error {
		built, err := program.Prepare(dir, simcloud.Source, "1.0.0")
		binary, mirror = built.Mayfly, built.Mirror
		return err
	})
}

// site is a state in PostgreSQL with a cloud.
type site struct {
	*testing.T
	cloud, url string
	db         *sql.DB
	files      map[string]string
}

// newSite returns a site for a configuration. Its text is followed by the blocks about the provider and the
// backend.
func newSite(t *testing.T, text string, more map[string]string) *site {
	t.Helper()
	const blocks = "\nterraform {\n  required_providers {\n    sim = { source = \"" + simcloud.Source + "\" }\n  }\n  backend \"postgres\" {}\n}\n"
	s := &site{T: t, cloud: t.TempDir(), url: postgres.Start(t).URL(0), files: map[string]string{"main.tf": text + blocks}}
	for name, content := range more {
		s.files[name] = content
	}
	var err error
	if s.db, err = sql.Open("postgres", s.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

// machine returns an initialized directory, as on another machine.
func (s *site) machine() string {
	s.Helper()
	dir := s.TempDir()
	for name, text := range s.files {
		filetest.Write(s, filepath.Join(dir, name), text)
	}
	if out, err := s.command(dir, "init", "-plugin-dir="+mirror).CombinedOutput(); err != nil {
		s.Fatalf("mayfly init: %v\n%s", err, out)
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
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), simcloud.EnvDir+"="+s.cloud, "PG_CONN_STR="+s.url, "NO_COLOR=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// result is a command that has ended.
type result struct {
	code   int
	output string // of both streams
}

func (s *site) run(dir string, args ...string) result {
	s.Helper()
	var out bytes.Buffer
	cmd := s.command(dir, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String()}
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

// start starts a command that goes on beside the test.
func (s *site) start(dir string, args ...string) (cmd *exec.Cmd, ended <-chan result) {
	s.Helper()
	var out bytes.Buffer
	cmd = s.command(dir, args...)
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err := s.db.QueryRow(query).Scan(&got); err == nil && got == count {
			return
		}
	}
	s.Fatalf("got %d rows, want %d: %s", got, count, query)
}

// underWay counts operations that have begun and not ended.
const underWay = `SELECT count(*) FROM mayfly.operations WHERE ended IS NULL`

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
