package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestShellWords(t *testing.T) {
	for _, tt := range []struct {
		line  string
		words []string
		last  unfinished
	}{
		{"", []string{""}, unfinished{}},
		{"mayfly", []string{"mayfly"}, unfinished{}},
		{"mayfly ", []string{"mayfly", ""}, unfinished{}},
		{"  mayfly\t plan", []string{"mayfly", "plan"}, unfinished{}},
		{`mayfly "" x`, []string{"mayfly", "", "x"}, unfinished{}},
		{`a b\ c`, []string{"a", "b c"}, unfinished{}},
		{`a b\`, []string{"a", `b\`}, unfinished{}},
		{`a 'b c`, []string{"a", "b c"}, unfinished{quote: '\''}},
		{`a 'b\c'd`, []string{"a", `b\cd`}, unfinished{}},
		{`a "b\"c`, []string{"a", `b"c`}, unfinished{quote: '"'}},
		{`a -x=y`, []string{"a", "-x=y"}, unfinished{broken: 3}},
		{`a -x=y:z`, []string{"a", "-x=y:z"}, unfinished{broken: 5}},
		{`a -x\=y`, []string{"a", "-x=y"}, unfinished{}},
		{`a -x='y=z`, []string{"a", "-x=y=z"}, unfinished{quote: '\'', broken: 3}},
		{`a -x='y=z'w`, []string{"a", "-x=y=zw"}, unfinished{broken: 3}},
		{`a -x=y b`, []string{"a", "-x=y", "b"}, unfinished{}},
	} {
		words, last := shellWords(tt.line)
		if !slices.Equal(words, tt.words) || last != tt.last {
			t.Errorf("%q: %q, %+v; want %q, %+v", tt.line, words, last, tt.words, tt.last)
		}
	}
}

// FuzzCompletes asks for the completion of anything. What is offered to bash can be put into the line without
// being taken for more than a word.
func FuzzCompletes(f *testing.F) {
	for _, line := range []string{"mayfly ", "mayfly plan -", `mayfly state show 'a`, "mayfly -help=", "mayfly - -=", "mayfly workspace select ", `mayfly plan -lock=\`} {
		f.Add(line)
	}
	f.Chdir(f.TempDir())
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "chdir") {
			return // the directory is the process's
		}
		var out bytes.Buffer
		a := &app{env: environment{Stdout: &out, Stderr: &out}, vars: map[string]string{}}
		if !a.completes(a.root(), []string{completeCommand, "bash", line}) {
			t.Fatal("the question was not recognised")
		}
		for word := range strings.Lines(out.String()) {
			if strings.ContainsAny(strings.ReplaceAll(strings.TrimSuffix(word, "\n"), `\ `, ""), " \t\n;&|") {
				t.Errorf("%q is completed with %q", line, word)
			}
		}
	})
}

func TestUnifiedDiff(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"a=1", "a = 1", "--- o\n+++ n\n@@ -1 +1 @@\n-a=1\n\\ No newline at end of file\n+a = 1\n\\ No newline at end of file\n"},
		{"x\na\ny\n", "x\nb\ny\n", "--- o\n+++ n\n@@ -1,3 +1,3 @@\n x\n-a\n+b\n y\n"},
		{"same\n", "same\n", ""},
	} {
		if got := unifiedDiff("o", "n", tt.before, tt.after); got != tt.want {
			t.Errorf("%q to %q: %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}

func TestRewriteFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("as root, files that may not be written are written all the same")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("a longer text\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Skip(err)
	}
	if err := rewriteFile(link, []byte("new\n")); err != nil {
		t.Fatal(err)
	}
	has := func(path, want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", path, got, err)
		}
	}
	has(path, "new\n")
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is none any more")
	}
	second := filepath.Join(dir, "b")
	if err := os.Link(path, second); err != nil {
		t.Skip(err)
	}
	if err := rewriteFile(path, []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	has(second, "x\n")
	if err := rewriteFile(filepath.Join(dir, "missing"), nil); err == nil {
		t.Error("a file that does not exist was rewritten")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
