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

// TestDocumentedExamples runs the examples of the guides: each section with files and commands becomes a
// script, which expects each line that the guide shows below a command somewhere in its output.
func TestDocumentedExamples(t *testing.T) {
	dir := t.TempDir()
	var all []*example
	for _, guide := range []string{"ephemerality.md", "encryption.md", "testing.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", guide))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, examples(t, string(text))...)
	}
	n := 0
	for _, e := range all {
		n++
		filetest.Write(t, filepath.Join(dir, fmt.Sprintf("%02d_%s.txtar", n, e.name)), e.script())
	}
	if n < 10 {
		t.Fatalf("only %d examples were found", n)
	}
	script.Run(t, dir)
}

// example is a set of files and what is done with them.
type example struct {
	name  string
	files []string // in the form of a txtar archive
	run   strings.Builder
}

var (
	fence    = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$|^##+ ([^\n]*)$")
	fileLine = regexp.MustCompile(`^# (\S+\.(?:tf|hcl))\n`)
	nonWord  = regexp.MustCompile(`\W+`)
	ours     = regexp.MustCompile(`^(\w+=\S+ )*mayfly `)
	spaces   = regexp.MustCompile(` +`)
)

// examples collects the examples: files up to the next commands, and these commands.
func examples(t *testing.T, text string) []*example {
	t.Helper()
	var out []*example
	heading, open := "", false
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		kind, body := m[1], m[2]
		if m[3] != "" {
			heading, open = m[3], false
			continue
		}
		if !open {
			out = append(out, &example{name: nonWord.ReplaceAllString(heading, "_")})
			open = true
		}
		e := out[len(out)-1]
		switch kind {
		case "hcl":
			name := fileLine.FindStringSubmatch(body)
			if name == nil {
				t.Fatalf("a snippet below %q doesn't begin with the name of its file", heading)
			}
			e.files = append(e.files, "-- "+name[1]+" --\n"+body)
		case "console":
			e.console(t, body)
			open = false
		default:
			t.Fatalf("a snippet below %q is neither hcl nor console", heading)
		}
	}
	return out
}

// console translates commands and what they print.
func (e *example) console(t *testing.T, body string) {
	t.Helper()
	for _, part := range strings.Split("\n"+body, "\n$ ")[1:] {
		command, expected, _ := strings.Cut(strings.TrimRight(part, "\n"), "\n")
		if !ours.MatchString(command) {
			t.Fatalf("the command %q is not one of ours", command)
		}
		if !strings.HasPrefix(command, "mayfly ") { // it has settings before it
			command = "env " + command
		}
		command = e.input(command)
		not, stream := "", "stdout"
		if strings.HasPrefix(expected, "Error:") {
			not, stream = "! ", "stderr"
		}
		fmt.Fprintf(&e.run, "%sexec %s\n", not, command)
		for line := range strings.Lines(expected) {
			fmt.Fprintf(&e.run, "%s '%s'\n", stream, spaces.ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), " +"))
		}
	}
}

var hereString = regexp.MustCompile(`^(.*) <<< '([^']*)'$`)

// input takes what a command reads from its standard input out of the command line.
func (e *example) input(command string) string {
	m := hereString.FindStringSubmatch(command)
	if m == nil {
		return command
	}
	name := fmt.Sprintf("input%d.txt", len(e.files))
	e.files = append(e.files, "-- "+name+" --\n"+m[2]+"\n")
	fmt.Fprintf(&e.run, "stdin %s\n", name)
	return m[1]
}

func (e *example) script() string { return e.run.String() + strings.Join(e.files, "") }
