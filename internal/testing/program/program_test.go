package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// envEnd is how a child of the tests ends, which prints its directories before.
const envEnd = "MAYFLY_TEST_END"

func TestMain(m *testing.M) {
	end := os.Getenv(envEnd)
	if end == "" {
		os.Exit(m.Run())
	}
	os.Exit(Within(func(dir string) int {
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			panic(err)
		}
		executables := filepath.Dir(placed(dir, "program"))
		if err := os.WriteFile(filepath.Join(executables, "program"), nil, 0o700); err != nil {
			panic(err)
		}
		fmt.Println(dir, os.TempDir(), executables)
		switch end {
		case "panic":
			go panic("a test has failed")
			select {}
		case "exit":
			os.Exit(3)
		}
		return 4
	}))
}

// TestWithin has processes end in several ways: nothing is left of their directories.
func TestWithin(t *testing.T) {
	for end, want := range map[string]int{"return": 4, "exit": 3, "panic": 2} {
		t.Run(end, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), envEnd+"="+end, "TMPDIR=")
			out, err := cmd.Output()
			dirs := strings.Fields(string(out))
			if len(dirs) != 3 || cmd.ProcessState.ExitCode() != want {
				t.Fatalf("got %v, output %q, want exit status %d, and 3 directories", err, out, want)
			}
			dir, temp, executables := dirs[0], dirs[1], dirs[2]
			if end != "return" && dir != temp {
				_ = os.RemoveAll(dir)
				t.Skip("on a disk, a directory is left")
			}
			for range 1000 { // another process removes them
				_, err1 := os.Stat(dir)
				_, err2 := os.Stat(executables)
				if errors.Is(err1, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%s or %s is left", dir, executables)
		})
	}
}

// TestWithinOtherPlace uses the place for temporary files that the user has named.
func TestWithinOtherPlace(t *testing.T) {
	place := t.TempDir()
	t.Setenv("TMPDIR", place)
	t.Setenv("TMP", place) // on Windows
	status := Within(func(dir string) int {
		if filepath.Dir(dir) != place || os.TempDir() != place {
			t.Errorf("got the directory %s, and %s for temporary files, want both in %s", dir, os.TempDir(), place)
		}
		return 5
	})
	if left, err := os.ReadDir(place); status != 5 || err != nil || len(left) > 0 {
		t.Errorf("got status %d, %v left, %v, want status 5, and nothing left", status, left, err)
	}
}
