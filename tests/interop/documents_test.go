package interop

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/tests/internal/documents"
)

// envKeep names a directory in which the documents are kept, for a look at them. What the other engine
// printed for a case is read from there if it is the same case.
const envKeep = "MAYFLY_TEST_DOCUMENTS"

// TestDocuments compares the machine-readable documents of both engines, key by key.
func TestDocuments(t *testing.T) {
	other := tofu(t)
	cases, err := documents.LoadAll(filepath.Join("..", "documents", "testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	var total, all, excuses atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d configurations, %d documents, %d differences that have a reason", total.Load(), all.Load(), excuses.Load())
		if total.Load() < 50 && os.Getenv(envMirror) != "" && !t.Failed() && whole() {
			t.Errorf("%d configurations were compared, want at least 50", total.Load())
		}
	})
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if os.Getenv(envMirror) == "" && c.Needs("hashicorp/") {
				t.Skipf("the case needs providers: set %s to a filesystem mirror with random, null, time, tls and local", envMirror)
			}
			theirs, ours := produce(t, c, "tofu", other), produce(t, c, "mayfly", binary)
			differences, documentCount := 0, len(ours)
			for _, d := range documents.CompareAs(documents.Outline, theirs, ours) {
				if why := excused(c.Name, d); why == "" {
					differences++
					t.Errorf("%s", d)
				} else {
					excuses.Add(1)
				}
			}
			total.Add(1)
			all.Add(int64(documentCount))
			t.Logf("%d documents, %d differences", documentCount, differences)
		})
	}
}

// whole reports whether all tests are run, rather than a choice of them.
func whole() bool {
	f := flag.Lookup("test.run")
	return f == nil || !strings.Contains(f.Value.String(), "/")
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
