package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestFullDisk runs on a real disk that fills up during an apply, which takes a mount. The logic behind it is
// tested without one by the store.
func TestFullDisk(t *testing.T) {
	for name, disk := range map[string]string{"everything": ".", "state alone": "disk"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			small := filepath.Join(dir, disk)
			if err := os.MkdirAll(small, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=4m"); err != nil {
				t.Skipf("a file system cannot be mounted here: %s", err)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(small, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			fillUp(t, dir, disk)
		})
	}
}

// fillUp applies in dir a configuration whose state is on the disk below it, and whose first resource fills
// that disk.
func fillUp(t *testing.T, dir, disk string) {
	config := fmt.Sprintf(`
terraform {
  backend "local" { path = "%[1]s/s.tfstate" }
}
resource "terraform_data" "a" {
  input = "a"
  provisioner "local-exec" { command = "dd if=/dev/zero of=%[1]s/fill bs=1k 2>&1; true" }
}
resource "terraform_data" "b" { input = terraform_data.a.id }
output "o" { value = terraform_data.b.id }
`, disk)
	filetest.Write(t, filepath.Join(dir, "main.tf"), config)
	run := func(ok bool, args ...string) string {
		t.Helper()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(self, args...)
		cmd.Args[0] = "mayfly" // which messages call it by
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MAYFLY_TEST_MAIN=1", "COLUMNS=0")
		out, err := cmd.CombinedOutput()
		if (err == nil) != ok {
			t.Fatalf("mayfly %q: got %v, want success %t\n%s", args, err, ok, out)
		}
		return string(out)
	}
	want := func(text, part string) {
		t.Helper()
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
	run(true, "init")
	out := run(false, "apply", "-auto-approve")
	want(out, "no space left on device")
	if err := os.Remove(filepath.Join(dir, disk, "fill")); err != nil {
		t.Fatal(err)
	}
	if disk == "." {
		want(out, "Nothing is lost: the results of this run are in the journal ./s.tfstate.journal")
		if _, err := os.Stat(filepath.Join(dir, "errored.tfstate")); err == nil {
			t.Error("a file that could not be written is there")
		}
		want(run(true, "apply", "-auto-approve"), "Resources: 0 added, 0 changed, 0 destroyed")
	} else {
		want(out, "mayfly state push "+filepath.Join(dir, "errored.tfstate"))
		want(run(true, "state", "push", "errored.tfstate"), "An interrupted run was recovered")
	}
	want(run(true, "plan"), "No changes.")
	want(run(true, "output"), "o = ")
}
