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
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	if err := copyData(s.data, from); err != nil {
		t.Fatal(err)
	}
	s.begin()
	return s
}

// template makes the data directory of a server that never runs, among the temporary files, once for each
// process: initdb takes ten times as long as a copy of its result.
var template = sync.OnceValues(func() (data string, err error) {
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		return "", err
	}
	data = filepath.Join(dir, "data")
	if err := hand(dir); err != nil {
		return "", err
	}
	return data, execute(programs(), dir, "initdb", "-D", data, "-U", "test", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
})

// copyData copies a data directory for the user that runs the server.
func copyData(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) // a server refuses any other
		}
		return errors.Join(err, hand(path))
	})
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
	options := fmt.Sprintf("-p %d -k '' -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=500 -c dynamic_shared_memory_type=mmap", s.Port)
	if err := execute(s.bin, filepath.Dir(s.data), "pg_ctl", "start", "-w", "-D", s.data, "-l", s.log(), "-o", options); err != nil {
		text, _ := os.ReadFile(s.log())
		s.t.Fatalf("%v\n%s", err, text)
	}
}

// log returns the path of the server's log.
func (s *Server) log() string { return filepath.Join(filepath.Dir(s.data), "log") }

// Stop ends the server in one of the modes of pg_ctl: "fast" or, as if it had crashed, "immediate".
func (s *Server) Stop(mode string) {
	s.t.Helper()
	s.run("pg_ctl", "stop", "-w", "-m", mode, "-D", s.data)
}

// LogStatements has the server write all statements to its log, with their parameters, also those that fail.
func (s *Server) LogStatements() {
	s.t.Helper()
	for _, statement := range append(set(logging), "SELECT pg_reload_conf()") {
		s.run("psql", "-q", "-d", s.URL(0), "-c", statement)
	}
}

// logging are the settings with which a server logs the most.
var logging = map[string]string{
	"log_statement": "all", "log_min_duration_statement": "0", "log_parameter_max_length": "-1", "log_parameter_max_length_on_error": "-1",
}

// keeping are the settings with which a server removes no row or log record, and keeps statements.
var keeping = map[string]string{
	"autovacuum": "off", "wal_level": "logical", "wal_keep_size": "4GB", "wal_compression": "off", "shared_preload_libraries": "pg_stat_statements",
}

// set returns statements that set settings.
func set(settings map[string]string) (out []string) {
	for name, value := range settings {
		out = append(out, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value))
	}
	return out
}

// KeepAll restarts the server so that all it receives stays there in some form: in its log, its statistics,
// and its files, from which nothing is removed. See also Incompressible.
func (s *Server) KeepAll() {
	s.t.Helper()
	for _, statement := range append(set(logging), set(keeping)...) {
		s.run("psql", "-q", "-d", s.URL(0), "-c", statement)
	}
	s.Stop("fast")
	s.Run()
	s.run("psql", "-q", "-d", s.URL(0), "-c", "CREATE EXTENSION pg_stat_statements")
}

// Incompressible has the server store values in a schema as they are, however long they are.
func (s *Server) Incompressible(schema string) {
	s.t.Helper()
	s.run("psql", "-q", "-d", s.URL(0), "-c", fmt.Sprintf(`DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT attrelid::regclass AS of, attname FROM pg_attribute JOIN pg_class r ON r.oid = attrelid
			WHERE relnamespace = '%s'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped AND attstorage IN ('x', 'm') LOOP
			EXECUTE format('ALTER TABLE %%s ALTER COLUMN %%I SET STORAGE EXTERNAL', c.of, c.attname);
		END LOOP; END $$`, schema))
}

// Query carries out a statement, and returns the rows that it finds as lines, with a bar between columns.
func (s *Server) Query(statement string) (string, error) {
	out, err := exec.Command(filepath.Join(s.bin, "psql"), "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", s.URL(0), "-c", statement).Output()
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), err
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

// Contents returns every byte that is stored: see Search.
func (s *Server) Contents() (out []byte, err error) {
	err = s.Search(func(_ string, content []byte) { out = append(out, content...) })
	return out, err
}

// Search calls see for everything that is stored, with the name of the place: all rows as text ("rows"), the
// server's log ("log"), and its files, in which deleted rows are, too, by their paths in its directory
// ("base/…", "pg_wal/…"). Files may have values in pieces or compressed.
func (s *Server) Search(see func(place string, content []byte)) error {
	out, err := exec.Command(filepath.Join(s.bin, "pg_dump"), "--inserts", s.URL(0)).Output()
	if err != nil {
		return fmt.Errorf("dumping the database: %w", err)
	}
	see("rows", out)
	log, err := os.ReadFile(s.log())
	if err != nil {
		return err
	}
	see("log", log)
	return filepath.WalkDir(s.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // the server removes files while it runs
		}
		data, err := os.ReadFile(path)
		if err == nil {
			place, _ := filepath.Rel(s.data, path) // it is below
			see(filepath.ToSlash(place), data)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (s *Server) run(program string, args ...string) {
	s.t.Helper()
	if err := execute(s.bin, filepath.Dir(s.data), program, args...); err != nil {
		s.t.Fatal(err)
	}
}

// execute carries out a program of the server's package in a directory, as the user that runs the server.
func execute(bin, dir, program string, args ...string) error {
	cmd := exec.Command(filepath.Join(bin, program), args...)
	cmd.Dir = dir
	asOther(cmd)
	log, err := os.CreateTemp("", "postgres-log") // not a pipe, which the server would keep open
	if err != nil {
		return err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w\n%s", program, err, text)
	}
	return nil
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

// Ports of servers are below those that systems give to connections of clients: a server may have left one
// for a moment, or not have taken it yet.
const (
	leastPort = 20_000
	ports     = 12_000
)

func freePort(t testing.TB) int {
	var err error
	for range 100 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", leastPort+rand.IntN(ports))); err == nil {
			defer l.Close()
			return l.Addr().(*net.TCPAddr).Port
		}
	}
	t.Fatal(err)
	return 0
}
