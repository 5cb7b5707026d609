//go:build unix

package ssh_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/base/ssh"
)

// tree makes files below dir; a text that starts with -> is a symbolic link, a name that ends with / a
// directory.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "->"); ok {
			err = os.Symlink(to, path)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(text), 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listing is what is below dir, with permissions.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if d.IsDir() {
			out[name+"/"] = info.Mode().Perm().String()
			return err
		}
		text, err := os.ReadFile(path)
		out[name] = info.Mode().Perm().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const file, folder = "-rw-r--r-- ", "-rwxr-xr-x"

func TestUpload(t *testing.T) {
	t.Parallel()
	there := map[string]string{"have/": "", "old": "old and longer than the new text"}
	for _, c := range []struct {
		name, source, destination string
		want                      map[string]string
	}{
		{"file", "a", "x", map[string]string{"x": file + "A"}},
		{"file to a directory", "a", "have", map[string]string{"have/a": file + "A"}},
		{"file to a directory with slash", "a", "have/", map[string]string{"have/a": file + "A"}},
		{"file over another", "a", "old", map[string]string{"old": "-rwx------ A"}},
		{"file in the home directory", "a", "~/have/b", map[string]string{"have/b": file + "A"}},
		{"file to the home directory", "a", "~", map[string]string{"a": file + "A"}},
		{"link", "link", "x", map[string]string{"x": file + "A"}},
		{"directory into one", "d", "have", map[string]string{
			"have/d/": folder, "have/d/1": file + "one", "have/d/e/": folder, "have/d/s/": folder, "have/d/s/2": file + "two", "have/d/l": file + "one",
		}},
		{"content of a directory", "d/", "have", map[string]string{
			"have/1": file + "one", "have/e/": folder, "have/s/": folder, "have/s/2": file + "two", "have/l": file + "one",
		}},
		{"directory to a new one", "d/s", "new", map[string]string{"new/": folder, "new/2": file + "two"}},
		{"content of a directory to a new one", "d/s/", "new/", map[string]string{"new/": folder, "new/2": file + "two"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			local := t.TempDir()
			tree(t, local, map[string]string{"a": "A", "link": "->a", "d/1": "one", "d/e/": "", "d/s/2": "two", "d/l": "->1"})
			s, client := open(t, nil)
			tree(t, s.home, there)
			source := filepath.Join(local, c.source)
			if strings.HasSuffix(c.source, "/") {
				source += "/"
			}
			if err := client.Upload(t.Context(), source, c.destination); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"have/": folder, "old": "-rwx------ " + there["old"]}
			for name, text := range c.want {
				want[name] = text
			}
			if diff := cmp.Diff(want, listing(t, s.home)); diff != "" {
				t.Errorf("uploaded files: got others than wanted (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUploadContent(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	tree(t, s.home, map[string]string{"have/": ""})
	for _, to := range []string{"x", "have", filepath.Join(s.home, "absolute")} {
		if err := client.UploadContent(t.Context(), "text", to); err != nil {
			t.Error(err)
		}
	}
	want := map[string]string{"x": file + "text", "have/": folder, "have/tf-file-content": file + "text", "absolute": file + "text"}
	if diff := cmp.Diff(want, listing(t, s.home)); diff != "" {
		t.Errorf("uploaded files: got others than wanted (-want +got):\n%s", diff)
	}
}

// Every error of an upload has a form that names no file.
func TestUploadErrors(t *testing.T) {
	t.Parallel()
	local := t.TempDir()
	tree(t, local, map[string]string{"n4me": "A", "loop/in/again": "->..", "d/1": "one", "broken/l": "->nothing"})
	s, client := open(t, nil)
	tree(t, s.home, map[string]string{"f1le": "x"})
	for _, c := range []struct{ source, destination, want string }{
		{"n0ne", "x", "source could not be read"},
		{"n4me", "n0ne/x", "the directory for it does not exist"},
		{"d", "n0ne/x", "the directory for it does not exist"},
		{"d", "f1le/x", "could not be created"},
		{"n4me", "", "destination is empty"},
		{"loop", "new", "would never end"},
		{"broken", "other", "source could not be read"},
	} {
		err := client.Upload(t.Context(), filepath.Join(local, c.source), c.destination)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %q", c.source, c.destination, err, c.want)
			continue
		}
		for _, name := range []string{"n4me", "n0ne", "f1le", local} {
			if strings.Contains(ssh.Public(err), name) {
				t.Errorf("%q in %s", name, ssh.Public(err))
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.UploadContent(ctx, "text", "late"); err == nil {
		t.Error("an upload after the interrupt")
	}
}
