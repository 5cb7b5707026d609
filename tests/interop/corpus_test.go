package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/tests/internal/corpus"
)

// TestCorpus compares the records of the corpus with what OpenTofu finds. With MAYFLY_UPDATE_GOLDEN=1 it
// writes the records of both engines instead; differences without a reason are to be fixed or explained then.
func TestCorpus(t *testing.T) {
	other := tofu(t)
	update := os.Getenv("MAYFLY_UPDATE_GOLDEN") != ""
	archives, err := corpus.LoadAll(filepath.Join("..", "corpus", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "settings.tfrc")
	filetest.Write(t, settings, fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", sim))
	env := []string{"TF_CLI_CONFIG_FILE=" + settings}
	for _, a := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(a.Path), ".txtar"), func(t *testing.T) {
			if update {
				t.Cleanup(func() {
					if err := a.Save(); err != nil {
						t.Error(err)
					}
				})
			}
			for _, c := range a.Cases {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					theirs := judged(t, c, corpus.Engine{Path: other, Env: env})
					if update {
						storeOutcomes(c, theirs, judged(t, c, corpus.Engine{Path: binary, Env: env}))
						return
					}
					for i, r := range c.Runs {
						if !theirs[i].Same(r.Theirs) {
							t.Errorf("%s:\n\t%s\nwant\n\t%s", r.Command, theirs[i], r.Theirs)
						}
					}
				})
			}
		})
	}
}

func judged(t *testing.T, c *corpus.Case, e corpus.Engine) []corpus.Outcome {
	t.Helper()
	out, err := e.Judge(c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// storeOutcomes stores what both engines found.
func storeOutcomes(c *corpus.Case, theirs, ours []corpus.Outcome) {
	for i, r := range c.Runs {
		r.Theirs, r.Ours = theirs[i], ours[i]
		if theirs[i].Same(ours[i]) {
			r.Reasons = nil
		}
	}
}
