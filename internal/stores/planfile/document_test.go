package planfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocument compares docs/planfile.md with the format that is written: its version, and the entries.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "planfile.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{fmt.Sprintf("`{\"format\": %d,", format)}
	for _, entry := range []string{"mayfly", "plan.json", "changes.jsonl", "drift.jsonl", "deferred.jsonl", "state.json", "adopted.jsonl", "scope.json", "modules.json", "lock.hcl", "config/PATH"} {
		want = append(want, "\n| `"+entry+"` | ")
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			t.Errorf("docs/planfile.md lacks %q", w)
		}
	}
}
