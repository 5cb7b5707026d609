package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/script"
)

// TestExampleREADMEs runs the commands that the READMEs of the examples show, as they are, each in a copy of its
// directory.
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
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script.Run(t, dir)
}
