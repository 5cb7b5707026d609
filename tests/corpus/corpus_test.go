package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/tests/internal/corpus"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) { program.Main(m, prepare) }

// prepare builds the program, and a mirror with the test provider.
func prepare(dir string) error {
	built, err := program.Prepare(dir, simcloud.Source, "0.1.0")
	if err != nil {
		return err
	}
	binary = built.Mayfly
	settings := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", built.Mirror)
	return os.WriteFile(os.Getenv("TF_CLI_CONFIG_FILE"), []byte(settings), 0o600)
}

func TestCorpus(t *testing.T) {
	archives, err := corpus.LoadAll("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(a.Path), ".txtar"), func(t *testing.T) {
			for _, c := range a.Cases {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					judge(t, c)
				})
			}
		})
	}
}

// judge compares what the program finds with what is recorded.
func judge(t *testing.T, c *corpus.Case) {
	got, err := corpus.Engine{Path: binary}.Judge(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range c.Runs {
		if !got[i].Same(r.Ours) {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", r.Command, got[i], r.Ours)
		}
		if wrong := r.Explain(); wrong != "" {
			t.Errorf("%s: got %q wrong with the explanation, want nothing", r.Command, wrong)
		}
	}
}
