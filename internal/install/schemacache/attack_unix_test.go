//go:build unix

package schemacache

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOddFilesAreNotOpened replaces a saved file by other kinds of files.
func TestOddFilesAreNotOpened(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"a pipe without a writer": func(t *testing.T, path string) { must(t, syscall.Mkfifo(path, 0o600)) },
		"a link to a valid file": func(t *testing.T, path string) {
			other := filepath.Join(t.TempDir(), "other")
			write(t, other, append(heading(6, []byte("schema")), "schema"...))
			must(t, os.Symlink(other, path))
		},
		"a link that names itself": func(t *testing.T, path string) { must(t, os.Symlink(path, path)) },
	} {
		t.Run(name, func(t *testing.T) {
			e := cache(t).For("h1:one", nil)
			e.Save(6, []byte("before"))
			must(t, os.Remove(e.path))
			spoil(t, e.path)
			loaded := make(chan []byte, 1)
			go func() { loaded <- e.Load(6) }()
			select {
			case got := <-loaded:
				if got != nil {
					t.Errorf("loaded %q", got)
				}
			case <-time.After(time.Minute):
				t.Fatal("loading waits")
			}
			e.Save(6, []byte("after"))
			if got := e.Load(6); string(got) != "after" {
				t.Errorf("Load after it was saved again: got %q, want \"after\"", got)
			}
		})
	}
}

// TestNoRoom saves where nothing can be written: nothing is loaded, nothing is left, and nothing is reported.
func TestNoRoom(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a file in place of the directory":     func(t *testing.T, dir string) { write(t, dir, nil) },
		"a link to nowhere":                    func(t *testing.T, dir string) { must(t, os.Symlink(dir+"-nowhere", dir)) },
		"a directory that others may write to": func(t *testing.T, dir string) { must(t, os.Mkdir(dir, 0o700)); must(t, os.Chmod(dir, 0o777)) },
		"a directory in the place of the entry": func(t *testing.T, dir string) {
			must(t, os.MkdirAll(filepath.Join(dir, (&Cache{dir: dir}).entry(), "full"), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cache(t)
			spoil(t, c.dir)
			e := c.For("h1:one", nil)
			e.Save(6, []byte("schema"))
			if got := e.Load(6); got != nil {
				t.Errorf("loaded %q", got)
			}
			if entries, err := os.ReadDir(c.dir); err == nil {
				for _, entry := range entries {
					if strings.HasPrefix(entry.Name(), "new-") {
						t.Errorf("%s is left", entry.Name())
					}
				}
			}
		})
	}
}

// entry is the name of the file of the package that the tests use.
func (c *Cache) entry() string { return filepath.Base(c.For("h1:one", nil).path) }

// TestDiskFull has the file system refuse the file beyond its first bytes.
func TestDiskFull(t *testing.T) {
	c := cache(t)
	e := c.For("h1:one", nil)
	e.Save(6, []byte("schema"))
	limit := syscall.Rlimit{}
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	small := limit
	small.Cur = 100_000
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small))
	defer func() { must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)) }()
	two := c.For("h1:two", nil)
	two.Save(6, make([]byte, 200_000))
	if two.Load(6) != nil {
		t.Error("a file was loaded that could not be written")
	}
	entries, err := os.ReadDir(c.dir)
	must(t, err)
	if len(entries) != 1 || e.Load(6) == nil {
		t.Errorf("%d files are left, want the one that was there", len(entries))
	}
}
