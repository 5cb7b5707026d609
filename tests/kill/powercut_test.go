//go:build unix

package kill

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/powercut"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

// cutsTried is how many of the things that a power cut may leave are tried by default.
const cutsTried = 12

// TestPowerCut cuts the power before each system call of an apply, on a disk that loses what was not
// synchronized. The state must be there, with each result that was shown, or that another object was created
// after.
func TestPowerCut(t *testing.T) {
	const objects = 6
	s := &site{T: t, cloud: t.TempDir(), log: filepath.Join(t.TempDir(), "rpc.log")}
	s.calls = simlog.NewReader(s.log)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.dir = dir
	filetest.Write(t, filepath.Join(dir, "main.tf"), objectsOf(objects, 1))
	s.must(0, "init", "-plugin-dir="+mirror)
	var out bytes.Buffer
	shown, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	cmd := s.command(shown, &out, "apply", "-auto-approve", "-no-color")
	cmd.Env = append(cmd.Env, "HOME="+t.TempDir())
	watched := powercut.Watched{Root: dir, Skip: ".terraform", Done: func() ([]string, error) { return s.relied(shown.Name(), objects) }}
	cuts, err := watched.Cuts(cmd)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	s.quiet(cmd.Process.Pid)
	if last := cuts[len(cuts)-1]; len(last.Done) != objects {
		t.Fatalf("operations done at the end: got %q, want %d", last.Done, objects)
	}
	t.Logf("%d things may be left", len(cuts))
	step := max(1, len(cuts)/cutsTried)
	if os.Getenv(allFaults) != "" {
		step = 1
	}
	for i := len(cuts) - 1; i >= 0; i -= step {
		s.afterCut(cuts[i])
	}
}

// relied returns the names of the resources that are shown as created, and of those that a resource depends
// on which has been created.
func (s *site) relied(shown string, objects int) ([]string, error) {
	text, err := os.ReadFile(shown)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, m := range created.FindAllSubmatch(text, -1) {
		names[string(m[1])] = true
	}
	there, err := simcloud.Objects(s.cloud)
	for _, o := range there {
		var i int
		if _, err := fmt.Sscanf(o.Name, "r%d", &i); err == nil && i >= objects/2 {
			names[fmt.Sprintf("r%d", i-objects/2)] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), err
}

// afterCut lets a command read what a power cut has left.
func (s *site) afterCut(c powercut.Cut) {
	s.Helper()
	next := *s
	next.dir = s.TempDir()
	if err := errors.Join(c.Lay(next.dir), os.Symlink(filepath.Join(s.dir, ".terraform"), filepath.Join(next.dir, ".terraform"))); err != nil {
		s.Fatal(err)
	}
	have := next.recorded()
	for _, name := range c.Done {
		if have[name] == "" {
			s.Errorf("before %s, with %q left: sim_thing.%s is in no state", c.At, slices.Sorted(maps.Keys(c.Image)), name)
		}
	}
}
