package interop

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/mayfly-iac/mayfly/tests/internal/documents"
)

// envKeep names a directory in which the documents are kept, for a look at them. What the other engine printed for a case is read from there
// if it is the same case.
const envKeep = "MAYFLY_TEST_DOCUMENTS"

// TestDocuments compares the machine-readable documents of both engines, key by key.
func TestDocuments(t *testing.T) {
	other := tofu(t)
	if os.Getenv(envMirror) == "" {
		t.Skipf("the cases need providers: set %s to a filesystem mirror with random, null, time, tls and local", envMirror)
	}
	cases, err := documents.LoadAll(filepath.Join("..", "documents", "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := produce(t, c, "tofu", other), produce(t, c, "mayfly", binary)
			differences, documentCount := 0, len(ours)
			for _, d := range documents.Compare(theirs, ours) {
				if why := excused(c.Name, d); why == "" {
					differences++
					t.Errorf("%s", d)
				}
			}
			t.Logf("%d documents, %d differences", documentCount, differences)
		})
	}
}

func excused(name string, d documents.Difference) string {
	d.Document = name + ": " + d.Document
	for _, r := range deliberate {
		if r.Excuses(d) {
			return r.Why
		}
	}
	return ""
}

// produce runs a case with an engine.
func produce(t *testing.T, c *documents.Case, name, path string) []documents.Document {
	t.Helper()
	kept := ""
	if dir := os.Getenv(envKeep); dir != "" {
		sum := sha256.Sum256(fmt.Append(nil, *c))
		kept = filepath.Join(dir, fmt.Sprintf("%s.%s.%x.json", c.Name, name, sum[:4]))
	}
	var docs []documents.Document
	if text, err := os.ReadFile(kept); err == nil && name != "mayfly" && json.Unmarshal(text, &docs) == nil {
		return docs
	}
	dir := t.TempDir()
	e := documents.Engine{Path: path, Env: []string{"SIM_LENIENT=1", "SIM_DIR=" + filepath.Join(dir, "cloud")}}
	docs, err := e.Run(c, filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	if kept != "" {
		text, err := json.MarshalIndent(docs, "", " ")
		if err == nil {
			err = os.WriteFile(kept, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return docs
}
