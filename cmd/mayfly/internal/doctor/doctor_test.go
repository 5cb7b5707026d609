package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest"
	"github.com/mayfly-iac/mayfly/workdir"
)

func TestText(t *testing.T) {
	r := &Report{FormatVersion: "1.0", Groups: []Group{
		{"a", "First", []Finding{ok("x", "is %s", "there"), note("y", "is\n  odd"), problem("z", "is\nnot there", "Do\nthis.").took(time.Now())}},
		{"b", "Second", []Finding{okay("w", "100% there")}},
	}}
	r.count()
	var out strings.Builder
	if err := r.Text(&out, view.Options{}); err != nil {
		t.Fatal(err)
	}
	want := `First
  ok      x: is there
  note    y: is odd
  problem z: is not there (0 ms)
          → Do this.

Second
  ok      w: 100% there

1 problem was found. What to do about it is in the line with the arrow.
`
	if out.String() != want {
		t.Errorf("the text is\n%s, want %s", out.String(), want)
	}
	r.Groups[1].Findings[0].Level = Problem
	r.count()
	if got := r.summary(view.Options{}); !strings.HasPrefix(got, "2 problems were found.") {
		t.Errorf("the summary is %q", got)
	}
	if r.Problems != 2 || r.Notes != 1 {
		t.Errorf("got %d problems and %d notes, want 2 and 1", r.Problems, r.Notes)
	}
}

