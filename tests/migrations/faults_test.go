//go:build unix

package migrations

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	_ "github.com/lib/pq" // to let leases lapse

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

// inRows returns a block for rows of a server, in a schema of that name.
func inRows(server *postgres.Server) func(schema string) string {
	return func(schema string) string {
		return fmt.Sprintf("terraform {\n  backend \"postgres\" {\n    conn_str    = %q\n    schema_name = %q\n  }\n}\n", server.URL(0), schema)
	}
}

func opened(t *testing.T, server *postgres.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", server.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// lapse lets the leases of all runs in a schema lapse, if there is one.
func lapse(t *testing.T, db *sql.DB, schema string) {
	t.Helper()
	var exists bool
	err := db.QueryRow(`SELECT to_regclass($1) IS NOT NULL`, fmt.Sprintf("%q.runs", schema)).Scan(&exists)
	if err == nil && exists {
		_, err = db.Exec(fmt.Sprintf("UPDATE %q.runs SET lease_until = now() - interval '1 s' WHERE ended IS NULL", schema))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOtherStates moves the states of two workspaces to a place where the second one has a state of something
// else.
func TestOtherStates(t *testing.T) {
	rows := inRows(postgres.Start(t))
	dir := t.TempDir() // the paths of files are the same for all sites
	file := func(name string) string { return local(filepath.Join(dir, name)) }
	for _, test := range []struct {
		name, from, to string
	}{
		{"into rows", file("a"), rows("a")},
		{"out of rows", rows("b"), file("b")},
		{"between rows", rows("c"), rows("d")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			there, s := newSite(t, environ(), map[string]string{"main.tf": brief}), newSite(t, environ(), map[string]string{"main.tf": brief})
			there.put(test.to)
			theirs := there.begin("other")["other"]
			s.put(test.from)
			ours := s.begin("default", "other")["other"]
			s.put(test.to)
			s.fails(migrating(), "Cannot copy the state", `Workspace "other"`, "has the lineage", "Nothing was copied",
				"mayfly init -reconfigure", "mayfly state push -force")
			there.has(theirs)
			if got := there.in("default").must("state", "pull"); got != "" {
				t.Errorf("the state of the other workspace: got\n%s\nwant none", got)
			}
			s.put(test.from)
			s.has(ours)

			// The command of the error keeps the state that is there, and what was pulled takes its place.
			s.put(test.to)
			s.must("init", "-reconfigure", "-plugin-dir="+mirror)
			s.has(theirs)
			saved := filepath.Join(s.dir, "pulled.tfstate")
			filetest.Write(t, saved, ours)
			s.must("state", "push", "-force", saved)
			s.has(ours)
		})
	}
}

// slow is a configuration whose apply goes on until the test closes a pipe.
const slow = `
variable "v" {
  default = 0
}
resource "terraform_data" "slow" {
  triggers_replace = var.v
  provisioner "local-exec" {
    command = "[ ${var.v} = 0 ] || cat pipe"
  }
}
resource "terraform_data" "beside" {}
`

// held is an apply that has claims, until release is called.
type held struct {
	release, kill func()
	ended         <-chan error
}

// hold starts an apply that replaces an object and waits for the pipe while it does.
func (s *site) hold() held {
	s.Helper()
	pipe := filepath.Join(s.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		s.Fatal(err)
	}
	cmd := s.command("apply", "-auto-approve", "-var=v=1")
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	opened := make(chan *os.File, 1)
	go func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for a reader
		if err == nil {
			opened <- f
		}
	}()
	select {
	case f := <-opened:
		kill := func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		return held{func() { _ = f.Close() }, kill, ended}
	case err := <-ended:
		s.Fatalf("mayfly apply: got %v, want it to wait for the pipe", err)
		panic("unreachable")
	}
}

// TestClaimedStates moves a state out of rows, and into rows, of which another run has claimed a part. It is
// refused before anything is copied, or waits: what the run has done is in the state that is copied then, and
// is not replaced by an older one.
func TestClaimedStates(t *testing.T) {
	server := postgres.Start(t)
	rows, db := inRows(server), opened(t, server)
	holder := []string{"Error acquiring the state lock", "the state is locked by", "Operation: apply"}
	t.Run("begun", func(t *testing.T) {
		t.Parallel()
		one, two := sharing(t, rows("begun"))
		run := one.hold()
		run.kill()
		lapse(t, db, "begun")
		two.put(local("target"))
		two.fails(migrating(), "Error acquiring the state lock", "terraform_data.slow", "mayfly force-unlock")
		two.put(rows("begun"))
		_, text := two.run(1, "force-unlock", "-force", "nothing")
		id := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindString(text)
		two.must("force-unlock", "-force", id)
		s := two.must("state", "pull")
		two.contains("init", two.move(local("target")), copied("default"))
		two.has(s)
	})
	t.Run("source", func(t *testing.T) {
		t.Parallel()
		one, two := sharing(t, rows("source"))
		before := two.must("state", "pull")
		run := one.hold()
		two.put(local("target"))
		two.fails(migrating(), holder...)
		if _, err := os.Stat(filepath.Join(two.dir, "target.tfstate")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the file of the state: got %v, want none", err)
		}
		waits := two.command(migrating("-lock-timeout=10m")...)
		waited := two.waitsFor(waits, run)
		if waited != nil {
			t.Fatalf("mayfly init -lock-timeout: %v", waited)
		}
		after := two.must("state", "pull")
		if after == before {
			t.Error("the copied state is the one before the run")
		}
		one.has(after)
	})
	t.Run("target", func(t *testing.T) {
		t.Parallel()
		one, two := newSlow(t), newSlow(t)
		two.put(local("source"))
		two.must("init")
		two.must("apply", "-auto-approve")
		two.move(rows("target"))
		two.put(local("source"))
		two.must("init", "-reconfigure")
		one.put(rows("target"))
		one.must("init")
		before := two.must("state", "pull")
		one.has(before)
		run := one.hold()
		two.put(rows("target"))
		two.fails(migrating(), holder...)
		var exit *exec.ExitError
		if err := two.waitsFor(two.command(migrating("-lock-timeout=10m")...), run); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("mayfly init: got %v, want it to refuse an older state", err)
		}
		if one.must("state", "pull") == before {
			t.Error("the state of rows is the one before the run")
		}
		two.put(local("source"))
		two.has(before)
	})
}

