package postgres

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Pool starts pgbouncer before the server, in one of its modes, with lines of further settings, and returns
// the port. It ends with the test.
// The test is skipped, with the reason, if pgbouncer is not installed.
func (s *Server) Pool(t testing.TB, mode string, more ...string) (port int) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed (the Debian package \"pgbouncer\")")
	}
	dir := filepath.Dir(s.data)
	port = freePort(t)
	users, settings := filepath.Join(dir, "users"), filepath.Join(dir, "pgbouncer-"+mode+".ini")
	text := fmt.Sprintf("[databases]\npostgres = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = trust\nauth_file = %s\npool_mode = %s\nignore_startup_parameters = extra_float_digits\n", s.Port, port, users, mode)
	for _, line := range more {
		text += line + "\n"
	}
	for path, content := range map[string]string{users: "\"test\" \"\"\n", settings: text} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, settings)
	cmd.Dir = dir
	asOther(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = conn.Close()
			return port
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
