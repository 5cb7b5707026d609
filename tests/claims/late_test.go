//go:build unix

package claims

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestLate frees a run by force while its provider works. The result that comes after that is kept, and shown
// by plans that have the object, until the object gets another one.
func TestLate(t *testing.T) {
	s := newModules(t)
	one, two := s.machine(), s.machine()
	s.must(one, vars(1, 1, "apply", "-auto-approve")...)
	cmd, first := s.start(one, vars(2, 1, "apply", "-auto-approve")...)
	goOn := s.halt(cmd)
	refused := s.run(two, vars(3, 1, "apply", "-auto-approve")...)
	run := regexp.MustCompile(`mayfly force-unlock (\S+)`).FindStringSubmatch(refused.output)
	if run == nil {
		t.Fatalf("got the text\n%s\nwant the command that frees the run", refused.output)
	}
	s.must(two, "force-unlock", "-force", run[1])
	goOn()
	r := <-first
	if r.code != 1 {
		t.Errorf("got the exit status %d, want 1", r.code)
	}
	s.contains(r.output, "The result is kept in the database", "The results of all operations are recorded.")
	if _, err := os.Stat(filepath.Join(one, "errored.tfstate")); err == nil {
		t.Error("got a file with the whole state, want none: a push of it would undo the changes of others")
	}
	s.contains(s.must(two, vars(3, 1, "plan", "-refresh=false")...), "Results came too late", "module.a.sim_thing.first was created or changed (", "run "+run[1])
	if text := s.must(two, vars(1, 2, "plan", "-target=module.b", "-refresh=false")...); regexp.MustCompile("came too late").MatchString(text) {
		t.Errorf("got the text\n%s\nwant nothing about an object that the plan does not have", text)
	}
	three := s.machine()
	filetest.Write(t, filepath.Join(three, "backend_override.tf"), "terraform {\n  backend \"local\" {}\n}\n")
	s.contains(s.must(three, "init", "-migrate-state", "-force-copy"), "Late results were not copied", "module.a.sim_thing.first")
	s.must(two, "state", "rm", "module.a.sim_thing.first", "module.b.sim_thing.first")
	s.contains(s.must(two, vars(3, 1, "plan", "-destroy", "-target=module.a.sim_thing.first")...), "Results came too late", "module.a.sim_thing.first")
	s.must(two, vars(3, 1, "apply", "-auto-approve")...)
	if text := s.must(two, vars(3, 1, "plan")...); regexp.MustCompile("came too late").MatchString(text) {
		t.Errorf("got the text\n%s\nwant nothing after a step on the object", text)
	}
}