// newSlow returns a site with an object whose change can be held.
func newSlow(t *testing.T) *site {
	t.Helper()
	return newSite(t, environ(), map[string]string{"main.tf": slow})
}

// sharing returns two sites with the same configuration and state, which one of them has applied.
func sharing(t *testing.T, place string) (one, two *site) {
	t.Helper()
	one, two = newSlow(t), newSlow(t)
	for _, s := range []*site{one, two} {
		s.put(place)
		s.must("init")
	}
	one.must("apply", "-auto-approve")
	return one, two
}

// waitsFor starts a command, lets the run go on that it waits for, and returns the result of the command.
func (s *site) waitsFor(cmd *exec.Cmd, run held) error {
	s.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	text := make([]byte, 0, 1<<16)
	buf := make([]byte, 1<<12)
	for released := false; ; {
		n, err := out.Read(buf)
		text = append(text, buf[:n]...)
		if !released && bytes.Contains(text, []byte("Waiting up to 10m0s for the state lock")) {
			released = true
			run.release()
		}
		if err != nil {
			break
		}
	}
	if !bytes.Contains(text, []byte("Waiting up to 10m0s for the state lock")) {
		s.Errorf("mayfly init: got\n%s\nwant it to say that it waits", text)
	}
	err = cmd.Wait()
	if e := <-run.ended; e != nil {
		s.Errorf("mayfly apply: %v", e)
	}
	s.Logf("%s", text)
	return err
}

// points are at how many calls of a migration the program is killed.
const points = 5

// TestKilledMigrations kills the program while it moves two states, at several of its calls that write. The
// place that is recorded then has both states, and the same command completes the migration.
func TestKilledMigrations(t *testing.T) {
	server := postgres.Start(t)
	rows, db := inRows(server), opened(t, server)
	for _, test := range []struct {
		name     string
		from, to func(name string) string
	}{
		{"into rows", local, rows},
		{"out of rows", rows, local},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			from := test.from("from")
			s := newSite(t, environ(), map[string]string{"main.tf": brief})
			s.put(from)
			states := s.begin("default", "other")
			s.put(test.to("into0"))
			all := s.killed(0)
			t.Logf("a migration makes %d calls", all)
			for point := range points {
				at := 1 + point*(all-1)/(points-1)
				name := fmt.Sprintf("into%d", point+1)
				to := test.to(name)
				s.put(from)
				s.must("init", "-reconfigure", "-plugin-dir="+mirror)
				s.put(to)
				s.killed(at)
				if out, err := s.command("state", "list").CombinedOutput(); err != nil {
					s.contains("state list", string(out), "Backend initialization required")
					s.put(from)
				}
				for workspace, want := range states {
					s.in(workspace).has(want)
				}
				s.put(to)
				for _, schema := range []string{"from", name} {
					lapse(t, db, schema)
				}
				s.must(migrating()...)
				for name, want := range states {
					s.in(name).has(want)
				}
			}
		})
	}
}

// killed starts a migration, and kills the program right before the call of a number, from 1; 0 for none. It
// returns the number of calls.
func (s *site) killed(at int) (calls int) {
	s.Helper()
	cmd := s.command(migrating()...)
	err := sysfault.Run(cmd, func(sysfault.Call) syscall.Errno {
		if calls++; calls == at {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		return 0
	})
	if errors.Is(err, errors.ErrUnsupported) {
		s.Skip(err)
	}
	if at == 0 && err != nil {
		s.Fatal(err)
	}
	return calls
}

// TestMemory moves a state into memory, where it is until the command ends, and finds the rows as they were.
func TestMemory(t *testing.T) {
	t.Parallel()
	rows := inRows(postgres.Start(t))
	s := newSite(t, environ(), map[string]string{"main.tf": brief})
	s.put(rows("mayfly"))
	pulled := s.begin("default")["default"]
	const memory = "terraform {\n  backend \"inmem\" {}\n}\n"
	s.contains("init", s.move(memory), copied("default"))
	if got := s.must("state", "pull"); got != "" {
		t.Errorf("state pull: got\n%s\nwant no state", got)
	}
	if out := s.move(rows("mayfly")); strings.Contains(out, "Copied") {
		t.Errorf("init: got\n%s\nwant nothing copied", out)
	}
	s.has(pulled)
}
