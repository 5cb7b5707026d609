//go:build unix

package kill

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/sysfault"
)

// owns reports whether a call is about a file of the working directory or the home directory, and not about
// one of a provider's package.
func (d *disk) owns(c sysfault.Call) bool {
	return strings.HasPrefix(c.Path, d.dir+string(filepath.Separator)) && !strings.Contains(c.Path, "/providers/")
}

// TestFaultsRead lets files be unreadable, and closing them fail. If what is needed cannot be read, nothing
// is done and the state stays as it is.
func TestFaultsRead(t *testing.T) {
	for _, args := range [][]string{
		{"apply", "-auto-approve", "-parallelism=1"},
		{"apply", "-parallelism=1", "saved"},
		{"state", "mv", "sim_thing.r0", "sim_thing.moved"},
		{"init", "-plugin-dir=" + mirror},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			s := newDiskSite(t, 4, 1)
			s.must(0, "apply", "-auto-approve")
			if err := os.WriteFile(filepath.Join(s.dir, "main.tf"), []byte(objectsOf(6, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			s.must(0, "plan", "-out=saved")
			before, err := os.ReadFile(filepath.Join(s.dir, "terraform.tfstate"))
			if err != nil {
				t.Fatal(err)
			}
			d := newDisk(s, args...)
			d.reads = true
			d.each(func(r *faulted) {
				after, err := os.ReadFile(filepath.Join(d.dir, "terraform.tfstate"))
				needed := len(r.failed) == 1 && r.failed[0].Name != "close" && filepath.Base(r.failed[0].Path) != "mayfly-durations.json"
				if needed && (r.code != 1 || err != nil || !bytes.Equal(before, after)) {
					d.Errorf("got exit status %d, %v and the state\n%s\nwant exit status 1 and the state unchanged:\n%s", r.code, err, after, before)
				}
				d.repair(r.output)
				if args[0] != "state" {
					d.complete(r.output)
					d.converges(6)
				}
			})
		})
	}
}
