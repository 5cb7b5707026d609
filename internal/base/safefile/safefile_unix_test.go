//go:build unix

package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEndlessDevice(t *testing.T) {
	defer func(was int64) { maxEndless = was }(maxEndless)
	maxEndless = 1000
	if _, err := Read("/dev/zero", 1<<40); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "at most 1000 bytes") {
		t.Errorf("/dev/zero with a large limit: %v", err)
	}
	for name, read := range map[string]func(string, int64) ([]byte, error){"Read": Read, "ReadStream": ReadStream} {
		if _, err := read("/dev/zero", 100); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s of /dev/zero: %v", name, err)
		}
		if b, err := read(os.DevNull, 100); err != nil || len(b) != 0 {
			t.Errorf("%s of the null device: got %q, %v, want nothing and no error", name, b, err)
		}
	}
}

func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, 100); !errors.Is(err, ErrUnsuitable) {
		t.Errorf("Read of a pipe: %v", err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(path, []byte("piped"), 0) }()
	b, err := ReadStream(path, 100)
	if err := errors.Join(err, <-written); err != nil || string(b) != "piped" {
		t.Errorf("ReadStream of a pipe: got %q, %v, want \"piped\"", b, err)
	}
	if _, err := Open(path); !errors.Is(err, ErrUnsuitable) {
		t.Errorf("Open of a pipe: %v", err)
	}
	if _, err := Open("/dev/zero"); !errors.Is(err, ErrUnsuitable) {
		t.Errorf("Open of a device: %v", err)
	}
	for _, path := range []string{os.DevNull, "safefile.go"} {
		f, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
	}
	defer func(was time.Duration) { patience = was }(patience)
	patience = 0
	if _, err := ReadStream(path, 100); !errors.Is(err, ErrNoWriter) {
		t.Errorf("ReadStream of a pipe without a writer: %v", err)
	}
	if _, err := Create(path); !errors.Is(err, ErrNoReader) {
		t.Errorf("Create of a pipe without a reader: %v", err)
	}
	if _, err := openPipe(path + ".missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening what is not there: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("piped"); err != nil {
		t.Errorf("writing to a pipe: %v", err)
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	pipe, file, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	long := filepath.Join(dir, strings.Repeat("l", 250)) // there can be no file beside it whose name begins with its
	err := errors.Join(unix.Mkfifo(pipe, 0o600), os.WriteFile(file, []byte("content"), 0o600), os.Symlink("new", link), os.Symlink("new", long))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, file, link, long, filepath.Join(dir, "new"), os.DevNull} {
		if err := CheckWritable(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, path := range []string{dir, filepath.Join(dir, "none", "new"), filepath.Join(file, "new"), socket} {
		if err := CheckWritable(path); err == nil {
			t.Errorf("%s is writable", path)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("directory: got %v, %v, want 4 entries", entries, err)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "content" {
		t.Errorf("content of the file: got %q, %v, want \"content\"", content, err)
	}
}

// TestReplaceableBesideNothing asks for a pipe with a name so long that no file beside it can have a longer
// one. What is written to directly needs none.
func TestReplaceableBesideNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 250))
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if target, err := Replaceable(path); err != nil || target != path {
		t.Errorf("Replaceable: got %q, %v, want %q", target, err, path)
	}
}

// TestPipeWithoutName reads what a shell's <(command) stands for: the writer may have ended before, with or
// without having written, and may take its time.
func TestPipeWithoutName(t *testing.T) {
	if _, err := os.Stat("/dev/fd"); err != nil {
		t.Skip("descriptors have no paths on this system")
	}
	for _, text := range []string{"", "text"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		more := ""
		if text != "" {
			more = " and more"
			time.AfterFunc(20*time.Millisecond, func() { _, _ = w.WriteString(more); _ = w.Close() })
		} else if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err := ReadStream(path, 100); err != nil || string(b) != text+more {
			t.Errorf("ReadStream: got %q, %v, want %q", b, err, text+more)
		}
	}
}

// TestPrivate writes to files that everyone may read, and to other kinds of files.
func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct {
		open func(string) (*os.File, error)
		want string
	}{"Create": {Create, "new"}, "Append": {Append, "old content, new"}} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("old content, "), 0o600), os.Chmod(path, 0o666), os.Symlink(path, path+".link")); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{path + ".link", path + ".missing", os.DevNull} {
			f, err := test.open(at)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.WriteString("new")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Error(err)
			}
		}
		for file, want := range map[string]string{path: test.want, path + ".missing": "new"} {
			info, err := os.Lstat(file)
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: got %s with %v, %v, want the mode 0600", name, file, info, err)
			}
			if b, err := os.ReadFile(file); err != nil || string(b) != want {
				t.Errorf("%s: got %s with %q, %v, want %q", name, file, b, err, want)
			}
		}
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("null device: got %v, %v, want the permissions 0666", info, err)
	}
}

// TestRewriteKeepsTheOwner needs the rights of the administrator.
func TestRewriteKeepsTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("a"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 1, 2); err != nil {
		t.Skip(err)
	}
	if err := Rewrite(path, []byte("b")); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Uid != 1 || st.Gid != 2 {
		t.Errorf("owner of the file: got %d and the group %d, %v, want 1 and 2", st.Uid, st.Gid, err)
	}
}
