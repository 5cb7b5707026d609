package interop

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/tests/internal/calls"
)

// TestFunctions holds the table of package functions against OpenTofu. With MAYFLY_UPDATE_GOLDEN=1 it records
// the outcomes anew; package functions then tells which differences need a reason.
func TestFunctions(t *testing.T) {
	path := tofu(t)
	file, err := filepath.Abs(filepath.Join("..", "functions", "testdata", "table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, table, err := calls.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(filepath.Dir(file), "config"))); err != nil {
		t.Fatal(err)
	}
	update := os.Getenv("MAYFLY_UPDATE_GOLDEN") != ""
	for i, got := range record(t, path, dir, table) {
		c := &table[i]
		if got != c.Outcome && !update {
			t.Errorf("%s:\n got %+v\nwant %+v", c.Expr, got, c.Outcome)
		}
		c.Outcome = got
	}
	if update {
		filetest.Write(t, file, calls.Format(head, table))
	}
}

// batch is how many expressions one console gets at most. It ends at the first error.
const batch = 300

// record evaluates each expression, and its type if it has a value.
func record(t *testing.T, path, dir string, table []calls.Call) []calls.Outcome {
	t.Helper()
	out := make([]calls.Outcome, len(table))
	for next, half := 0, 0; next < len(table); {
		var input strings.Builder
		for i := next; i < min(next+batch, len(table)); i++ {
			for k, expr := range []string{table[i].Expr, "type(" + table[i].Expr + ")"} {
				if i > next || k >= half {
					fmt.Fprintf(&input, "%s\n%q\n", expr, separator(i, k))
				}
			}
		}
		cmd := exec.Command(path, "console", "-lock=false", "-no-color")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input.String())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.Output()
		rest := string(stdout)
		for end := min(next+batch, len(table)); next < end; {
			text, after, ok := strings.Cut(rest, fmt.Sprintf("%q\n", separator(next, half)))
			switch {
			case ok && half == 0:
				out[next].Value, rest, half = calls.OneLine(text), after, 1
				continue
			case ok:
				out[next].Type, rest = calls.OneLine(text), after
			case err == nil:
				t.Fatalf("%s: there is no answer\n%s", table[next].Expr, stderr.String())
			case half == 0:
				out[next] = calls.Outcome{Error: boxed(stderr.String())}
			}
			half = 0
			next++
			if !ok {
				break // the console has ended
			}
		}
	}
	return out
}

func separator(i, half int) string { return fmt.Sprintf("@@ %d %d @@", i, half) }

var frame = regexp.MustCompile(`(?m)^[│╷╵] ?|[ \t]+$`)

// boxed returns the first error in the text that OpenTofu draws a frame around.
func boxed(text string) string {
	lines := strings.Split(frame.ReplaceAllString(text, ""), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Error: ") })
	if at < 0 {
		return calls.OneLine(text)
	}
	summary, rest := strings.TrimPrefix(lines[at], "Error: "), lines[at+1:]
	if end := slices.IndexFunc(rest, func(line string) bool { return strings.HasPrefix(line, "Error: ") }); end >= 0 {
		rest = rest[:end]
	}
	detail := strings.TrimSpace(strings.Join(rest, "\n"))
	if strings.HasPrefix(detail, "on ") { // the place, which the expression fills
		_, detail, _ = strings.Cut(detail, "\n\n")
	}
	detail, _, _ = strings.Cut(detail, "goroutine ")
	return calls.Error(summary, detail)
}
