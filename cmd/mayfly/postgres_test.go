package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/script"
)

// TestPostgres runs scripts with a server in PG_CONN_STR, and is skipped, with the reason, where none can be
// started.
func TestPostgres(t *testing.T) {
	const name = "rows.txtar"
	text, err := os.ReadFile(filepath.Join("testdata", "postgres", name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, name), "env PG_CONN_STR="+postgres.Start(t).URL(0)+"\n"+string(text))
	script.Run(t, dir)
}
