//go:build unix

package kill

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSIGKILL kills the program, every second time with its plugins, as a power cut does.
func TestSIGKILL(t *testing.T) {
	for i, at := range moments(t, 2*points(t)) {
		t.Run(at.String(), func(t *testing.T) {
			s := newSite(t)
			r := s.interrupted("apply", creation, at, syscall.SIGKILL, i%2 == 1)
			have := s.recorded()
			s.checkRecorded(r, have)
			out := s.must(0, "apply", "-auto-approve", "-no-color")
			orphans := s.converged()
			for _, name := range orphans {
				if !strings.Contains(out, "sim_thing."+name+" (create)") {
					t.Errorf("%s exists, no state has it, and the command after the crash does not name sim_thing.%s:\n%s", name, name, out)
				}
			}
			s.checkListed(r, out)
			t.Logf("%d begun, %d recorded, %d orphans, all named", r.calls.Count(creation), len(have), len(orphans))
		})
	}
}

// converged checks that the state has everything and needs nothing, and returns the names of the objects that
// no state has.
func (s *site) converged() []string {
	s.Helper()
	s.must(0, "plan", "-detailed-exitcode")
	have := s.recorded()
	if len(have) != count {
		s.Errorf("state: got %d objects, want %d", len(have), count)
	}
	var names []string
	for _, o := range s.orphans(have) {
		names = append(names, o.Name)
	}
	return names
}

// checkRecorded checks that the state has what was reported as complete, and what something that was started
// depends on.
func (s *site) checkRecorded(r run, have map[string]string) {
	s.Helper()
	for _, m := range created.FindAllStringSubmatch(r.output, -1) {
		if have[m[1]] == "" {
			s.Errorf("sim_thing.%s was reported as complete but is not in the state", m[1])
		}
	}
	for _, c := range r.calls.Calls(creation) {
		var i int
		if _, err := fmt.Sscanf(c.Begin.Name, "r%d", &i); err != nil {
			s.Fatalf("an object of an unknown name: %q", c.Begin.Name)
		}
		for _, up := range parents(i) {
			if have[fmt.Sprintf("r%d", up)] == "" {
				s.Errorf("r%d was started, but r%d, on which it depends, is not in the state", i, up)
			}
		}
	}
}

// TestSIGKILLDestroy kills in the middle of destroying: what still exists must still be known.
func TestSIGKILLDestroy(t *testing.T) {
	for i, at := range moments(t, points(t)) {
		t.Run(at.String(), func(t *testing.T) {
			s := newSite(t)
			s.must(0, "apply", "-auto-approve")
			at.after /= 10 // deleting takes no time
			r := s.interrupted("destroy", deletion, at, syscall.SIGKILL, i%2 == 1)
			have := s.recorded()
			for _, m := range destroyed.FindAllStringSubmatch(r.output, -1) {
				if have[m[1]] != "" {
					t.Errorf("sim_thing.%s, reported as destroyed: got %q in the state, want it gone", m[1], have[m[1]])
				}
			}
			for _, o := range s.orphans(have) {
				t.Errorf("%s exists, but the state has forgotten it", o.ID)
			}
			s.must(0, "destroy", "-auto-approve")
			if left := len(s.recorded()) + len(s.orphans(nil)); left > 0 {
				t.Errorf("after destroy %d objects are left", left)
			}
			t.Logf("%d begun, %d of %d recorded after the crash", r.calls.Count(deletion), len(have), count)
		})
	}
}

// TestSIGKILLTwice kills the command that recovers, too.
func TestSIGKILLTwice(t *testing.T) {
	for _, at := range moments(t, points(t)) {
		t.Run(at.String(), func(t *testing.T) {
			s := newSite(t)
			first := s.interrupted("apply", creation, at, syscall.SIGKILL, true)
			again := moment{calls: first.calls.Count(creation) + 1, after: at.after}
			second := s.interrupted("apply", creation, again, syscall.SIGKILL, true)
			have := s.recorded()
			s.checkRecorded(second, have)
			s.checkRecorded(first, have)
			out := first.output + second.output + s.must(0, "apply", "-auto-approve", "-no-color")
			for _, name := range s.converged() {
				if !strings.Contains(out, "sim_thing."+name+" (create)") {
					t.Errorf("%s exists, no state has it, and no command after a crash names it:\n%s", name, out)
				}
			}
			t.Logf("%d recorded after two crashes", len(have))
		})
	}
}

// TestInterrupts sends the signals that ask a program to end, each to the whole process group, as terminals,
// timeout(1) and CI runners do.
func TestInterrupts(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGQUIT} {
		for _, at := range moments(t, points(t)) {
			t.Run(sig.String()+" "+at.String(), func(t *testing.T) {
				s := newSite(t)
				s.checkHeeded(s.interrupted("apply", creation, at, sig, true))
			})
		}
	}
}

// checkHeeded checks that an apply that a signal asked to end has left nothing at all open.
func (s *site) checkHeeded(r run) {
	s.Helper()
	t, have := s.T, s.recorded()
	made := 0
	for _, c := range r.calls.Calls(creation) {
		if c.Failed() {
			continue
		}
		made++
		if have[c.Begin.Name] == "" {
			t.Errorf("sim_thing.%s was created but is not in the state", c.Begin.Name)
		}
	}
	s.checkRecorded(r, have)
	// An interrupt during the last call leaves nothing undone and is reported nevertheless.
	// A signal after the end of the run ends the program as any other.
	over := strings.Contains(r.output, "Apply complete!")
	if done := len(have) == count; r.code < 0 && made > 0 && !(done && over) || r.code == 0 && !done || r.code > 0 && done && !strings.Contains(r.output, "Apply interrupted") {
		t.Errorf("exit status %d with %d of %d resources", r.code, len(have), count)
	}
	if open := r.calls.Unclosed(); len(open) > 0 {
		t.Errorf("left open: %q", open)
	}
	for _, pattern := range []string{".*.lock.info", "*.journal"} {
		if left, _ := filepath.Glob(filepath.Join(s.dir, pattern)); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	if t.Failed() {
		t.Fatalf("the run printed:\n%s", r.output)
	}
	s.must(0, "apply", "-auto-approve", "-no-color")
	if orphans := s.converged(); len(orphans) > 0 {
		t.Errorf("no state has the objects %q", orphans)
	}
	t.Logf("%d created of %d begun; exit status %d", made, r.calls.Count(creation), r.code)
}
