//go:build unix

package canary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// TestProgramsWithoutConfiguration lets commands start git and a credentials helper, which run before the
// configuration is known.
func TestProgramsWithoutConfiguration(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	s := newSite(t, shipped, "suite")
	repository := filepath.Join(s.outside, "repository")
	filetest.Write(t, filepath.Join(repository, "main.tf"), "locals {}\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a"}} {
		if out, err := exec.Command(git, append([]string{"-C", repository}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", err, out)
		}
	}
	bin, settings := filepath.Join(s.outside, "bin"), filepath.Join(s.outside, "settings.tfrc")
	s.program(filepath.Join(bin, "git"), "exec '"+git+"' \"$@\"")
	s.program(s.at("home", ".terraform.d", "plugins", "terraform-credentials-recorder"), "echo {}")
	filetest.Write(t, settings, "credentials_helper \"recorder\" {}\n")
	s.bring("module.tf", fmt.Sprintf("module \"git\" {\n  source = \"git::file://%s\"\n}\n", repository))
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	s.run(step{args: "init VARS -plugin-dir=" + mirror, env: []string{path}})
	s.run(step{args: "logout localhost", env: []string{"TF_CLI_CONFIG_FILE=" + settings}})
	for _, name := range []string{"git", "terraform-credentials-recorder"} {
		if found, err := filepath.Glob(s.at("children", name+"-*")); err != nil || len(found) == 0 {
			t.Errorf("%s was not started (%v)", name, err)
		}
	}
	s.report()
}

// program writes a program that records with what it was started, as the provider's does.
func (s *site) program(path, then string) {
	s.Helper()
	filetest.Write(s, path, fmt.Sprintf("#!/bin/sh\n{ env; echo \"$0 $*\"; } >\"$CANARY_CHILDREN/%s-$$\"\n%s\n", filepath.Base(path), then))
	if err := os.Chmod(path, 0o700); err != nil {
		s.Fatal(err)
	}
}
