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
	from := filepath.Join("testdata", "postgres")
	scripts, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
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
			filetest.Write(t, filepath.Join(dir, s.Name()), "env PG_CONN_STR="+postgres.Start(t).URL(0)+"\n"+string(text))
			script.Run(t, dir)
		})
	}
}
