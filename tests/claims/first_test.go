//go:build unix

package claims

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFirstRuns has two runs with different targets make a new state at the same time. The first claims the
// whole, and the second is refused by name, or waits and plans again.
func TestFirstRuns(t *testing.T) {
	s := newModules(t)
	one, two := s.machine(), s.machine()
	cmd, first := s.start(one, vars(1, 1, "apply", "-auto-approve", "-target=module.a")...)
	goOn := s.halt(cmd)
	refused := s.run(two, vars(1, 1, "apply", "-auto-approve", "-target=module.b")...)
	if refused.code != 1 {
		t.Errorf("got the exit status %d, want 1", refused.code)
	}
	s.contains(refused.output, "Parts of the state are claimed", "the whole state, claimed by ", " (apply), run ")
	_, waiting := s.start(two, vars(1, 1, "apply", "-auto-approve", "-lock-timeout=5m", "-target=module.b")...)
	s.until(1, waits)
	goOn()
	r := <-waiting
	if r.code != 0 {
		t.Errorf("got the exit status %d, want 0", r.code)
	}
	s.contains(r.output, "Plan is stale", "the state is new by ", " (apply), run ", "A new plan is made")
	if r := <-first; r.code != 0 {
		t.Errorf("got the exit status %d, want 0:\n%s", r.code, r.output)
	}
	s.contains(s.must(one, vars(1, 1, "plan")...), "No changes")
}

// TestStaleRound has a run change what the second round of another one relies on, while that is approved.
func TestStaleRound(t *testing.T) {
	s := newSite(t, `
variable "size" { default = 0 }
resource "sim_thing" "base" {
  name = "base"
  size = var.size
}
resource "sim_thing" "each" {
  for_each = toset([sim_thing.base.id])
  name     = "each"
}
`, nil)
	one, two := s.machine(), s.machine()
	cmd := s.command(one, "apply", "-converge")
	r := s.answer(cmd, func() {
		s.must(two, "apply", "-auto-approve", "-target=sim_thing.base", "-var=size=1")
	})
	if r.code != 1 {
		t.Errorf("got the exit status %d, want 1", r.code)
	}
	s.contains(r.output, "Plan is stale", "sim_thing.base was changed by", "Nothing more was changed. Make a new plan.",
		"Round 2 was not applied. Before it: Resources: 1 added, 0 changed, 0 destroyed.")
	if strings.Contains(r.output, "Nothing was changed") {
		t.Errorf("got that nothing was changed, want no such text in\n%s", r.output)
	}
}

// answer runs a command and answers its first two questions with yes, the second one after between.
func (s *site) answer(cmd *exec.Cmd, between func()) result {
	s.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = cmd.Process.Kill() })
	for i := range 2 {
		out.await(s, "Enter a value:", i+1)
		if i == 1 {
			between()
		}
		if _, err := in.Write([]byte("yes\n")); err != nil {
			s.Fatal(err)
		}
	}
	_ = cmd.Wait()
	return result{cmd.ProcessState.ExitCode(), out.String()}
}

// lockedBuffer is a buffer that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// await waits until a text is there so many times.
func (b *lockedBuffer) await(s *site, text string, count int) {
	s.Helper()
	for deadline := time.Now().Add(patience); strings.Count(b.String(), text) < count; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("got %q less than %d times in\n%s", text, count, b.String())
		}
	}
}
