package storetest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// StartProgram starts a server that is a program of its own, on a free port of this machine and in an empty
// directory, and returns its address once it accepts connections. The server ends with the test. args
// returns its arguments. The test is skipped if the program is not installed; install is the command that
// installs it.
func StartProgram(t *testing.T, program, install string, args func(host, port string) []string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed (%s)", program, install)
	}
	const host = "127.0.0.1"
	port := FreePort(t)
	address := net.JoinHostPort(host, port)
	var log bytes.Buffer
	cmd := exec.Command(path, args(host, port)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = cmd.Process.Kill(), cmd.Wait()
		if end := log.Bytes(); t.Failed() || t.Skipped() {
			t.Logf("%s printed at the end:\n%s", program, end[max(0, len(end)-2000):])
		}
	})
	for range 300 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return address
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Skipf("%s does not serve here", program)
	return ""
}

// FreePort returns a port of this machine that nothing listens on.
func FreePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
