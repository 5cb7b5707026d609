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
	from, dir := filepath.Join("testdata", "postgres"), t.TempDir()
	scripts, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	url := postgres.Start(t).URL(0)
	for _, s := range scripts {
		text, err := os.ReadFile(filepath.Join(from, s.Name()))
		if err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, filepath.Join(dir, s.Name()), "env PG_CONN_STR="+url+"\n"+string(text))
	}
	script.Run(t, dir)
}
