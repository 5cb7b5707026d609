package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/powercut"
	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

// childEnv makes the test binary call one of the functions below: "FUNCTION:DIR".
const childEnv = "MAYFLY_SAFEFILE_TEST_CHILD"

const oldContent, newContent = "the old content", "the content that is new"

// writer is a function that makes newContent the content of a file, and what holds for it.
type writer struct {
	write func(path string) error
	fresh bool        // the file does not exist before
	parts bool        // there may be a part of the new content while it is written
	later bool        // the name need not be durable at the end
	mode  fs.FileMode // of the old file, if it is not private
	alias string
	below string // a directory that the file is in, below that of the path
}

// prepare makes a directory for a writer, and the process that calls it there.
func (w writer) prepare(t *testing.T, name string) (dir string, cmd *exec.Cmd) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	file := filepath.Join(root, "file")
	err = errors.Join(os.Mkdir(root, 0o700), os.Mkdir(filepath.Join(dir, "marks"), 0o700), os.Symlink("file", file+".link"))
	if !w.fresh {
		err = errors.Join(err, os.WriteFile(file, []byte(oldContent), 0o600))
	}
	if w.mode != 0 {
		err = errors.Join(err, os.Chmod(file, w.mode))
	}
	if w.alias != "" {
		err = errors.Join(err, os.Link(file, filepath.Join(dir, w.alias)))
	}
	exe, exeErr := os.Executable()
	if err = errors.Join(err, exeErr); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), childEnv+"="+name+":"+dir), os.Stderr
	return dir, cmd
}

// writers are functions by name.
var writers = map[string]writer{
	"Replace":          {write: func(path string) error { return Replace(path, []byte(newContent)) }},
	"ReplacePrivate":   {write: func(path string) error { return ReplacePrivate(path, []byte(newContent)) }},
	"ReplaceBy":        {write: func(path string) error { return ReplaceBy(path, writeAll) }},
	"Save":             {write: func(path string) error { return Save(path, []byte(newContent)) }},
	"Save by a link":   {write: func(path string) error { return Save(path+".link", []byte(newContent)) }, fresh: true, parts: true},
	"CreatePrivate":    {write: func(path string) error { return CreatePrivate(path, []byte(newContent)) }, fresh: true},
	"CreateNew":        {write: func(path string) error { return CreateNew(path, []byte(newContent), private) }, fresh: true, parts: true},
	"Rewrite":          {write: func(path string) error { return Rewrite(path, []byte(newContent)) }, later: true},
	"MakeDirs":         {write: inNewDirs, fresh: true, parts: true, below: "a/b/"},
	"Rewrite in place": {write: func(path string) error { return Rewrite(path, []byte(newContent)) }, parts: true, alias: "second name"},
}

// openers are functions that open a file to write, which need not be durable then.
var openers = map[string]writer{
	"Create": {write: opens(Create), mode: 0o644},
	"Append": {write: opens(Append), mode: 0o644},
}

func opens(open func(string) (*os.File, error)) func(string) error {
	return func(path string) error {
		f, err := open(path)
		if err != nil {
			return err
		}
		return errors.Join(writeAll(f), f.Close())
	}
}

// inNewDirs writes to a file of the same name in new directories.
func inNewDirs(path string) error {
	dir := filepath.Join(filepath.Dir(path), "a", "b")
	if _, err := MakeDirs(dir, 0o700); err != nil {
		return err
	}
	return CreateNew(filepath.Join(dir, filepath.Base(path)), []byte(newContent), private)
}

func writeAll(w io.Writer) error {
	_, err := io.WriteString(w, newContent)
	return err
}

// leftOpen is said of files that a writer has not closed.
const leftOpen = "left open:"

// openIn returns the files in a directory that this process has open, nothing on systems that do not tell.
func openIn(dir string) (paths []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if path, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && strings.HasPrefix(path, dir) {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestMain(m *testing.M) {
	sysfault.Main()
	name, dir, ok := strings.Cut(os.Getenv(childEnv), ":")
	if !ok {
		os.Exit(m.Run())
	}
	w, ok := writers[name]
	if !ok {
		w = openers[name]
	}
	err := w.write(filepath.Join(dir, "root", "file"))
	for _, path := range openIn(dir) {
		fmt.Fprintln(os.Stderr, leftOpen, path)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "marks", "done"), nil, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestPowerCut cuts the power before each system call of each function that writes a file: the file has its
// old or its new content, and once the function has returned, the new one.
func TestPowerCut(t *testing.T) {
	for name, w := range writers {
		t.Run(name, func(t *testing.T) {
			dir, cmd := w.prepare(t, name)
			watched := powercut.Watched{Root: filepath.Join(dir, "root"), Done: powercut.Files(filepath.Join(dir, "marks"))}
			cuts, err := watched.Cuts(cmd)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			done := false
			for _, c := range cuts {
				got, exists := c.Image[w.below+"file"]
				is := string(got)
				done = done || c.Has("done")
				switch {
				case is == newContent:
				case c.Has("done") && !w.later:
					t.Errorf("%s: the file has %q (%v) although it was written", c.At, got, exists)
				case w.parts || !exists && w.fresh || !w.fresh && is == oldContent:
				default:
					t.Errorf("%s: the file has %q (%v)", c.At, got, exists)
				}
			}
			if !done || len(cuts) < 4 {
				t.Errorf("%d cuts, and the function ended: %v", len(cuts), done)
			}
		})
	}
}
