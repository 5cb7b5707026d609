//go:build unix

package kill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// lines is more than a pipe and the engine's queue of events hold.
const lines = 20000

// noisy prints while a secret is open that has to be renewed.
const noisy = `
terraform {
  required_providers {
    sim = { source = "` + simcloud.Source + `" }
  }
}
ephemeral "sim_secret" "s" {
  name        = "s"
  renew_after = "1s"
}
resource "sim_thing" "noisy" {
  name       = "noisy"
  depends_on = [ephemeral.sim_secret.s]
  provisioner "local-exec" { command = "seq 20000" }
}
`

// stalled starts an apply that prints more than its reader takes, and returns it when its secret has been
// renewed nevertheless.
func stalled(t *testing.T, format string) (s *site, cmd *exec.Cmd, out *os.File, errs *bytes.Buffer) {
	t.Helper()
	s = newSite(t)
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), noisy)
	out, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	errs = &bytes.Buffer{}
	cmd = s.command(to, errs, "apply", "-auto-approve", "-no-color", "-json="+strconv.FormatBool(format == "json"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = to.Close()
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	s.until("renewals", func() bool { return s.transcript().Count(simlog.Filter{RPC: "RenewEphemeralResource"}) >= 2 })
	return s, cmd, out, errs
}

// TestReaderThatGoesOn reads again after a while: nothing of the output is missing.
func TestReaderThatGoesOn(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s, cmd, out, errs := stalled(t, format)
			printed, last := 0, ""
			sc := bufio.NewScanner(out)
			for sc.Scan() {
				last = sc.Text()
				if text, ok := printedBy(last); ok {
					if printed++; text != fmt.Sprint(printed) {
						t.Fatalf("line %d: got %q, want its number", printed, text)
					}
				}
			}
			if err := cmd.Wait(); err != nil || printed != lines {
				t.Errorf("got %d lines, %v, want %d\n%s", printed, err, lines, errs)
			}
			if want := map[string]string{"text": "", "json": `"type":"outputs"`}[format]; !strings.Contains(last, want) {
				t.Errorf("the last line is %q", last)
			}
			if open := s.transcript().Unclosed(); len(open) > 0 {
				t.Errorf("left open: %q", open)
			}
		})
	}
}

// printedBy returns what the command printed, if a line of the output is about that.
func printedBy(line string) (string, bool) {
	var message struct {
		Type string
		Hook struct{ Output string }
	}
	if json.Unmarshal([]byte(line), &message) == nil {
		return message.Hook.Output, message.Type == "provision_progress" && !strings.HasPrefix(message.Hook.Output, "Executing")
	}
	text, ok := strings.CutPrefix(line, "sim_thing.noisy (local-exec): ")
	return text, ok && !strings.HasPrefix(text, "Executing")
}

// TestReaderThatStands never reads: an interrupt ends the run all the same, with everything closed, recorded
// and unlocked.
func TestReaderThatStands(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s, cmd, out, errs := stalled(t, format)
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatal("the program did not end")
			}
			if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "The end of the output is missing") {
				t.Errorf("got exit status %d, want 1 and that the end is missing\n%s", code, errs)
			}
			if open := s.transcript().Unclosed(); len(open) > 0 {
				t.Errorf("left open: %q", open)
			}
			if have := s.recorded(); have["noisy"] == "" {
				t.Errorf("the result was lost: %v", have)
			}
			if left, _ := filepath.Glob(filepath.Join(s.dir, ".*.lock.info")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			if n, _ := io.Copy(io.Discard, out); n == 0 {
				t.Error("nothing was written")
			}
		})
	}
}

// TestReaderThatIsGone ends, as head does, before the plan is shown.
func TestReaderThatIsGone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), strings.ReplaceAll(noisy, "1s", "1h")+"\noutput \"o\" { value = 1 }\n")
	for _, test := range []struct {
		args []string
		want int
		text string // on standard error, "" for none
	}{
		{[]string{"plan"}, 0, ""},
		{[]string{"plan", "-json"}, 0, ""},
		{[]string{"plan", "-detailed-exitcode", "-out=saved"}, 2, ""},
		{[]string{"apply"}, 1, "The plan was not seen"},
		{[]string{"apply", "-auto-approve"}, 0, ""},
		{[]string{"apply", "-auto-approve", "-replace=sim_thing.noisy", "-json"}, 0, ""},
		{[]string{"destroy", "-auto-approve"}, 0, ""},
	} {
		out, to, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = out.Close()
		var errs bytes.Buffer
		cmd := s.command(to, &errs, test.args...)
		err = cmd.Run()
		_ = to.Close()
		if code := cmd.ProcessState.ExitCode(); code != test.want || test.text == "" && errs.Len() > 0 || !strings.Contains(errs.String(), test.text) {
			t.Errorf("%q: got exit status %d (%v), want %d and %q\n%s", test.args, code, err, test.want, test.text, &errs)
		}
	}
	if n := s.transcript().Count(creation); n != 2 {
		t.Errorf("got %d objects created, want 2", n)
	}
	fifo := filepath.Join(s.dir, "messages")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		if f, err := os.Open(fifo); err == nil { // waits for the writer
			_ = f.Close()
		}
	}()
	var errs bytes.Buffer
	if err := s.command(nil, &errs, "plan", "-json-into=messages").Run(); err != nil || errs.Len() > 0 {
		t.Errorf("messages that are not read: %v\n%s", err, &errs)
	}
}
