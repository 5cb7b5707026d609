package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden is an expression with what the console shows for it.
type golden struct {
	expr string
	fail bool
	want string
}

// readGolden reads expressions that were compared with the field's engine: ">" begins one that has a value,
// "!" one that is an error, "." continues it, and a tab begins a line of its value.
func readGolden(t *testing.T) []golden {
	t.Helper()
	text, err := os.ReadFile("testdata/console.golden")
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		switch last := len(out) - 1; {
		case strings.HasPrefix(line, "> "), strings.HasPrefix(line, "! "):
			out = append(out, golden{expr: line[2:], fail: line[0] == '!'})
		case strings.HasPrefix(line, ". "):
			out[last].expr += "\n" + line[2:]
		case strings.HasPrefix(line, "\t"):
			out[last].want += line[1:] + "\n"
		default:
			t.Fatalf("not understood: %q", line)
		}
	}
	return out
}

// piped runs a console whose input is a pipe.
func piped(input string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := environment{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs, Notify: func(chan<- os.Signal) func() { return func() {} }}
	code = run(context.Background(), []string{"console", "-lock=false"}, env)
	return code, out.String(), errs.String()
}

func TestConsoleGolden(t *testing.T) {
	tests := readGolden(t)
	t.Chdir(t.TempDir())
	var input strings.Builder
	mark := func(i int) string { return fmt.Sprintf("\"--- %d ---\"\n", i) }
	for i, test := range tests {
		if !test.fail {
			input.WriteString(test.expr + "\n" + mark(i))
		}
	}
	code, stdout, stderr := piped(input.String())
	if code != exitOK || stderr != "" {
		t.Errorf("got exit status %d and %s, want %d without errors", code, stderr, exitOK)
	}
	for i, test := range tests {
		if test.fail {
			if code, stdout, stderr := piped(test.expr + "\n\"never\"\n"); code != exitError || stdout != "" || !strings.Contains(stderr, "Error: ") {
				t.Errorf("%s: got exit status %d\n%s%s\nwant %d and an error alone", test.expr, code, stdout, stderr, exitError)
			}
			continue
		}
		var got string
		var found bool
		if got, stdout, found = strings.Cut(stdout, mark(i)); !found {
			t.Fatalf("%s: no value", test.expr)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.expr, diff)
		}
	}
}
