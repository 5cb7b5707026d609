package install

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type member struct {
	name    string
	mode    fs.FileMode
	content string
}

func zipOf(t *testing.T, members ...member) *zip.Reader {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.mode != 0 {
			h.SetMode(m.mode)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(m.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil && r == nil {
		t.Fatal(err)
	}
	return r
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	err := unpack(zipOf(t, member{name: "empty/"}, member{name: "sub/"}, member{name: "sub/deep/a", content: "1"}, member{name: "b", mode: 0o755, content: "2"},
		member{name: "c", mode: 0o4777 | fs.ModeSetuid, content: "3"}), dir, packageLimits)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"sub/deep/a": "1", "b": "2", "c": "3"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "empty")); err != nil || !info.IsDir() {
		t.Errorf("an empty directory: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "c")); err != nil || info.Mode()&(fs.ModeSetuid|0o022) != 0 {
		t.Errorf("mode of c: got %v, %v, want one that others cannot write, without set-user-ID", info, err)
	}
}

func TestUnpackRefuses(t *testing.T) {
	small := limits{files: 3, bytes: 10}
	for name, tc := range map[string]struct {
		members []member
		want    string
	}{
		"parent":          {[]member{{name: "../evil"}}, "points outside of the package"},
		"parent deep":     {[]member{{name: "a/../../evil"}}, "points outside of the package"},
		"absolute":        {[]member{{name: "/evil"}}, "points outside of the package"},
		"backslashes":     {[]member{{name: `..\evil`}}, "points outside of the package"},
		"drive":           {[]member{{name: "C:evil"}}, "points outside of the package"},
		"empty":           {[]member{{name: ""}}, "points outside of the package"},
		"parent folder":   {[]member{{name: "../"}}, "points outside of the package"},
		"the directory":   {[]member{{name: "./"}}, "points outside of the package"},
		"below it":        {[]member{{name: "./evil"}}, "points outside of the package"},
		"two slashes":     {[]member{{name: "a//b"}}, "points outside of the package"},
		"link":            {[]member{{name: "l", mode: fs.ModeSymlink | 0o777, content: "/etc"}, {name: "l/evil"}}, "links are not accepted"},
		"device":          {[]member{{name: "d", mode: fs.ModeDevice | 0o666}}, "neither a file nor a directory"},
		"twice":           {[]member{{name: "a", content: "1"}, {name: "a", content: "2"}}, "exists"},
		"file and folder": {[]member{{name: "a", content: "1"}, {name: "a/b", content: "2"}}, "exists"},
		"many files":      {[]member{{name: "a"}, {name: "b"}, {name: "c"}, {name: "d"}}, "at most 3"},
		"large file":      {[]member{{name: "a", content: strings.Repeat("x", 11)}}, "more than 10 bytes"},
		"large in all":    {[]member{{name: "a", content: "123456"}, {name: "b", content: "123456"}}, "more than 10 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			dir := filepath.Join(outer, "x", "y")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			err := unpack(zipOf(t, tc.members...), dir, small)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			for _, evil := range []string{filepath.Join(outer, "evil"), filepath.Join(outer, "x", "evil"), filepath.Join("/etc", "evil")} {
				if _, err := os.Lstat(evil); err == nil {
					t.Errorf("%s was written", evil)
				}
			}
		})
	}
}

func TestRefusedArchiveLeavesNothing(t *testing.T) {
	f := newFixture(t)
	p := f.provider("random")
	path := filepath.Join(f.mirror, providerPath(p), "terraform-provider-random_1.0.0_linux_amd64.zip")
	reqs := f.reqs(need("hashicorp/random", ">= 1"))
	f.archive(path, &zip.FileHeader{Name: "../evil"}, "x")
	f.fails(reqs, nil, Options{}, "points outside of the package", path)
	f.archive(path, &zip.FileHeader{Name: "README"}, "x")
	f.fails(reqs, nil, Options{}, "has no file named terraform-provider-random* to run")
	f.write(path, "not a zip", 0o644)
	f.check(os.RemoveAll(f.inst.DataDir))
	f.fails(reqs, nil, Options{}, "is not a zip archive")
	if left, err := os.ReadDir(f.inst.providersDir()); !os.IsNotExist(err) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func FuzzCheckEntry(f *testing.F) {
	for _, s := range []string{"a", "../a", "a/", "a//b", `a\b`, "./a", "a/.", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file := &zip.File{FileHeader: zip.FileHeader{Name: name}}
		if checkEntry(file) != nil {
			return
		}
		for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '/' || r == '\\' }) {
			if part == ".." {
				t.Errorf("%q points outside of the package", name)
			}
		}
		if strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\:") {
			t.Errorf("%q is not relative", name)
		}
	})
}
