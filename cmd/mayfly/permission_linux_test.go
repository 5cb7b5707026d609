package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// otherUser is the ID of the user of the program if the tests run as root, who may do everything.
const otherUser = 65534

// unprivileged runs the program as a user without special rights, in directories that all may enter.
type unprivileged struct {
	root, program string
}

func newUnprivileged(t *testing.T) *unprivileged {
	t.Helper()
	root, err := os.MkdirTemp("", "mayfly-unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				return os.Chmod(path, 0o755)
			}
			return nil
		})
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	r := &unprivileged{root: root, program: filepath.Join(root, "mayfly")}
	if err := errors.Join(os.Chmod(root, 0o755), copyExecutable(r.program)); err != nil {
		t.Fatal(err)
	}
	return r
}

func copyExecutable(to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(self)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// dir makes a directory of the unprivileged user's with files in it.
func (r *unprivileged) dir(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(r.root, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() == 0 {
		if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, otherUser, otherUser))
		}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run returns what a command writes to both streams.
func (r *unprivileged) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(r.program, args...)
	cmd.Dir = dir
	cmd.Env = []string{"MAYFLY_TEST_MAIN=1", "HOME=" + r.root, "PATH=" + os.Getenv("PATH"), "COLUMNS=0", "MAYFLY_SCHEMA_CACHE=off"}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("this root may not become another user")
		}
		t.Fatal(err)
	}
	return string(out)
}

// TestFilesWithoutPermission takes permissions away from files and directories, and holds the messages.
func TestFilesWithoutPermission(t *testing.T) {
	const (
		config = "output \"o\" {\n  value = 1\n}\n"
		state  = `{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "9ff0ea2d-2a3c-5c1f-1c6c-0b5b8f0f3f10", "outputs": {}, "resources": []}`
		locked = "\n\nLocking needs permission to write to the state and to its directory. This command only reads the state: to run it without the lock, use -lock=false."
	)
	r := newUnprivileged(t)
	for name, test := range map[string]struct {
		files map[string]string
		path  string // whose permissions become mode
		mode  fs.FileMode
		args  []string
		want  string
	}{
		"state to lock": {
			map[string]string{"terraform.tfstate": state},
			"terraform.tfstate", 0o444,
			[]string{"plan"},
			"Error acquiring the state lock\n\nThe state terraform.tfstate could not be locked: permission denied." + locked,
		},
		"directory of a new state": {
			nil, ".", 0o555,
			[]string{"plan"},
			"Error acquiring the state lock\n\nThe state terraform.tfstate could not be locked: permission denied." + locked,
		},
		"directory of the state": {
			map[string]string{"terraform.tfstate": state},
			".", 0o555,
			[]string{"plan"},
			"Error acquiring the state lock\n\nThe information about the lock, .terraform.tfstate.lock.info, could not be written: permission denied." + locked,
		},
		"directory, to apply": {
			nil, ".", 0o555,
			[]string{"apply", "-auto-approve"},
			"Error acquiring the state lock\n\nThe state terraform.tfstate could not be locked: permission denied.\n\n" +
				"To change the state, you need permission to write to it and to its directory.",
		},
		"state to read": {
			map[string]string{"terraform.tfstate": state},
			"terraform.tfstate", 0,
			[]string{"plan", "-lock=false"},
			"Error reading the state\n\nThe state terraform.tfstate could not be read: permission denied.",
		},
		"outputs": {
			map[string]string{"terraform.tfstate": state},
			"terraform.tfstate", 0,
			[]string{"output"},
			"Error reading the state\n\nThe state terraform.tfstate could not be read: permission denied.",
		},
		"values": {
			map[string]string{"terraform.tfvars": "a = 1"},
			"terraform.tfvars", 0,
			[]string{"plan"},
			"Failed to read file\n\nThe file \"terraform.tfvars\" could not be read: permission denied.",
		},
		"lock file": {
			map[string]string{".terraform.lock.hcl": ""},
			".terraform.lock.hcl", 0,
			[]string{"plan"},
			"Failed to read dependency lock file\n\nThe dependency lock file .terraform.lock.hcl could not be read: permission denied.",
		},
		"data directory": {
			map[string]string{".terraform/x": ""},
			".terraform", 0,
			[]string{"plan"},
			"Cannot read the recorded backend\n\nThe file .terraform/terraform.tfstate, in which \"mayfly init\" records the backend, could not be read: permission denied. " +
				"Correct this, or remove .terraform and run \"mayfly init\".",
		},
		"workspaces": {
			map[string]string{"terraform.tfstate.d/a/x": ""},
			"terraform.tfstate.d", 0o555,
			[]string{"workspace", "new", "b"},
			"Cannot create the workspace\n\nThe directory of the workspace, terraform.tfstate.d/b, could not be created: permission denied.",
		},
		"saved plan": {
			map[string]string{"tfplan": ""},
			"tfplan", 0,
			[]string{"apply", "tfplan"},
			"Failed to load plan file\n\nThe file tfplan could not be read: permission denied.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"main.tf": config}
			for file, text := range test.files {
				files[file] = text
			}
			dir := r.dir(t, strings.ReplaceAll(name, " ", "-"), files)
			if err := os.Chmod(filepath.Join(dir, test.path), test.mode); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("\nError: "+test.want+"\n", r.run(t, dir, test.args...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
