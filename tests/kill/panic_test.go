//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
)

// defects are the functions that a panic is put into, and what the program prints then.
var defects = []struct {
	file, function string
	want           string // in the output
}{
	{"internal/provider/plugin/resource.go", "ApplyResource", "Bug in Mayfly"},     // a call of a provider
	{"internal/provider/plugin/unary/read.go", "frame", "this is a bug in Mayfly"}, // the connection to a provider
	{"internal/engine/ephemeral/renew.go", "callRenew", "Bug in Mayfly"},           // a renewal
	{"internal/engine/ephemeral/open.go", "callClose", "may still be live"},        // a close
	{"internal/show/view/human.go", "Event", "Bug in Mayfly"},                      // an observer
	{"state/journal.go", "endRecord", "Bug in Mayfly"},                             // what the journal gets
	{"state/journal.go", "write", "this is a bug in Mayfly"},                       // the writer of the journal
	{"internal/engine/provision/local.go", "runOutput", "Bug in Mayfly"},           // a provisioner
	{"state/store/local/manager.go", "store", "Failed to save the state"},          // the end of the run
}

const marker = "hunter2-in-a-panic"

// TestPanics builds the program with a panic in one of several functions, which an environment variable
// chooses, and applies. Whatever is struck, everything that can be closed is closed, results are kept, and
// the value of the panic is not shown.
func TestPanics(t *testing.T) {
	if os.Getenv(allFaults) == "" {
		t.Skip("building the program with defects takes minutes: set " + allFaults)
	}
	binary := buildWithDefects(t)
	for _, d := range defects {
		t.Run(d.file+" "+d.function, func(t *testing.T) {
			t.Parallel()
			s := newDiskSite(t, 4, 1)
			text := objectsOf(4, 1) + "resource \"terraform_data\" \"p\" {\n  depends_on = [sim_thing.r3]\n  provisioner \"local-exec\" {\n    command     = \"sleep 2\"\n    environment = { S = ephemeral.sim_secret.s.value }\n  }\n}\n"
			filetest.Write(t, filepath.Join(s.dir, "main.tf"), strings.Replace(text, "name = \"s\"", "name = \"s\"\n  renew_after = \"1s\"", 1))
			s.must(0, "init", "-plugin-dir="+mirror)
			cmd := s.command(nil, nil, "apply", "-auto-approve", "-no-color", "-parallelism=1")
			cmd.Env = append(cmd.Env, "MAYFLY_TEST_PANIC="+d.function)
			out, err := (&exec.Cmd{Path: binary, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env}).CombinedOutput()
			plain := strings.Join(strings.Fields(string(out)), " ")
			if err == nil || !strings.Contains(plain, d.want) || strings.Contains(plain, marker) || strings.Contains(plain, "goroutine ") {
				t.Errorf("%v", err)
			}
			if have := s.orphans(s.recorded()); len(have) > 0 && !strings.Contains(plain, "may") {
				t.Errorf("no state has %v", have)
			}
			if open := s.transcript().Unclosed(); len(open) > 0 && !strings.Contains(plain, "may still be live") {
				t.Errorf("left open without a word: %q", open)
			}
			(&disk{site: s}).repair(string(out))
			s.must(0, "apply", "-auto-approve")
			s.must(0, "plan", "-detailed-exitcode")
			if t.Failed() {
				t.Logf("it printed:\n%s", out[max(0, len(out)-3000):])
			}
		})
	}
}

// buildWithDefects builds the program with an overlay of the files that have the defects.
func buildWithDefects(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	add := func(name, text string) {
		replace[filepath.Join(root, name)] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		filetest.Write(t, replace[filepath.Join(root, name)], text)
	}
	texts := map[string]string{}
	for _, d := range defects {
		if texts[d.file] == "" {
			src, err := os.ReadFile(filepath.Join(root, d.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[d.file] = string(src)
		}
		at, pkg := bodyOf(t, texts[d.file], d.function)
		texts[d.file] = texts[d.file][:at] + fmt.Sprintf(" panicAt(%q);", d.function) + texts[d.file][at:]
		if folder := filepath.Dir(d.file); replace[filepath.Join(root, folder, "panic_hook.go")] == "" {
			add(filepath.Join(folder, "panic_hook.go"), "package "+pkg+"\n\nimport \"os\"\n\nfunc panicAt(name string) {\n\tif os.Getenv(\"MAYFLY_TEST_PANIC\") == name {\n\t\tpanic(\""+marker+"\")\n\t}\n}\n")
		}
	}
	for name, text := range texts {
		add(name, text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, "mayfly")
	// Without what only debuggers read, linking takes half the time.
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./cmd/mayfly")
	cmd.Dir, cmd.Env = root, environment
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// bodyOf returns the offset of a function's body in a file, after its brace, and the name of the package.
func bodyOf(t *testing.T, text, function string) (int, string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fun, ok := d.(*ast.FuncDecl); ok && fun.Name.Name == function {
			return set.Position(fun.Body.Lbrace).Offset + 1, f.Name.Name
		}
	}
	t.Fatalf("there is no function %s", function)
	return 0, ""
}
