//go:build unix

package clients

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// hold locks a state file as another user's apply would, until the test ends.
func hold(t *testing.T, tf *tfexec.Terraform, file string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(tf.WorkingDir(), file), os.O_RDWR, 0)
	ok(t, "opening the state", err)
	t.Cleanup(func() { f.Close() })
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	ok(t, "locking the state", syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock))
}

// TestLockOptions has another process hold the state's lock: each command fails, and each has an option to
// go on.
func TestLockOptions(t *testing.T) {
	tf, ctx := initialized(t, options), t.Context()
	ok(t, "apply", tf.Apply(ctx))
	ok(t, "new workspace", tf.WorkspaceNew(ctx, "other"))
	ok(t, "apply", tf.Apply(ctx, tfexec.Target("terraform_data.c")))
	ok(t, "default workspace", tf.WorkspaceSelect(ctx, "default"))
	pulled := filepath.Join(t.TempDir(), "pulled.tfstate")
	text, err := tf.StatePull(ctx)
	ok(t, "pull", err)
	filetest.Write(t, pulled, text)
	planned := func(_ bool, err error) error { return err }
	for _, c := range []struct {
		name         string
		refused, let func() error
	}{
		{
			"plan",
			func() error { return planned(tf.Plan(ctx, tfexec.Lock(true), tfexec.LockTimeout("0s"))) },
			func() error { return planned(tf.Plan(ctx, tfexec.Lock(false))) },
		},
		{
			"apply",
			func() error { return tf.Apply(ctx, tfexec.Lock(true), tfexec.LockTimeout("100ms")) },
			func() error { return tf.Apply(ctx, tfexec.Lock(false)) },
		},
		{
			"refresh",
			func() error { return tf.Refresh(ctx, tfexec.Lock(true), tfexec.LockTimeout("0s")) },
			func() error { return tf.Refresh(ctx, tfexec.Lock(false)) },
		},
		{
			"state mv",
			func() error {
				return tf.StateMv(ctx, "terraform_data.c", "terraform_data.d", tfexec.Lock(true), tfexec.LockTimeout("0s"))
			},
			func() error { return tf.StateMv(ctx, "terraform_data.c", "terraform_data.d", tfexec.Lock(false)) },
		},
		{
			"taint",
			func() error { return tf.Taint(ctx, "terraform_data.d", tfexec.Lock(true), tfexec.LockTimeout("0s")) },
			func() error { return tf.Taint(ctx, "terraform_data.d", tfexec.Lock(false)) },
		},
		{
			"untaint",
			func() error { return tf.Untaint(ctx, "terraform_data.d", tfexec.Lock(true), tfexec.LockTimeout("0s")) },
			func() error { return tf.Untaint(ctx, "terraform_data.d", tfexec.Lock(false)) },
		},
		{
			"state rm",
			func() error { return tf.StateRm(ctx, "keep_note.a", tfexec.Lock(true), tfexec.LockTimeout("0s")) },
			func() error { return tf.StateRm(ctx, "keep_note.a", tfexec.Lock(false)) },
		},
		{
			"import",
			func() error { return tf.Import(ctx, "keep_note.a", "a", tfexec.Lock(true), tfexec.LockTimeout("0s")) },
			func() error { return tf.Import(ctx, "keep_note.a", "a", tfexec.Lock(false)) },
		},
		{
			"state push",
			func() error {
				return tf.StatePush(ctx, pulled, tfexec.Force(true), tfexec.Lock(true), tfexec.LockTimeout("0s"))
			},
			func() error { return tf.StatePush(ctx, pulled, tfexec.Force(true), tfexec.Lock(false)) },
		},
		{
			"destroy",
			func() error { return tf.Destroy(ctx, tfexec.Lock(true), tfexec.LockTimeout("0s")) },
			func() error { return tf.Destroy(ctx, tfexec.Lock(false)) },
		},
		{
			"workspace delete",
			func() error {
				return tf.WorkspaceDelete(ctx, "other", tfexec.Force(true), tfexec.Lock(true), tfexec.LockTimeout("0s"))
			},
			func() error { return tf.WorkspaceDelete(ctx, "other", tfexec.Force(true), tfexec.Lock(false)) },
		},
		{
			"workspace new", func() error { return errors.New("there is no lock yet") },
			func() error {
				return errors.Join(tf.WorkspaceNew(ctx, "free", tfexec.Lock(true), tfexec.LockTimeout("1s")), tf.WorkspaceSelect(ctx, "default"))
			},
		},
	} {
		hold(t, tf, "terraform.tfstate") // again each time: a run without the lock may have replaced the file
		if c.name == "workspace delete" {
			hold(t, tf, "terraform.tfstate.d/other/terraform.tfstate")
		}
		if err := c.refused(); err == nil || !strings.Contains(err.Error(), "lock") {
			t.Errorf("%s, while somebody else holds the lock: %v", c.name, err)
		}
		if err := c.let(); err != nil {
			t.Errorf("%s, told not to lock: %v", c.name, err)
		}
	}
}
