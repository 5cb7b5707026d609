// Package postgres starts a PostgreSQL server for tests, from the programs of the system's package. A server
// refuses to run as root, so a test that does lets another user run it.
//
// It may import the testing package. It must not know any other package of this module.
package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Server is a running server with the database "postgres" and the superuser "test", in a directory of its
// own.
type Server struct {
	Port int

	t    testing.TB
	bin  string // directory of the programs
	data string
}

// Start starts a server that ends with the test. It skips the test, with the reason, if the programs are not
// installed or cannot be used here.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := programs()
	if bin == "" {
		t.Skip("PostgreSQL is not installed (the Debian package \"postgresql\")")
	}
	dir, err := os.MkdirTemp("", "postgres") // the test's own directory has parents that another user cannot read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := hand(dir); err != nil {
		t.Skipf("PostgreSQL cannot run as another user than root here: %v", err)
	}
	s := &Server{t: t, bin: bin, data: filepath.Join(dir, "data"), Port: freePort(t)}
	s.run("initdb", "-D", s.data, "-U", "test", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
	s.begin()
	return s
}

// begin starts a new server, until the test ends.
func (s *Server) begin() {
	s.t.Helper()
	s.Run()
	s.t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(s.data, "postmaster.pid")); err == nil {
			s.Stop("immediate")
		}
	})
}

// Run starts the server after Stop.
func (s *Server) Run() {
	s.t.Helper()
	options := fmt.Sprintf("-p %d -k '' -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=500", s.Port)
	s.run("pg_ctl", "start", "-w", "-D", s.data, "-l", s.log(), "-o", options)
}

// log returns the path of the server's log.
func (s *Server) log() string { return filepath.Join(filepath.Dir(s.data), "log") }

// Stop ends the server in one of the modes of pg_ctl: "fast" or, as if it had crashed, "immediate".
func (s *Server) Stop(mode string) {
	s.t.Helper()
	s.run("pg_ctl", "stop", "-w", "-m", mode, "-D", s.data)
}

// LogStatements has the server write all statements to its log, with their parameters.
func (s *Server) LogStatements() {
	s.t.Helper()
	for _, statement := range []string{"ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()"} {
		s.run("psql", "-q", "-d", s.URL(0), "-c", statement)
	}
}

// URL returns the connection string of the database, through another port of this machine unless port is 0.
func (s *Server) URL(port int) string {
	return URLAt(fmt.Sprint("127.0.0.1:", cmp.Or(port, s.Port)))
}

// Address returns the address of the server.
func (s *Server) Address() string { return fmt.Sprint("127.0.0.1:", s.Port) }

// URLAt returns the connection string of the database, through an address that leads to its server.
func URLAt(address string) string { return "postgres://test@" + address + "/postgres?sslmode=disable" }

// Program carries out a program of the server's package, such as pg_dump.
func (s *Server) Program(name string, args ...string) error {
	out, err := exec.Command(filepath.Join(s.bin, name), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// Contents returns every byte that is stored: all rows as text, the server's files, which also have deleted
// rows, and its log. They may have it in pieces or compressed.
func (s *Server) Contents() ([]byte, error) {
	out, err := exec.Command(filepath.Join(s.bin, "pg_dump"), "--inserts", s.URL(0)).Output()
	if err != nil {
		return nil, fmt.Errorf("dumping the database: %w", err)
	}
	log, err := os.ReadFile(s.log())
	if err != nil {
		return nil, err
	}
	out = append(out, log...)
	err = filepath.WalkDir(s.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // the server removes files while it runs
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		out = append(out, data...)
		return err
	})
	return out, err
}

func (s *Server) run(program string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = filepath.Dir(s.data)
	asOther(cmd)
	log, err := os.CreateTemp("", "postgres-log") // not a pipe, which the server would keep open
	if err != nil {
		s.t.Fatal(err)
	}
	defer os.Remove(log.Name())
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		s.t.Fatalf("%s: %v\n%s", program, err, text)
	}
}

// programs returns the directory of the server's programs, of the newest version; "" if there is none.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Sort(found)
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return ""
	}
	path, err := filepath.EvalSymlinks(found[len(found)-1])
	if err != nil {
		return ""
	}
	return filepath.Dir(path)
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
