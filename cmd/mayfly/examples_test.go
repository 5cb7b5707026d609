package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/filetest"
	"github.com/mayfly-iac/mayfly/internal/script"
)

// TestExampleREADMEs runs the commands that the READMEs of the examples show, as they are, each in a copy of
// its directory.
func TestExampleREADMEs(t *testing.T) {
	readmes, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "README.md"))
	if err != nil || len(readmes) == 0 {
		t.Fatalf("no README was found: %v", err)
	}
	dir := t.TempDir()
	commands := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	for _, readme := range readmes {
		text, err := os.ReadFile(readme)
		if err != nil {
			t.Fatal(err)
		}
		found := commands.FindSubmatch(text)
		if found == nil {
			t.Errorf("%s shows no commands", readme)
			continue
		}
		name := filepath.Base(filepath.Dir(readme))
		archive := fmt.Sprintf("exec cp -R $EXAMPLES/%[1]s copy\nrm copy/README.md\ncd copy\nexec sh -eu $WORK/commands\nnosecret a-secret-key\n-- commands --\n%[2]s", name, found[1])
		filetest.Write(t, filepath.Join(dir, name+".txtar"), archive)
	}
	script.Run(t, dir)
}

// TestQuickstartPrintsWhatTheREADMESays runs the README's first command and looks for each line that the
// README shows.
func TestQuickstartPrintsWhatTheREADMESays(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "This is the end of what you see, after the plan:\n\n```\n")
	shown, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("the README shows no output")
	}
	dir := t.TempDir()
	archive := "exec cp -R $EXAMPLES/quickstart copy\nexec mayfly -chdir=copy apply -auto-approve\n"
	for line := range strings.SplitSeq(strings.TrimSpace(shown), "\n") { // what opens and what closes may overlap
		if line != "" {
			want := strings.ReplaceAll(regexp.QuoteMeta(line), "after 0s", `after \d+s`)
			archive += "stdout '^" + strings.ReplaceAll(want, "'", "''") + "$'\n"
		}
	}
	filetest.Write(t, filepath.Join(dir, "quickstart.txtar"), archive)
	script.Run(t, dir)
}
