package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/pty"
)

// TestActivityAtTerminal runs a plan whose server does not answer before the line about that was seen. The
// line is gone when the plan is shown, and there is none if standard output is for programs.
func TestActivityAtTerminal(t *testing.T) {
	answer := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(answer) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	defer goOn()
	t.Chdir(t.TempDir())
	config := fmt.Sprintf("terraform {\n  backend \"http\" {\n    address = %q\n  }\n}\n\noutput \"x\" {\n  value = 1\n}\n", server.URL)
	if err := os.WriteFile("main.tf", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	master, slave := pty.Open(t)
	seen := pty.Watch(master)
	ended := make(chan int)
	plan := func(args ...string) {
		go func() {
			ended <- run(t.Context(), append([]string{"plan", "-no-color"}, args...), environment{
				Stdin: strings.NewReader(""), Stdout: slave, Stderr: slave, Environ: []string{"HOME=" + t.TempDir()},
				Notify: func(chan<- os.Signal) func() { return func() {} },
			})
		}()
	}
	plan()
	const line = "Reading the state, 1s elapsed"
	eventually(t, "the line is drawn", func() bool { return strings.Contains(seen.String(), line) })
	goOn()
	if code := <-ended; code != exitOK {
		t.Fatalf("status: got %d, want %d: %q", code, exitOK, seen.String())
	}
	eventually(t, "the plan is shown", func() bool { return strings.Contains(seen.String(), "Changes to Outputs") })
	_, after, _ := strings.Cut(seen.String(), "Changes to Outputs")
	before := strings.TrimSuffix(seen.String(), after)
	if strings.LastIndex(before, "\r\x1b[J") < strings.LastIndex(before, "Reading the state") || strings.Contains(after, "\x1b[J") {
		t.Errorf("the line is still there: %q", seen.String())
	}
	drawn := strings.Count(seen.String(), "\x1b[J")
	plan("-json")
	if code := <-ended; code != exitOK {
		t.Fatalf("status: got %d, want %d", code, exitOK)
	}
	eventually(t, "the stream has ended", func() bool { return strings.Contains(seen.String(), `"type":"outputs"`) })
	if n := strings.Count(seen.String(), "\x1b[J"); n != drawn {
		t.Errorf("stream for programs: got %q with %d drawn lines, want %d", seen.String(), n, drawn)
	}
}
