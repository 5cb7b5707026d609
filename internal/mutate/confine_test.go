//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// probeEnv makes the test binary go into confinement and look around. It has a file outside, and the device
// number of /dev.
const probeEnv = "MAYFLY_MUTATE_PROBE"

func TestMain(m *testing.M) {
	outside, dev, ok := strings.Cut(os.Getenv(probeEnv), "\n")
	if !ok {
		os.Exit(m.Run())
	}
	status, inside, err := confine()
	if errors.Is(err, errUnconfined) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if inside {
		err = probe(outside, dev)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(status)
}

// probe returns what should not be possible in confinement. It tries nothing that would do harm.
func probe(outside, dev string) error {
	var errs []error
	if device("/dev") == dev {
		errs = append(errs, errors.New("the devices are the system's"))
	}
	for _, path := range []string{outside, outside + ".new", "/dev/new"} {
		if f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); !errors.Is(err, syscall.EROFS) {
			errs = append(errs, fmt.Errorf("opening %s to write: %v", path, err))
			if err == nil {
				errs = append(errs, f.Close())
			}
		}
	}
	self, err := os.Executable()
	if first, firstErr := os.Readlink("/proc/1/exe"); err != nil || first != self {
		errs = append(errs, fmt.Errorf("the processes of the system can be seen: the first is %s, %v", first, errors.Join(err, firstErr)))
	}
	f, err := os.CreateTemp("", "")
	if err == nil {
		err = f.Close()
	}
	null, nullErr := os.ReadFile(os.DevNull)
	if len(null) > 0 {
		errs = append(errs, errors.New("the null device has content"))
	}
	// What is left behind must not keep the command from ending.
	return errors.Join(append(errs, err, nullErr, exec.Command("sleep", "1000").Start())...)
}

func device(path string) string {
	var info syscall.Stat_t
	if err := syscall.Stat(path, &info); err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Dev)
}

func TestConfine(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	outside, temp := filepath.Join(t.TempDir(), "file"), t.TempDir()
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), probeEnv+"="+outside+"\n"+device("/dev"), "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 3 {
		t.Skip(string(out))
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left behind: got %v, %v, want nothing", left, err)
	}
}