func TestColours(t *testing.T) {
	r := &Report{Groups: []Group{{"a", "A", []Finding{ok("x", "y"), problem("x", "y", "z")}}}}
	var out strings.Builder
	if err := r.Text(&out, view.Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\x1b["); n < 6 {
		t.Errorf("%d escape sequences in %q", n, out.String())
	}
}

func TestOf(t *testing.T) {
	list := append(diag.Errorf("Bad", "It is\nbad."), diag.Warnf("Odd", "It is odd.")...)
	got := of("s", list, "Fix it.")
	want := []Finding{problem("s", "Bad: It is bad.", "Fix it."), note("s", "Odd: It is odd.")}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestWayOutOnce has texts that end with a command: it is in the way out, and there only.
func TestWayOutOnce(t *testing.T) {
	const intro, list = "These are\ninconsistent", "The following are inconsistent:\n  - a: b (used at main.tf:3)\n  - c"
	for _, c := range []struct{ detail, wayOut, want, wantOut string }{
		{list + "\n\nTo select them, run:\n  mayfly init", "Run: mayfly init", "Bad: a: b (used at main.tf:3) - c", "Run: mayfly init"},
		{list + "\n\nTo update them, run:\n  mayfly init -upgrade", "Run: mayfly init", "Bad: a: b (used at main.tf:3) - c", "Run: mayfly init -upgrade"},
		{"Not initialized. Run: mayfly init", "Correct it; then run: mayfly init", "Bad: Not initialized.", "Correct it; then run: mayfly init"},
		{"Run: mayfly init", "Run: mayfly init", "Bad", "Run: mayfly init"},
		{"Not there. To make it, run: mayfly new x", "Check it; or run: mayfly init", "Bad: Not there. To make it, run: mayfly new x", "Check it; or run: mayfly init"},
		{"Run \"mayfly init\" to install it.", "Run: mayfly init", "Bad: Run \"mayfly init\" to install it.", "Run: mayfly init"},
		{intro + ".", "Fix it.", "Bad: These are inconsistent.", "Fix it."},
	} {
		got := of("s", diag.Errorf("Bad", "%s", c.detail), c.wayOut)
		if len(got) != 1 || got[0].Text != c.want || got[0].WayOut != c.wantOut {
			t.Errorf("%q, %q: got %+v, want %q, %q", c.detail, c.wayOut, got, c.want, c.wantOut)
		}
	}
}

// TestWidth checks that lines fit, and that those that go on are below the text.
func TestWidth(t *testing.T) {
	r := &Report{Groups: []Group{{"a", "A", []Finding{problem("some subject", "was looked at, and is not as it should be", "Do what is said here about it.").took(time.Now())}}}}
	r.count()
	for width, want := range map[int]string{
		0: "A\n  problem some subject: was looked at, and is not as it should be (0 ms)\n          → Do what is said here about it.\n\n" +
			"1 problem was found. What to do about it is in the line with the arrow.\n",
		36: "A\n  problem some subject: was looked\n          at, and is not as it\n          should be (0 ms)\n          → Do what is said here\n            about it.\n\n" +
			"1 problem was found. What to do\nabout it is in the line with the\narrow.\n",
	} {
		var out strings.Builder
		if err := r.Text(&out, view.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("with %d columns:\ngot %s, want %s", width, out.String(), want)
		}
	}
}

func TestParseProxy(t *testing.T) {
	for value, want := range map[string]string{
		"http://a:b@proxy:3128": "http://proxy:3128 proxy:3128",
		"proxy:3128":            "http://proxy:3128 proxy:3128",
		"proxy":                 "http://proxy proxy:80",
		"https://proxy":         "https://proxy proxy:443",
		"socks5://[::1]":        "socks5://[::1] [::1]:1080",
		"http://":               "",
		"ftp://proxy":           "",
		"http://a b:1":          "",
		"http://u:p%zz@proxy":   "",
	} {
		u, ok := parseProxy(value)
		got := ""
		if ok {
			got = u.Scheme + "://" + u.Host + " " + hostPort(u)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
}

// TestAwait checks that an answer that comes too late, or never, is a problem with the way out, and that all
// are waited for at once.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &examination{Options: Options{Timeout: 5 * time.Second}}
		g := x.group("g", "G")
		stuck := make(chan struct{})
		g.later("slow", "Wait.", func(ctx context.Context) []Finding {
			<-ctx.Done()
			return []Finding{problem("slow", x.failure(ctx, errors.New("gone")), "Hurry.")}
		})
		g.later("stuck", "Kick it.", func(context.Context) []Finding {
			<-stuck
			return nil
		})
		g.later("refused", "", func(ctx context.Context) []Finding {
			return []Finding{problem("refused", x.failure(ctx, errors.New("no")), "Ask.")}
		})
		start := time.Now()
		r := x.carryOut(t.Context())
		if took := time.Since(start); took > 7*time.Second {
			t.Errorf("it took %s", took)
		}
		want := []Finding{problem("slow", "no answer within 5s", "Hurry."), problem("stuck", "no answer within 5s", "Kick it."), problem("refused", "no", "Ask.")}
		if len(r.Groups) != 1 || len(r.Groups[0].Findings) != len(want) {
			t.Fatalf("got %+v, want one group with %+v", r, want)
		}
		for i, f := range r.Groups[0].Findings {
			if f != want[i] {
				t.Errorf("got %+v, want %+v", f, want[i])
			}
		}
		close(stuck)
	})
}

// TestPanic checks that a panic of a task reaches the caller.
func TestPanic(t *testing.T) {
	x := &examination{Options: Options{Timeout: time.Minute}}
	x.group("g", "G").later("s", "", func(context.Context) []Finding { panic("boom") })
	defer func() {
		if recover() == nil {
			t.Error("there was no panic")
		}
	}()
	x.carryOut(t.Context())
}

func TestVariables(t *testing.T) {
	x := &examination{Options: Options{Vars: map[string]string{
		"TF_LOG": "info", "TF_VAR_a": "x", "TF_TOKEN_a": "x", "MAYFLY_SCHEMA_CACHE": "off", "TF_INPUT": "", "HOME": "/", "OPENTOFU_ENFORCE_GPG_VALIDATION": "1",
	}}}
	if got := strings.Join(x.variables(), " "); got != "MAYFLY_SCHEMA_CACHE OPENTOFU_ENFORCE_GPG_VALIDATION TF_LOG" {
		t.Errorf("the variables: got %s, want %s", got, "MAYFLY_SCHEMA_CACHE OPENTOFU_ENFORCE_GPG_VALIDATION TF_LOG")
	}
}

// examine examines a new directory with some files, and an environment.
func examine(t *testing.T, files map[string]string, environ ...string) *Report {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", t.TempDir())
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	r, err := Examine(t.Context(), Options{Dir: workdir.New(workdir.Options{Environ: append([]string{}, environ...)}), Vars: vars, Program: []string{"version", "v1"}, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// finding returns the first finding about a subject.
func finding(t *testing.T, r *Report, group, subject string) Finding {
	t.Helper()
	for _, g := range r.Groups {
		for _, f := range g.Findings {
			if g.Name == group && f.Subject == subject {
				return f
			}
		}
	}
	t.Fatalf("there is no finding about %s of %s in %+v", subject, group, r)
	return Finding{}
}

// TestDocument checks the document of a directory with nothing in it, which stays empty.
func TestDocument(t *testing.T) {
	r := examine(t, nil)
	if r.Problems != 0 {
		t.Errorf("got %+v, want no problems", r)
	}
	doc, err := r.JSON()
	if err == nil {
		err = schematest.Check("examination", doc)
	}
	if err != nil {
		t.Error(err)
	}
	var again Report
	if err := json.Unmarshal(doc, &again); err != nil || len(again.Groups) != len(r.Groups) {
		t.Errorf("reading the document again: got %+v, %v, want %d groups", again, err, len(r.Groups))
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}

func TestInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	gone := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	r, err := Examine(ctx, Options{Dir: workdir.New(workdir.Options{Environ: []string{}}), Timeout: time.Minute})
	if r != nil || !errors.Is(err, gone) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCache(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of directories mean something else there")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	there, sealed := t.TempDir(), t.TempDir()
	if err := os.Chmod(sealed, 0o500); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]Level{there: OK, file: Problem, filepath.Join(there, "none"): Problem, sealed: Problem} {
		if dir == sealed && os.Getuid() == 0 {
			continue // who may write everywhere
		}
		f := finding(t, examine(t, nil, "TF_PLUGIN_CACHE_DIR="+dir), "plugin_cache", dir)
		if f.Level != want || (f.WayOut != "") != (want == Problem) {
			t.Errorf("got %+v, want the level %v, with a way out only for a problem", f, want)
		}
	}
}

// TestProxies checks that a proxy is reached, and that neither its user nor its password is in the report.
func TestProxies(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	environ := []string{"https_proxy=http://ada:canary-77@" + address, "NO_PROXY=a.example", "SSL_CERT_FILE=/nonexistent/ca.pem"}
	r := examine(t, nil, environ...)
	if f := finding(t, r, "network", "https_proxy"); f.Level != OK || f.Text != "http://"+address || f.Milliseconds == nil {
		t.Errorf("https_proxy: got %+v, want http://%s without the password, with a time", f, address)
	}
	if f := finding(t, r, "network", "NO_PROXY"); f.Text != "no proxy for a.example" {
		t.Errorf("NO_PROXY: got %+v, want: no proxy for a.example", f)
	}
	if f := finding(t, r, "network", "SSL_CERT_FILE"); f.Level != Problem || f.WayOut == "" {
		t.Errorf("SSL_CERT_FILE: got %+v, want a problem with a way out", f)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r = examine(t, nil, environ...)
	if f := finding(t, r, "network", "https_proxy"); f.Level != Problem || f.WayOut == "" {
		t.Errorf("https_proxy: got %+v, want a problem with a way out", f)
	}
	doc, err := r.JSON()
	if err != nil || strings.Contains(string(doc), "canary-77") || strings.Contains(string(doc), "ada") {
		t.Errorf("%v, %s", err, doc)
	}
}

// TestDirectory checks what is said of files that are damaged.
func TestDirectory(t *testing.T) {
	r := examine(t, map[string]string{".terraform.lock.hcl": "provider {", ".terraform/environment": "no/name", "main.tf": "locals {}"})
	for group, subject := range map[string]string{"directory": "lock file", "backend": "state"} {
		if f := finding(t, r, group, subject); f.Level != Problem || f.WayOut == "" {
			t.Errorf("%s, %s: got %+v, want a problem with a way out", group, subject, f)
		}
	}
	r = examine(t, map[string]string{".terraform": "a file"})
	if f := finding(t, r, "directory", "data directory"); f.Level != Problem || !strings.Contains(f.Text, "is not a directory") {
		t.Errorf("data directory: got %+v, want a problem: is not a directory", f)
	}
	r = examine(t, map[string]string{"main.tf": "terraform {\n  backend \"gcp\" {}\n}\n"})
	if f := finding(t, r, "backend", `backend "gcp"`); f.Level != Problem || !strings.Contains(f.Text, "gcs") {
		t.Errorf("backend gcp: got %+v, want a problem that suggests gcs", f)
	}
}
