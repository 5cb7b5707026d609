package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
)

// TestPostgres runs scripts with a server in PG_CONN_STR, and is skipped, with the reason, where none can be
// started.
func TestPostgres(t *testing.T) {
	for _, name := range []string{"rows.txtar", "rounds.txtar"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("psql"); err != nil && name == "rounds.txtar" {
				t.Skipf("the roles cannot be made: %v", err)
			}
			text, err := os.ReadFile(filepath.Join("testdata", "postgres", name))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			filetest.Write(t, filepath.Join(dir, name), "env PG_CONN_STR="+postgres.Start(t).URL(0)+"\n"+string(text))
			script.Run(t, dir)
		})
	}
}
