package lockfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

const golden = `# This file is maintained automatically by "mayfly init".
# Manual edits may be lost in future updates.

provider "example.com/acme/cloud" {
  version = "1.0.0-beta1"
}

provider "registry.opentofu.org/hashicorp/random" {
  version     = "3.9.0"
  constraints = ">= 3.0.0, ~> 3.5"
  hashes = [
    "h1:0cI6yQDg77uzKSIXlP+W0/bpisMRwJ4CxhLdwdGLCNQ=",
    "zh:aa",
    "zh:bb",
  ]
}
`

func sample() *Lock {
	l := New()
	l.Set(Entry{
		Provider: addr.DefaultProvider("random"), Version: versions.MustParseVersion("3.9.0"), Constraints: ">= 3.0.0, ~> 3.5",
		Hashes: []Hash{"zh:bb", "zh:aa", "h1:0cI6yQDg77uzKSIXlP+W0/bpisMRwJ4CxhLdwdGLCNQ=", "zh:bb"},
	})
	l.Set(Entry{Provider: mustProvider("example.com/acme/cloud"), Version: versions.MustParseVersion("1.0.0-beta1")})
	return l
}

func mustProvider(s string) addr.Provider {
	p, err := addr.ParseProvider(s)
	if err != nil {
		panic(err)
	}
	return p
}

func TestBytes(t *testing.T) {
	if diff := cmp.Diff(golden, string(sample().Bytes())); diff != "" {
		t.Error(diff)
	}
}

func TestReadWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	empty, diags := Read(path)
	if len(diags) > 0 || empty.Len() != 0 {
		t.Fatalf("Read of a missing file: got %d entries, %v, want none", empty.Len(), diags)
	}
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	got, diags := Read(path)
	if len(diags) > 0 || !got.Equal(sample()) {
		t.Errorf("Read: got\n%s\n%v\nwant\n%s", got.Bytes(), diags, sample().Bytes())
	}
	if _, diags = Read(filepath.Dir(path)); !diags.HasErrors() {
		t.Error("reading a directory is no error")
	}
}

func TestParseErrors(t *testing.T) {
	const p = `provider "registry.opentofu.org/hashicorp/random" `
	for name, tc := range map[string]struct{ src, want string }{
		"syntax":             {`provider "x" {`, "f:1,14-15: Unclosed configuration block"},
		"no version":         {p + `{}`, `The argument "version" is required`},
		"unknown argument":   {p + "{\n version = \"1.0.0\"\n versoin = 1\n}", "f:3,2-9: Unsupported argument"},
		"unknown block":      {"module \"x\" {\n}", "f:1,1-7: Unsupported block type"},
		"short address":      {"provider \"hashicorp/random\" {\n version = \"1.0.0\"\n}", `must be written in full and in lower case: "registry.opentofu.org/hashicorp/random"`},
		"bad address":        {"provider \"a b\" {\n version = \"1.0.0\"\n}", "is not the source address"},
		"built-in":           {"provider \"terraform.io/builtin/terraform\" {\n version = \"1.0.0\"\n}", "never installed"},
		"legacy":             {"provider \"registry.opentofu.org/-/aws\" {\n version = \"1.0.0\"\n}", "never installed"},
		"bad version":        {p + "{\n version = \"one\"\n}", "f:2,12-17: Invalid provider version number"},
		"version of a type":  {p + "{\n version = true\n}", `The argument "version" must be a string`},
		"short version":      {p + "{\n version = \"1.0\"\n}", "Invalid provider version number"},
		"bad constraints":    {p + "{\n version = \"1.0.0\"\n constraints = \"about 1\"\n}", "f:3,16-25: Invalid provider version constraints"},
		"hash without type":  {p + "{\n version = \"1.0.0\"\n hashes = [\"abc\"]\n}", "f:3,12-17: Invalid provider hash"},
		"hash not string":    {p + "{\n version = \"1.0.0\"\n hashes = [true]\n}", "Invalid provider hash"},
		"hashes not list":    {p + "{\n version = \"1.0.0\"\n hashes = \"h1:a\"\n}", "Invalid provider hash set"},
		"duplicate":          {p + "{\n version = \"1.0.0\"\n}\n" + p + "{\n version = \"2.0.0\"\n}", "was already selected at f:1."},
		"computation":        {p + "{\n version = 1 + 1\n}", "f:2,14-15: Unsupported expression"},
		"deep nesting":       {strings.Repeat("a {\n", 100), "Nesting too deep"},
		"not text":           {"\xff", "not encoded in UTF-8"},
		"too large":          {strings.Repeat("#\n", 1<<20), "at most"},
		"reference":          {p + "{\n version = var.x\n}", "Variables not allowed"},
		"merge marker":       {"<<<<<<< HEAD\n", "f:1,1"},
		"label missing":      {"provider {\n}", "Missing source_addr for provider"},
		"hash in a function": {p + "{\n version = \"1.0.0\"\n hashes = tolist([])\n}", "Unsupported expression"},
	} {
		t.Run(name, func(t *testing.T) {
			l, diags := Parse([]byte(tc.src), "f")
			if !diags.HasErrors() || !strings.Contains(diags.Err().Error(), tc.want) {
				t.Errorf("got %v, want %q", diags, tc.want)
			}
			if len(diags) != 1 {
				t.Errorf("%d errors for one mistake, want 1: %v", len(diags), diags)
			}
			if l == nil {
				t.Fatal("the lock is nil")
			}
			// Only the first block of the duplicate is without a mistake.
			e, ok := l.Entry(addr.DefaultProvider("random"))
			if want := name == "duplicate"; l.Len() > 1 || ok != want || ok && e.Version.String() != "1.0.0" {
				t.Errorf("%s: got\n%s\nwant only an entry without a mistake, in version 1.0.0", name, l.Bytes())
			}
		})
	}
}

