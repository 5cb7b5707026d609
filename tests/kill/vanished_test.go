//go:build unix

package kill

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestVanished removes directories in the middle of an apply: the data directory, which is not needed any
// more, and the working directory, whose results are kept elsewhere.
func TestVanished(t *testing.T) {
	for _, what := range []string{".terraform", "."} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			home := t.TempDir()
			out := &bytes.Buffer{}
			cmd := s.command(out, out, "apply", "-auto-approve", "-no-color")
			cmd.Env = append(cmd.Env, "HOME="+home, "TMPDIR="+home)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			s.until("creations", func() bool { return len(ended) > 0 || s.transcript().Count(creation) >= count/2 })
			// While the program makes files in it, a directory cannot always be removed.
			s.until("the removal", func() bool { return os.RemoveAll(filepath.Join(s.dir, what)) == nil })
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Fatalf("the program did not end:\n%s", out)
			}
			if err := os.MkdirAll(s.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s.enter(s.dir)
			code, kept := cmd.ProcessState.ExitCode(), advice.FindStringSubmatch(out.String())
			if whole := what == "."; code != 0 && !whole || whole && (code != 1 || kept == nil) {
				t.Fatalf("got exit status %d, want 0, or 1 and advice without the directory\n%s", code, out)
			}
			if kept != nil {
				s.must(0, strings.Fields(kept[1])[1:]...)
			}
			have := s.recorded()
			if orphans := s.orphans(have); len(orphans) > 0 || len(have) < count/2 {
				t.Errorf("%d objects are recorded, and no state has %v:\n%s", len(have), orphans, out)
			}
			s.must(0, "apply", "-auto-approve")
			s.converged()
		})
	}
}
