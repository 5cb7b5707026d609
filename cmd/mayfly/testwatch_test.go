package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/watch"
)

// TestWatch changes files beside a process that watches them. A round has the test files that a change
// matters to, and the exit status is that of the last outcomes.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+".new~", []byte(text), 0o600); err != nil { // as an editor does, at once
			t.Fatal(err)
		}
		if err := os.Rename(name+".new~", name); err != nil {
			t.Fatal(err)
		}
	}
	assert := func(condition string) string {
		return "assert {\ncondition = " + condition + "\nerror_message = \"no\"\n}\n"
	}
	write("main.tf", "variable \"v\" {\ndefault = 1\n}\noutput \"o\" {\nvalue = \"${var.v}-${file(\"text.txt\")}\"\n}")
	write("text.txt", "text")
	write("other/main.tf", "output \"n\" {\nvalue = 1\n}")
	write("tests/a.tftest.hcl", "run \"a\" {\n"+assert(`output.o == "1-text"`)+"}")
	write("tests/b.tftest.hcl", "run \"b\" {\nmodule {\nsource = \"./other\"\n}\n"+assert("output.n == 1")+"}")

	p := exec.CommandContext(t.Context(), os.Args[0], "test", "-watch", "-no-color")
	p.Dir = dir
	p.Env = append(os.Environ(), "MAYFLY_TEST_MAIN=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	round := func(what string, want ...string) {
		t.Helper()
		var got []string
		for lines.Scan() {
			if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, "Waiting for changes.") {
				break
			} else if strings.HasSuffix(line, "changed.") || strings.HasPrefix(line, "run ") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	const a, b = `run "a"... pass`, `run "b"... pass`
	round("at first", a, b)
	write("other/main.tf", "output \"n\" {\nvalue = 2\n}")
	round("a module of a run", "other/main.tf changed.", `run "b"... fail`)
	write("text.txt", "other")
	round("a file that the module reads", "text.txt changed.", `run "a"... fail`)
	write("templates/deep/x.tftpl", "x")
	round("a new directory", "templates changed.", `run "a"... fail`)
	write("templates/deep/x.tftpl", "y")
	round("a file in a directory below the module", "templates/deep/x.tftpl changed.", `run "a"... fail`)
	write("terraform.tfvars", "v = 2")
	round("variables", "terraform.tfvars changed.", `run "a"... fail`, `run "b"... fail`)
	write("tests/b.tftest.hcl", "run \"b\" {\nmodule {\nsource = \"./other\"\n}\n}")
	round("a test file", "tests/b.tftest.hcl changed.", b)
	write("main.tf", "output")
	round("a mistake", "main.tf changed.")
	write("tests/a.tftest.hcl", "run \"a\" {\n}")
	round("another file during a mistake", "tests/a.tftest.hcl changed.")
	write("main.tf", "output \"o\" {\nvalue = 1\n}")
	round("the repair", "main.tf changed.", a)
	write("tests/c.tftest.hcl", "run \"c\" {\n"+assert("output.o == 2")+"}")
	round("a new file", "tests/c.tftest.hcl changed.", `run "c"... fail`)
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		if lines.Text() != "" {
			t.Errorf("at the end: got %q, want empty lines", lines.Text())
		}
	}
	if err := p.Wait(); err == nil || p.ProcessState.ExitCode() != exitError {
		t.Errorf("end of the command: got %v, want exit status %d, because a file has failed", err, exitError)
	}
}

func TestWhatChangesMatterTo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.MkdirAll(filepath.Join(dir, "net", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, name := range []string{"../x.tftpl", "net/x.tftpl", "x.tftpl", "a.tftest.hcl", "new.tftest.hcl", "vars", "crash.log", ".hidden", ".terraform.lock.hcl"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, b := "a.tftest.hcl", "tests/b.tftest.hcl"
	for name, want := range map[string][]string{
		"main.tf": {a}, "x.tftpl": {a}, "net/main.tf": {b}, "net/x.tftpl": {a, b}, "net/deep": {a, b}, "../x.tftpl": nil, "mocks/m.tfmock.hcl": {a, b}, "a.tftest.hcl": {a}, "new.tftest.hcl": {"new.tftest.hcl"},
		"x.auto.tfvars": {a, b}, "far/given.vars": {a, b}, "far/other.vars": nil, watch.Unknown: {a, b}, ".terraform.lock.hcl": {a, b},
		"gone.txt": nil, "gone.tf": {a}, "gone.tftest.hcl": nil, "net/x.tftest.hcl": nil, "main.tf~": nil, "crash.log": nil, ".hidden": nil,
		"terraform.tfstate": nil, "left-out.tftest.hcl": nil, "vars": {a},
	} {
		w := &testWatch{
			f: &testFlags{dir: "tests"}, varFiles: map[string]struct{}{"far/given.vars": {}}, pending: map[string]struct{}{},
			inputs: map[string]map[string]struct{}{a: {".": {}, "mocks": {}}, b: {"net": {}, "mocks": {}}},
		}
		relevant := w.relevant([]string{name})
		var got []string
		for file := range w.pending {
			got = append(got, file)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || len(relevant) > 0 != (len(want) > 0) {
			t.Errorf("%q matters to %q (%v), want %q", name, got, relevant, want)
		}
	}
}
