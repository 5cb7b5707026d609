package harden

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// envRole makes the test program play a part instead of running the tests.
const envRole = "HARDEN_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case "":
		os.Exit(m.Run())
	case "protected":
		Process(os.Getenv)
		var limit unix.Rlimit
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		fmt.Println(dumpable, unix.Getrlimit(unix.RLIMIT_CORE, &limit), limit.Max, err)
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "reader":
		if _, err := os.Open("/proc/" + os.Args[1] + "/mem"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// TestProcess starts a protected process and one open to debuggers, and tries to read their memory as
// another process of the same, ordinary user.
func TestProcess(t *testing.T) {
	program := publicCopy(t)
	for _, c := range []struct {
		allow, want string
		readable    bool
	}{
		{"", "0 <nil> 1 <nil>", false},
		{"1", "1 <nil>", true},
	} {
		t.Run("allow="+c.allow, func(t *testing.T) {
			target := as(program, "protected", AllowTrace+"="+c.allow)
			in, err := target.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := target.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := target.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = in.Close(), target.Wait() }()
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, c.want) {
				t.Fatalf("dumpable, core limit: got %q, %v; want %q", line, err, c.want)
			}
			reader := as(program, "reader")
			reader.Args = append(reader.Args, fmt.Sprint(target.Process.Pid))
			text, err := reader.CombinedOutput()
			if c.readable && err != nil {
				t.Skipf("this system lets no process read another's memory: %s", text)
			}
			if !c.readable && err == nil {
				t.Error("another process of the same user can read the memory")
			}
		})
	}
}

// publicCopy returns a copy of this program that every user may execute.
func publicCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	content, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// as returns a command for a part, which an ordinary user plays even if root runs the tests.
func as(program, role string, env ...string) *exec.Cmd {
	cmd := exec.Command(program)
	cmd.Env = append(env, envRole+"="+role)
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return cmd
}