func TestEqualAndSameProviders(t *testing.T) {
	a, b := sample(), sample()
	e, _ := b.Entry(addr.DefaultProvider("random"))
	e.Hashes = append(e.Hashes, "zh:cc")
	b.Set(e)
	if a.Equal(b) || !a.SameProviders(b) {
		t.Error("a new hash must make a lock different, of the same providers")
	}
	if a.SameSelections(b) {
		t.Error("a new hash lets other packages in")
	}
	c := sample()
	e, _ = c.Entry(addr.DefaultProvider("random"))
	e.Constraints = "~> 1.2"
	c.Set(e)
	if a.Equal(c) || !a.SameSelections(c) {
		t.Error("another constraint makes a lock different, with the same selections")
	}
	c = sample()
	e, _ = c.Entry(addr.DefaultProvider("random"))
	e.Version = versions.MustParseVersion("3.9.1")
	c.Set(e)
	if a.SameSelections(c) || !a.SameProviders(c) {
		t.Error("another version is another selection, of the same providers")
	}
	b.Set(Entry{Provider: mustProvider("example.com/acme/other")})
	if a.SameProviders(b) || b.SameProviders(a) {
		t.Error("a new provider was overlooked")
	}
	var none *Lock
	if !none.Equal(New()) || none.Equal(a) {
		t.Error("nil must be an empty lock")
	}
	if e, ok := none.Entry(addr.DefaultProvider("random")); ok {
		t.Errorf("nil has the entry %v", e)
	}
}

func TestHashesOfPackedAndUnpacked(t *testing.T) {
	dir := t.TempDir()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	if _, err := w.Create("sub/"); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"b": "2", "a": "1", "sub/c": "3"} {
		filetest.Write(t, filepath.Join(dir, name), content)
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := HashContent(r)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, d := range []string{dir, link} {
		if h, err := HashDir(d); err != nil || h != packed {
			t.Errorf("HashDir(%s): got %s, %v, want the checksum of the archive %s", d, h, err, packed)
		}
	}
}

func TestHashArchive(t *testing.T) {
	// The sum of "abc" is known from the standard of SHA-256.
	zh, err := HashArchive(strings.NewReader("abcdef"), 3)
	if err != nil || zh != "zh:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("HashArchive: got %q, %v, want the SHA-256 of \"abc\"", zh, err)
	}
	if zh, err := HashArchive(failingReader{}, 3); err == nil {
		t.Errorf("what cannot be read has the hash %s", zh)
	}
}

// failingReader cannot be read.
type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errors.New("broken") }

// TestTwoFilesOfOneName refuses an archive with two files of one name: one would be hashed, and the other one
// perhaps unpacked.
func TestTwoFilesOfOneName(t *testing.T) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, content := range []string{"good", "evil"} {
		f, err := w.Create("name")
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if h, err := HashContent(r); err == nil {
		t.Errorf("it has the hash %s", h)
	}
}

func TestCompareProviders(t *testing.T) {
	want := []addr.Provider{mustProvider("a.example/z/z"), mustProvider("b.example/a/z"), mustProvider("b.example/b/a"), mustProvider("b.example/b/b")}
	got := []addr.Provider{want[2], want[0], want[3], want[1]}
	if slices.SortFunc(got, CompareProviders); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New()
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			name := rapid.StringMatching(`[a-z][a-z0-9]{0,8}`).Draw(t, "name")
			v := versions.Version{Major: rapid.Uint64Max(1<<40).Draw(t, "major"), Prerelease: versions.VersionExtra(rapid.SampledFrom([]string{"", "rc1"}).Draw(t, "pre"))}
			hashes := rapid.SliceOfN(rapid.Map(rapid.String(), func(s string) Hash { return Hash("h9:x" + strings.ToValidUTF8(s, "")) }), 0, 3).Draw(t, "hashes")
			l.Set(Entry{Provider: mustProvider("example.com/acme/" + name), Version: v, Hashes: hashes})
		}
		first := l.Bytes()
		got, diags := Parse(first, "f")
		if diags.HasErrors() || !bytes.Equal(got.Bytes(), first) && norm(first) {
			t.Fatalf("Parse: got %v and\n%s\nwant the same file again:\n%s", diags, got.Bytes(), first)
		}
	})
}

// norm reports whether the text is in the normal form of Unicode that the language gives to strings; only
// then they come back the same.
func norm(b []byte) bool { return !bytes.ContainsFunc(b, func(r rune) bool { return r > 0x7f }) }

func FuzzParse(f *testing.F) {
	f.Add([]byte(golden))
	f.Add([]byte("provider \"a\" {\n hashes = [\"${x}\", \"\\u0041\", <<E\nE\n]}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, diags := Parse(src, "f")
		if diags.HasErrors() {
			return
		}
		again, diags := Parse(l.Bytes(), "f")
		if diags.HasErrors() || !again.Equal(l) {
			t.Fatalf("Parse of a written file: got %v and\n%s\nwant\n%s", diags, again.Bytes(), l.Bytes())
		}
	})
}
