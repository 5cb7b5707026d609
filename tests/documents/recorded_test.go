package documents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/schematest"
	"github.com/mayfly-iac/mayfly/tests/internal/documents"
)

// recorded are the cases whose documents are kept. They need no provider but that for tests.
var recorded = []string{
	"check", "deposed", "ephemeral", "import", "moved", "outputs-change", "sensitive-nested", "show-config", "state-commands", "var-ephemeral", "var-types",
}

// worded are the parts of documents that may be worded anew at any time.
var worded = documents.Rule{Path: regexp.MustCompile(`@message$|\.(detail|summary|description|statement)$|mayfly(_version)?$`)}

// TestDocumentsKeepTheirForm compares what commands print with what was recorded. MAYFLY_UPDATE_GOLDEN=1
// records anew.
func TestDocumentsKeepTheirForm(t *testing.T) {
	for _, name := range recorded {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := produce(t, name)
			for _, d := range docs {
				parse(t, d)
				if strings.Contains(d.Out, "CANARY") {
					t.Errorf("%s has an ephemeral value in it", d.Name)
				}
			}
			path := filepath.Join("testdata", "recorded", name+".jsonl")
			if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
				record(t, path, docs)
			}
			for _, d := range documents.Compare(read(t, path), docs) {
				if !worded.Excuses(d) {
					t.Errorf("(recorded, now) %s", d)
				}
			}
		})
	}
}

// TestEveryCase checks the documents of the cases that need no providers of other people and are not
// recorded: clients can read them, and no ephemeral value is in one.
func TestEveryCase(t *testing.T) {
	cases, err := documents.LoadAll(filepath.Join("testdata", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	ran := len(recorded)
	for _, c := range cases {
		if slices.Contains(recorded, c.Name) || c.Needs("hashicorp/") {
			continue
		}
		ran++
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			for _, d := range produce(t, c.Name) {
				parse(t, d)
				if strings.Contains(d.Out, "CANARY") {
					t.Errorf("%s has an ephemeral value in it", d.Name)
				}
			}
		})
	}
	if ran < 40 {
		t.Errorf("only %d cases are run", ran)
	}
}

// record writes the documents in their normal form, one a line.
func record(t *testing.T, path string, docs []documents.Document) {
	t.Helper()
	var sb strings.Builder
	for _, d := range docs {
		normal, err := documents.Plain(d)
		if err != nil {
			t.Fatalf("%s: %s", d.Name, err)
		}
		line, err := json.Marshal(normal)
		if err != nil {
			t.Fatal(err)
		}
		sb.Write(append(line, '\n'))
	}
	filetest.Write(t, path, sb.String())
}

func read(t *testing.T, path string) []documents.Document {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []documents.Document
	for line := range strings.Lines(string(src)) {
		var d documents.Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// parse checks a document by its schema, and reads it with the types that clients use.
func parse(t *testing.T, d documents.Document) {
	t.Helper()
	words := strings.Fields(d.Name)[1:]
	if d.Kind == documents.Stream || d.Kind == documents.JSON && d.Exit == 0 {
		if _, err := schematest.Output(words, []byte(d.Out)); err != nil {
			t.Errorf("%s: %s", d.Name, err)
		}
	}
	var into interface{ Validate() error }
	switch {
	case d.Kind == documents.Stream && (words[0] == "plan" || words[0] == "apply" || words[0] == "init"):
		for line := range strings.Lines(d.Out) {
			if _, err := tfjson.UnmarshalLogMessage([]byte(line)); err != nil {
				t.Errorf("%s: %s: %s", d.Name, err, line)
			}
		}
		return
	case d.Kind != documents.JSON || d.Exit != 0 || strings.Contains(d.Name, "-config") || strings.Contains(d.Name, "-module"):
		return
	case words[0] == "show" && strings.Contains(d.Name, "plan."):
		into = &tfjson.Plan{}
	case words[0] == "show":
		into = &tfjson.State{}
	case words[0] == "validate":
		into = &tfjson.ValidateOutput{}
	case words[0] == "providers":
		into = &tfjson.ProviderSchemas{}
	default:
		return
	}
	if err := json.Unmarshal([]byte(d.Out), into); err != nil {
		t.Errorf("%s: %s", d.Name, err)
		return
	}
	if err := into.Validate(); err != nil {
		t.Errorf("%s: %s", d.Name, err)
	}
}
