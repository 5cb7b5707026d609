package schemacache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func cache(t *testing.T) *Cache {
	t.Helper()
	return Open(map[string]string{envDir: filepath.Join(t.TempDir(), "schemas")})
}

func TestSavedIsLoaded(t *testing.T) {
	c := cache(t)
	if got := c.For("h1:one", nil).Load(6); got != nil {
		t.Fatalf("an empty cache has %q", got)
	}
	c.For("h1:one", nil).Save(6, []byte("schema one"))
	c.For("h1:two", nil).Save(6, nil)
	if got := c.For("h1:one", nil).Load(6); string(got) != "schema one" {
		t.Errorf("Load: got %q, want \"schema one\"", got)
	}
	if got := c.For("h1:two", nil).Load(6); got == nil || len(got) != 0 {
		t.Errorf("Load of an empty schema: got %#v, want an empty one", got)
	}
	if got := c.For("h1:one", nil).Load(5); got != nil {
		t.Errorf("loaded %q for another version of the protocol", got)
	}
	if got := c.For("h1:three", nil).Load(6); got != nil {
		t.Errorf("loaded %q for a package that was never saved", got)
	}
}

func TestWithoutCacheOrChecksum(t *testing.T) {
	if c := Open(map[string]string{envDir: "off"}); c != nil || c.For("h1:one", nil) != nil {
		t.Error("there is a cache though it is off")
	}
	if cache(t).For("", nil) != nil {
		t.Error("a package without checksum has an entry")
	}
}

func TestSwitchesAreOtherSchemas(t *testing.T) {
	c := cache(t)
	c.For("h1:one", []string{"A=x", "NEXT_BETA=true"}).Save(6, []byte("beta"))
	for name, test := range map[string]struct {
		environ []string
		found   bool
	}{
		"the same":            {[]string{"NEXT_BETA=true", "A=x"}, true},
		"what is no switch":   {[]string{"NEXT_BETA=True", "A=y", "TF_IN_AUTOMATION=true"}, true},
		"without it":          {[]string{"A=x"}, false},
		"off":                 {[]string{"NEXT_BETA=false"}, false},
		"another one besides": {[]string{"NEXT_BETA=true", "OTHER=false"}, false},
		"a number":            {[]string{"NEXT_BETA=true", "OTHER=1"}, false},
		"nested shells":       {[]string{"NEXT_BETA=true", "SHLVL=1"}, true},
	} {
		if got := c.For("h1:one", test.environ).Load(6) != nil; got != test.found {
			t.Errorf("%s: found: got %t, want %t", name, got, test.found)
		}
	}
}

// TestInDoubtNothingIsLoaded spoils a saved file in every way there is.
func TestInDoubtNothingIsLoaded(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"a changed byte": func(t *testing.T, path string) {
			b := read(t, path)
			b[len(b)-1] ^= 1
			write(t, path, b)
		},
		"a changed heading": func(t *testing.T, path string) {
			b := read(t, path)
			b[0] ^= 1
			write(t, path, b)
		},
		"shortened":    func(t *testing.T, path string) { write(t, path, read(t, path)[:header+3]) },
		"nearly empty": func(t *testing.T, path string) { write(t, path, []byte("m")) },
		"lengthened":   func(t *testing.T, path string) { write(t, path, append(read(t, path), 'x')) },
		"others may write to the file": func(t *testing.T, path string) {
			must(t, os.Chmod(path, 0o666))
		},
		"others may write to the directory": func(t *testing.T, path string) {
			must(t, os.Chmod(filepath.Dir(path), 0o777))
		},
		"a directory in its place": func(t *testing.T, path string) {
			must(t, os.Remove(path))
			must(t, os.Mkdir(path, 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "others") && os.PathSeparator == '\\' {
				t.Skip("this system has no such permissions")
			}
			e := cache(t).For("h1:one", nil)
			e.Save(6, []byte("schema"))
			spoil(t, e.path)
			if got := e.Load(6); got != nil {
				t.Errorf("loaded %q", got)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	c := cache(t)
	c.maxFile, c.maxTotal = 200, 450
	content := bytes.Repeat([]byte("x"), 100)
	names := []string{"h1:a", "h1:b", "h1:c"}
	for i, n := range names {
		c.For(n, nil).Save(6, content)
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		must(t, os.Chtimes(c.For(n, nil).path, at, at))
	}
	c.For("h1:a", nil).Load(6) // now it is the one that was used last
	left := filepath.Join(c.dir, "new-left")
	write(t, left, content)
	must(t, os.Chtimes(left, time.Now().Add(-2*staleAfter), time.Now().Add(-2*staleAfter)))
	c.For("h1:d", nil).Save(6, content)
	for n, want := range map[string]bool{"h1:a": true, "h1:b": false, "h1:c": true, "h1:d": true} {
		if got := c.For(n, nil).Load(6) != nil; got != want {
			t.Errorf("%s: in the cache: got %t, want %t", n, got, want)
		}
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed process has left is still there")
	}
	c.For("h1:e", nil).Save(6, bytes.Repeat(content, 3))
	if c.For("h1:e", nil).Load(6) != nil {
		t.Error("a file that is too large was kept")
	}
}

func TestConcurrentUse(t *testing.T) {
	c := cache(t)
	content := bytes.Repeat([]byte("schema "), 10000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				e := c.For("h1:one", nil)
				e.Save(6, content)
				if got := e.Load(6); !bytes.Equal(got, content) {
					t.Errorf("Load: got %d bytes, want the %d bytes that were saved", len(got), len(content))
				}
			}
		})
	}
	wg.Wait()
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	must(t, os.WriteFile(path, b, 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
