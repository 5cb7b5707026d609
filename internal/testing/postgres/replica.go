package postgres

import (
	"os"
	"path/filepath"
	"testing"
)

// Replica starts a replica of the server, which ends with the test. The server waits for none of its
// transactions to arrive there until Synchronous is called.
func (s *Server) Replica(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := hand(dir); err != nil {
		t.Fatal(err)
	}
	r := &Server{t: t, bin: s.bin, data: filepath.Join(dir, "data"), Port: freePort(t)}
	r.run("pg_basebackup", "-D", r.data, "-d", s.URL(0), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	r.begin()
	return r
}

// Synchronous has the server acknowledge a transaction only when a replica has it.
func (s *Server) Synchronous() {
	s.t.Helper()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		s.run("psql", "-q", "-d", s.URL(0), "-c", statement)
	}
}

// Promote makes a replica a server of its own.
func (s *Server) Promote() {
	s.t.Helper()
	s.run("pg_ctl", "promote", "-w", "-D", s.data)
}

// Reached reports whether a condition on rows holds on a server, and fails the test if it cannot be asked.
func (s *Server) Reached(condition string) bool {
	s.t.Helper()
	out, err := s.Query("SELECT " + condition)
	if err != nil {
		s.t.Fatal(err)
	}
	return out == "t"
}
