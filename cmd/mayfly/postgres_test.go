package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
)

// TestPostgres runs scripts with a server in PG_CONN_STR, and is skipped, with the reason, where none can be
// started.
func TestPostgres(t *testing.T) {
	from := filepath.Join("testdata", "postgres")
	scripts, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	config := mirrored(t)
	for _, s := range scripts {
		t.Run(s.Name(), func(t *testing.T) {
			if _, err := exec.LookPath("psql"); err != nil && s.Name() == "rounds.txtar" {
				t.Skipf("the roles cannot be made: %v", err)
			}
			text, err := os.ReadFile(filepath.Join(from, s.Name()))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			server := postgres.Start(t)
			settings := fmt.Sprintf("env PG_CONN_STR=%s TF_VAR_port=%d\n", server.URL(0), server.Port)
			if s.Name() == "rounds.txtar" {
				settings += fmt.Sprintf("env TF_CLI_CONFIG_FILE=%s\n", config)
			}
			filetest.Write(t, filepath.Join(dir, s.Name()), settings+string(text))
			script.Run(t, dir)
		})
	}
}

// mirrored builds the provider of PostgreSQL, and returns the path of a configuration with which it is
// installed.
func mirrored(t *testing.T) string {
	const command = "internal/testing/pgprovider/cmd/terraform-provider-pg"
	dir := t.TempDir()
	built, err := program.Build(dir, command)
	if err != nil {
		t.Fatal(err)
	}
	mirror, err := program.Mirror(filepath.Join(dir, "mirror"), "registry.opentofu.org/test/pg", "1.0.0", built[command])
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "cli.tfrc")
	filetest.Write(t, config, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror))
	return config
}
