package clients

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

// binary is the program under test, simBinary the test provider, and mirror a filesystem mirror that has it
// in the versions of simVersions.
var binary, simBinary, mirror string

var simVersions = []string{"1.0.0", "1.1.0"}

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) error {
		built, err := program.Prepare(dir, simcloud.Source, simVersions...)
		binary, simBinary, mirror = built.Mayfly, built.Provider, built.Mirror
		os.Unsetenv("TF_DISABLE_PLUGIN_TLS") // here, plugins are talked to as users' are
		// What terraform-plugin-testing goes by.
		os.Setenv("TF_ACC", "1")
		os.Setenv("TF_ACC_TERRAFORM_PATH", binary)
		os.Setenv("TF_ACC_PROVIDER_HOST", "registry.opentofu.org")
		return err
	})
}

// project makes a working directory with these files and a client for it.
func project(t *testing.T, files map[string]string) *tfexec.Terraform {
	t.Helper()
	dir := filetest.Tree(t, files)
	tf, err := tfexec.NewTerraform(dir, binary)
	if err != nil {
		t.Fatal(err)
	}
	return tf
}

// fromMirror makes the programs of a test install providers from the mirror alone, and the test provider keep
// its objects in the directory that it returns.
func fromMirror(t *testing.T) (cloud string) {
	t.Helper()
	settings(t, "provider_installation {\n  filesystem_mirror {\n    path = "+strconv.Quote(mirror)+"\n  }\n}\n")
	cloud = t.TempDir()
	t.Setenv(simcloud.EnvDir, cloud)
	return cloud
}

// settings makes a CLI configuration the one of a test's programs.
func settings(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.tfrc")
	filetest.Write(t, file, text)
	t.Setenv("TF_CLI_CONFIG_FILE", file)
	return file
}

// initialized is project with init done.
func initialized(t *testing.T, files map[string]string) *tfexec.Terraform {
	t.Helper()
	tf := project(t, files)
	if err := tf.Init(t.Context()); err != nil {
		t.Fatalf("init: %s", err)
	}
	return tf
}

func ok(t *testing.T, doing string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %s", doing, err)
	}
}

// noCanary fails if a secret stands in any file of the client's directory other than its configuration.
func noCanary(t *testing.T, tf *tfexec.Terraform, when string) {
	t.Helper()
	err := filepath.WalkDir(tf.WorkingDir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".tf") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "CANARY") {
			t.Errorf("%s: %s has an ephemeral value in it", when, filepath.Base(path))
		}
		return err
	})
	ok(t, "searching "+when, err)
}
