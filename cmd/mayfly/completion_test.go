package main

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzCompletes asks for the completion of anything. What is offered to bash can be put into the line without
// being taken for more than a word.
func FuzzCompletes(f *testing.F) {
	for _, line := range []string{"mayfly ", "mayfly plan -", `mayfly state show 'a`, "mayfly -help=", "mayfly - -=", "mayfly workspace select ", `mayfly plan -lock=\`} {
		f.Add(line)
	}
	f.Chdir(f.TempDir())
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "chdir") {
			return // the directory is the process's
		}
		var out bytes.Buffer
		a := newApp(environment{Stdout: &out, Stderr: &out})
		if !a.completes(a.root(), []string{"__complete", "bash", line}) {
			t.Fatal("the question was not recognised")
		}
		for word := range strings.Lines(out.String()) {
			if strings.ContainsAny(strings.ReplaceAll(strings.TrimSuffix(word, "\n"), `\ `, ""), " \t\n;&|") {
				t.Errorf("%q is completed with %q", line, word)
			}
		}
	})
}
