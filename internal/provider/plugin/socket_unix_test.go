//go:build unix

package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longTemp makes the directory for temporary files one in which no socket can be.
func longTemp(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", maxSocketPath))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(tempVariable(), dir)
	return dir
}

// TestStartWithLongTemporaryPath starts a plugin although its socket has no place among the temporary files.
func TestStartWithLongTemporaryPath(t *testing.T) {
	longTemp(t)
	for _, kind := range []string{"5", "6"} {
		wantNone(t, readThing(soon(t), start(t, pluginCommand(kind)), "x"))
	}
}

// TestSocketDir makes a directory that only this user may enter, and leaves none that is not used. The error
// says what is too long.
func TestSocketDir(t *testing.T) {
	short := t.TempDir()
	made := func() {
		t.Helper()
		dir, err := makeSocketDir(short)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(dir) != short {
			t.Error(dir, info, err)
		}
	}
	t.Setenv(tempVariable(), short)
	made()
	long := longTemp(t)
	made()
	if entries, err := os.ReadDir(long); err != nil || len(entries) > 0 {
		t.Error(entries, err)
	}

	_, err := makeSocketDir(filepath.Join(short, "missing"))
	if err == nil {
		t.Fatal("there is a directory in one that is missing")
	}
	why := startReason(Command{}, newProcess(Command{}), err)
	for _, text := range []string{long, "is too long", "missing cannot be used", tempVariable()} {
		if !strings.Contains(why, text) {
			t.Errorf("%q is not in: %s", text, why)
		}
	}
}
