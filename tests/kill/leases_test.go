//go:build unix

package kill

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

var leftOpen = regexp.MustCompile(`(?m)^[│ ]*- ephemeral\.sim_secret\.(e\d+), since ([-0-9]+ [:0-9]+) `)

// settled is how long before the end of a run the provider must have closed an instance for the run to have
// recorded it.
const settled = 500 * time.Millisecond

// listed reports whether all that a run left open is listed in out.
func listed(r run, out string) bool {
	lines := leftOpen.FindAllStringSubmatch(out, -1)
	return !slices.ContainsFunc(r.calls.Windows(), func(w simlog.Window) bool {
		return len(w.Closes) == 0 && !slices.ContainsFunc(lines, func(line []string) bool { return line[1] == w.Name })
	})
}

// checkListed checks that what a run left open is listed by it or by the runs after it, which have printed
// out, and once only, and that nothing else is. What was being opened or closed at the end may be listed.
func (s *site) checkListed(r run, out string) {
	s.Helper()
	since := map[string]time.Time{}
	for _, m := range leftOpen.FindAllStringSubmatch(out, -1) {
		if _, twice := since[m[1]]; twice {
			s.Errorf("ephemeral.sim_secret.%s is listed twice:\n%s", m[1], out)
		}
		at, err := time.ParseInLocation(time.DateTime, m[2], time.Local)
		if err != nil {
			s.Fatal(err)
		}
		since[m[1]] = at
	}
	for _, w := range r.calls.Windows() {
		if _, listed := since[w.Name]; len(w.Closes) == 0 && !listed && !strings.Contains(r.output, "with ephemeral.sim_secret."+w.Name+",") {
			s.Errorf("ephemeral.sim_secret.%s outlived its run, and no command lists it:\n%s\nafter\n%s", w.Name, out, r.output)
		}
		if len(w.Closes) == 0 {
			delete(since, w.Name)
		}
	}
	for name, at := range since {
		closes := r.calls.Calls(simlog.Filter{RPC: "CloseEphemeralResource", Name: name})
		if at.Unix() < r.began.Unix() || at.After(r.ended) {
			s.Errorf("ephemeral.sim_secret.%s is listed as open since %s, which is not in the time of the run", name, at)
		}
		if slices.ContainsFunc(closes, func(c simlog.Call) bool {
			return c.End != nil && c.End.Wall.Before(r.ended.Add(-settled)) && at.Before(c.End.Wall.Truncate(time.Second))
		}) {
			s.Errorf("ephemeral.sim_secret.%s was closed long before the run ended, and is listed:\n%s", name, out)
		}
	}
}

// unclosable is an instance whose closing fails when its value has been applied.
const unclosable = `
terraform {
  required_providers {
    sim = { source = "` + simcloud.Source + `" }
  }
}
ephemeral "sim_secret" "e0" {
  name    = "e0"
  fail_on = terraform.applying ? "close" : null
}
resource "sim_thing" "r0" {
  name      = "r0"
  secret_wo = ephemeral.sim_secret.e0.value
}
`

// TestUnreadFailureIsListed kills an apply that could not close an instance, and whose error waits for a
// reader: the state is written and unlocked, and its journal has gone.
func TestUnreadFailureIsListed(t *testing.T) {
	s := newSite(t)
	filetest.Write(t, filepath.Join(s.dir, "main.tf"), unclosable)
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close() })
	for full := error(nil); full == nil; _, full = to.Write(make([]byte, 1<<12)) {
		if err := to.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := s.command(nil, to, "apply", "-auto-approve", "-no-color")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = to.Close()
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	left := func(pattern string) []string {
		files, err := filepath.Glob(filepath.Join(s.dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	s.until("a state without a journal", func() bool {
		text, _ := os.ReadFile(filepath.Join(s.dir, "terraform.tfstate"))
		return strings.Contains(string(text), `"r0"`) && len(left("terraform.tfstate.journal*")) == 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if out := s.must(0, "plan", "-no-color"); len(leftOpen.FindAllString(out, -1)) != 1 {
		t.Errorf("plan: got\n%s\nwant the instance that was left open listed once", out)
	}
	if out := s.must(0, "plan", "-no-color"); leftOpen.MatchString(out) {
		t.Errorf("the instance is listed again:\n%s", out)
	}
	if files := left(".terraform/*.openings"); len(files) > 0 {
		t.Errorf("left behind: %q", files)
	}
}
