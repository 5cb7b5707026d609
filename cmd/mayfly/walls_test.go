package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/workdir"
)

// canary is a value that the app of these tests remembers, and oddCanary another one, which a page spells in
// another way: what the page itself does not take out, the guard of the finished page cannot find.
const canary, oddCanary = "canary-7f3a-91c2", "canary\u202e-5d20-aa17"

// wallsApp returns an app that remembers the canaries, and what it writes to its outputs.
func wallsApp(t *testing.T) (a *app, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	a = newApp(environment{Stdout: stdout, Stderr: stderr})
	for _, secret := range []string{canary, oddCanary} {
		a.out.leaks.Remember(leak.Source{Kind: leak.Other}, cty.StringVal(secret).Mark(value.Sensitive), cty.String)
	}
	return a, stdout, stderr
}

// clean checks that a text has something, and no canary.
func clean(t *testing.T, what string, text []byte) {
	t.Helper()
	if len(text) == 0 {
		t.Errorf("%s is empty", what)
	}
	for _, part := range []string{canary, oddCanary, "5d20-aa17"} {
		if bytes.Contains(text, []byte(part)) {
			t.Errorf("%s has an ephemeral value", what)
		}
	}
}

func cleanFile(t *testing.T, what, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	clean(t, what, text)
}

func TestOutletsAreClean(t *testing.T) {
	a, stdout, stderr := wallsApp(t)
	out, diagnostics := a.out.outlets()
	for w, all := range map[io.WriteCloser]io.Writer{out: a.out.env.Stdout, diagnostics: a.out.env.Stderr} {
		for _, w := range []io.Writer{w, all} {
			if _, err := io.WriteString(w, "it is "+canary+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	clean(t, "standard output", stdout.Bytes())
	clean(t, "standard error", stderr.Bytes())
}

// TestPagesAreClean writes each page with a canary in a text that only the guard of the finished page sees,
// and the page of -html with one that only the page itself recognizes.
func TestPagesAreClean(t *testing.T) {
	a, stdout, stderr := wallsApp(t)
	dir := t.TempDir()
	use := func() {
		o := addr.Object{Instance: addr.Instance{Resource: addr.Resource{Mode: addr.Ephemeral, Type: "a", Name: "b"}}}
		e := event.Event{Time: time.Unix(1, 0), Kind: event.Started, Op: event.OpUse, Object: o, User: canary}
		for _, r := range []event.DetailObserver{a.out.timeline, a.out.page} {
			r.Detail(e)
		}
	}
	timelineFile, page := filepath.Join(dir, "timeline.html"), filepath.Join(dir, "page.html")
	comment := filepath.Join(dir, "comment.md")
	code := a.out.watched(&changeFlags{pageFlags: pageFlags{page, comment}, timeline: timelineFile}, "A "+canary, func() int {
		use()
		a.out.page.Note(oddCanary, true)
		return exitOK
	})
	if code != exitOK {
		t.Fatalf("exit status: got %d, want %d\n%s", code, exitOK, stderr)
	}
	cleanFile(t, "the timeline", timelineFile)
	cleanFile(t, "the page", page)
	cleanFile(t, "the comment", comment)
	for _, name := range []string{timelineFile, page, comment} {
		if !strings.Contains(stdout.String(), "to: "+name) {
			t.Errorf("got no message about %s\n%s", name, stdout)
		}
	}

	other := filepath.Join(dir, "other")
	f, err := os.Create(other)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = a.out.guarded(func(w io.Writer) error {
		_, err := io.WriteString(w, "it is "+canary)
		return err
	})(f)
	if err != nil {
		t.Fatal(err)
	}
	cleanFile(t, "a document", other)
	failed := errors.New("failed")
	if err := a.out.guarded(func(io.Writer) error { return failed })(io.Discard); !errors.Is(err, failed) {
		t.Errorf("an error of writing a document is lost: %v", err)
	}
}

// TestPagesThatCannotBeWritten takes the directory of a page away during the run. Without a name there is no
// page.
func TestPagesThatCannotBeWritten(t *testing.T) {
	for name, with := range map[string]func(a *app, file string, f func() int) int{
		"page": func(a *app, file string, f func() int) int { return a.out.paged(pageFlags{html: file}, "A page", f) },
		"comment": func(a *app, file string, f func() int) int {
			return a.out.paged(pageFlags{markdown: file}, "A page", f)
		},
		"timeline": func(a *app, file string, f func() int) int {
			return a.out.watched(&changeFlags{timeline: file}, "A page", f)
		},
	} {
		a, stdout, stderr := wallsApp(t)
		dir := filepath.Join(t.TempDir(), "dir")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		code := with(a, filepath.Join(dir, "file"), func() int {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
			return exitOK
		})
		if code != exitError || !strings.Contains(stderr.String(), "Failed to write the file") || stdout.Len() > 0 {
			t.Errorf("%s: exit status: got %d, want %d\n%s\n%s", name, code, exitError, stdout, stderr)
		}
		if code := with(a, "", func() int { return exitNoVerb }); code != exitNoVerb {
			t.Errorf("no %s: exit status: got %d, want %d", name, code, exitNoVerb)
		}
	}
}

// TestDocumentsAreClean writes the documents and streams for programs.
func TestDocumentsAreClean(t *testing.T) {
	a, _, stderr := wallsApp(t)
	dir := t.TempDir()
	stream := &machineFlags{into: filepath.Join(dir, "stream")}
	if !stream.beginMessages(a.out) {
		t.Fatal(stderr)
	}
	a.out.into.Log("it is " + canary)
	if code := a.out.finish(exitOK); code != exitOK {
		t.Fatal(stderr)
	}
	cleanFile(t, "the stream", stream.into)

	document := &machineFlags{into: filepath.Join(dir, "document")}
	if !document.begin(a.out) {
		t.Fatal(stderr)
	}
	if _, code := a.out.documented(document, func() ([]byte, error) { return []byte(`{"a": "` + canary + `"}`), nil }); code != exitOK || a.out.finish(code) != exitOK {
		t.Fatal(stderr)
	}
	cleanFile(t, "the document", document.into)
}

// TestLogsAreClean lets a provider log a canary.
func TestLogsAreClean(t *testing.T) {
	a, _, stderr := wallsApp(t)
	a.out.env.vars["TF_LOG"] = "trace"
	s, diags := a.wd.session(nil, 0, func(o workdir.SessionOptions) (*workdir.Session, diag.List) {
		o.ProviderLog(addr.DefaultProvider("test"), "it is "+canary)
		return nil, nil
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	s.stopLog()
	clean(t, "the log", stderr.Bytes())
}

// TestTelemetryIsClean sends a span with a canary to a collector.
func TestTelemetryIsClean(t *testing.T) {
	var received bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = received.ReadFrom(r.Body)
	}))
	defer server.Close()
	a, _, stderr := wallsApp(t)
	a.out.env.vars["OTEL_EXPORTER_OTLP_ENDPOINT"] = server.URL
	command := &cli.Command{Name: "test", Action: func(ctx context.Context, c *cli.Command) error {
		a.code = a.traced(ctx, c, func(ctx context.Context, _ []string) int {
			_, span := trace.Start(ctx, "work")
			span.Set(trace.Address, canary)
			span.Finish(true)
			return exitOK
		})
		return nil
	}}
	if err := command.Run(t.Context(), []string{"test"}); err != nil || a.code != exitOK || !strings.Contains(received.String(), "work") {
		t.Fatalf("got exit status %d, received %q, %v, want %d, received \"work\"\n%s", a.code, received.String(), err, exitOK, stderr)
	}
	clean(t, "the telemetry", received.Bytes())
}
