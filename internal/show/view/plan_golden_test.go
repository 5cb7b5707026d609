package view

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/fixture"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// golden compares text with a file of testdata, or writes the file if MAYFLY_UPDATE_GOLDEN is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
		filetest.Write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestPlanGolden(t *testing.T) {
	schemas := fixture.LoadSchemas(t)
	for _, name := range []string{"create", "update", "mixed", "free", "actions"} {
		t.Run(name, func(t *testing.T) {
			p := fixture.Plan(t, name+".plan.json", schemas)
			var buf bytes.Buffer
			if err := Plan(&buf, p, nil, schemas, Options{Width: 78}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".plan.txt", buf.String())
		})
	}
}

// testVersions are those of the documents and messages in golden files.
var testVersions = document.Versions{Compat: "1.12.0", Product: "0.1.0"}
