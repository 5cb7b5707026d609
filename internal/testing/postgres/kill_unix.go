//go:build unix

package postgres

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Kill ends all processes of the server with SIGKILL, as a power cut does. It returns when no connection is
// left. The server can be run again.
func (s *Server) Kill() {
	s.t.Helper()
	path := filepath.Join(s.data, "postmaster.pid")
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	first, err := strconv.Atoi(lines[0])
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	// The first process must not notice that the others end, or begin another one.
	s.signal(first, syscall.SIGSTOP)
	for _, pid := range s.children(first) {
		s.signal(pid, syscall.SIGKILL)
	}
	s.signal(first, syscall.SIGKILL)
	_ = os.Remove(path) // which says to others that it runs
	if len(lines) > 6 { // the shared memory that it could not give back
		if fields := strings.Fields(lines[6]); len(fields) == 2 {
			_ = exec.Command("ipcrm", "-m", fields[1]).Run() // it is 56 bytes
		}
	}
}

func (s *Server) signal(pid int, sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		s.t.Fatal(err)
	}
}

// children returns the processes that a process has begun.
func (s *Server) children(of int) (pids []int) {
	s.t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		if len(fields) != 2 || fields[1] != strconv.Itoa(of) {
			continue
		}
		pid, err := strconv.Atoi(fields[0])
		if err != nil {
			s.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}
