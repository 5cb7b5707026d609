package main

import (
	"strings"
	"testing"
)

func TestConsoleLines(t *testing.T) {
	t.Chdir(t.TempDir())
	for input, want := range map[string]struct {
		code   int
		stdout string
		stderr string
	}{
		"":                         {},
		"1 + 1":                    {stdout: "2\n"}, // the last line needs no end
		"\n1\r\n":                  {stdout: "\n1\n"},
		"1\nexit\n2\n":             {stdout: "1\n"},
		"[1,\nexit\n":              {},
		"<<E\nexit\nE\n":           {stdout: "<<EOT\nexit\n\nEOT\n"},
		"[1,\n":                    {code: exitError, stderr: "Unclosed bracket"},
		"quit\n":                   {code: exitError, stderr: "Invalid reference"},
		"1\nnope(1)\n2\n":          {code: exitError, stdout: "1\n", stderr: "no function named \"nope\""},
		"var.x\n":                  {code: exitError, stderr: "undeclared input variable"},
		"path.module\npath.root\n": {stdout: "\".\"\n\".\"\n"},
	} {
		code, stdout, stderr := piped(input)
		if code != want.code || stdout != want.stdout || !strings.Contains(stderr, want.stderr) || want.stderr == "" && stderr != "" {
			t.Errorf("%q: got exit status %d\n%s%s\nwant exit status %d\n%s%s", input, code, stdout, stderr, want.code, want.stdout, want.stderr)
		}
	}
	if code, _, stderr := piped(strings.Repeat("(", 100_000) + "\n"); code != exitError || !strings.Contains(stderr, "Nesting too deep") {
		t.Errorf("of deep nesting: got %d %s, want %d", code, stderr, exitError)
	}
	if _, _, stderr := piped("x y\n"); !strings.Contains(stderr, "on <console-input> line 1:\n   1: x y") {
		t.Errorf("where the error is: %s", stderr)
	}
	if _, stdout, _ := piped("help\n"); !strings.Contains(stdout, "To leave") {
		t.Errorf("help: %s", stdout)
	}
}
