//go:build unix

package canary

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/program"
)

// patch replaces a text, which must occur once, in a source file of the module.
type patch struct{ file, old, new string }

// unguarded turns the leak guard off.
var unguarded = []patch{
	{"cmd/mayfly/app.go", "leaks: leak.New()", "leaks: (*leak.Guard)(nil)"},
	{"workdir/dir.go", "opt.Leaks = leak.New()", "opt.Leaks = (*leak.Guard)(nil)"},
	{"internal/engine/engine.go", "opt.Leaks = leak.New()", "opt.Leaks = (*leak.Guard)(nil)"},
}

// leaks are leaks that are introduced on purpose. The patched program has all of them, and the environment
// variable CANARY_LEAK turns one on by its name.
var leaks = []struct {
	patch
	name  string
	steps []step // that leak
	in    string // where it must be found
}{
	{
		patch{"state/store/local/journal.go", "l.size += int64(n)\n", "l.size += int64(n)\n\tmore, _ := l.disk.writeAt(l.f, []byte(canaryLeak(\"journal\")), l.size)\n\tl.size += int64(more)\n"},
		"journal", killed, "terraform.tfstate.journal",
	},
	{patch{"state/store/local/info.go", "f.Write(b)", `f.Write(append(b, canaryLeak("lock")...))`}, "lock", killed, "lock.info"},
	{patch{"internal/stores/planfile/encode.go", "PlannedPrivate: c.PlannedPrivate,", `PlannedPrivate: append(append([]byte(nil), c.PlannedPrivate...), canaryLeak("plan")...),`}, "plan", []step{{args: "plan VARS -out=p"}}, "work/p"},
	{patch{"internal/engine/object/seal.go", "= op.Schema.Version, private", `= op.Schema.Version, append(slices.Clone(private), canaryLeak("state")...)`}, "state", apply, "work/terraform.tfstate"},
	{
		patch{"internal/engine/object/seal.go", "v = op.Withheld.HideStored(v, like)\n", "if canaryLeak(\"stored attribute\") == \"\" {\n\t\tv = op.Withheld.HideStored(v, like)\n\t}\n"},
		"stored attribute", apply, "work/terraform.tfstate",
	},
	{
		patch{"internal/engine/object/seal.go", "return seal(op, op.Withheld.Hide(v), op", "hidden := op.Withheld.Hide(v)\n\tif canaryLeak(\"planned attribute\") != \"\" {\n\t\thidden = v\n\t}\n\treturn seal(op, hidden, op"},
		"planned attribute",
		[]step{{args: "plan VARS -out=p"}},
		"work/p",
	},
	{
		patch{"cmd/mayfly/internal/logs/logs.go", `"+p.Type, line)`, `"+p.Type, line+canaryLeak("log"))`},
		"log",
		[]step{{args: "plan VARS", deeds: `[{"rpc": "PlanResourceChange", "do": "stderr", "text": "planning"}]`}},
		"trace.log",
	},
	{
		patch{"internal/engine/provision.go", `" provisioner error", "%s", err)`, `" provisioner error", "%s%s", err, canaryLeak("diagnostic", args))`},
		"diagnostic",
		[]step{{args: "apply VARS -auto-approve -var exit=7"}},
		"standard error",
	},
	{patch{"internal/engine/provision.go", "Line: line})", `Line: line + canaryLeak("event", args)})`}, "event", apply, "standard output"},
	{
		patch{"internal/show/view/streamevent.go", "line.Message = name + text\n", "line.Message = name + text + canaryLeak(\"stream\")\n"},
		"stream",
		[]step{{args: "apply VARS -auto-approve -json-into=into.jsonl"}},
		"into.jsonl",
	},
	{patch{"workdir/session.go", "environ := providerEnviron(", "canaryFile(\"file\")\n\tenviron := providerEnviron("}, "file", []step{{args: "plan VARS"}}, "tmp/left"},
	{patch{"workdir/environ.go", "v != nil && secret(v)", `v != nil && secret(v) && canaryLeak("environment") == ""`}, "environment", []step{{args: "plan VARS"}}, "children/"},
	{patch{"internal/show/view/report/report.go", "r.clean(next.Text)", `r.clean(next.Text)+canaryLeak("page")`}, "page", []step{{args: "plan VARS -html=page.html"}}, "page.html"},
	{patch{"internal/show/view/markdown/section.go", "block(language, text)", `block(language, text+canaryLeak("comment"))`}, "comment", []step{{args: "plan VARS -markdown=comment.md"}}, "comment.md"},
	{patch{"internal/show/view/explanation/explanation.go", "text := p.Text +", `text := p.Text + canaryLeak("answer") +`}, "answer", []step{{args: "explain VARS sim_vault.v"}}, "standard output"},
	{patch{"internal/show/view/verdicts/junit.go", "strings.Map(inXML, out.Text)", `strings.Map(inXML, out.Text+canaryLeak("junit"))`}, "junit", []step{{args: "test -junit-xml=out.xml"}}, "out.xml"},
}

var (
	apply  = []step{{args: "apply VARS -auto-approve"}}
	killed = []step{{args: "apply VARS -auto-approve -var delay=30s", signals: []syscall.Signal{syscall.SIGKILL}}}
)

// helper is added to every package that is patched.
const helper = `package %s

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func canaryLeak(name string, of ...any) string {
	switch {
	case os.Getenv("CANARY_LEAK") != name:
		return ""
	case len(of) > 0:
		return fmt.Sprintf("%%#v", of...)
	}
	text := []byte(os.Getenv("CANARY_BACKWARDS"))
	slices.Reverse(text)
	return string(text)
}

func canaryFile(name string) {
	if text := canaryLeak(name); text != "" {
		_ = os.WriteFile(filepath.Join(os.TempDir(), "left"), []byte(hex.EncodeToString([]byte(text))), 0o600)
	}
}
`

// leaky returns the path of the program without the guard and with the leaks, which is built once.
var leaky = sync.OnceValues(func() (string, error) {
	dir := filepath.Dir(mirror)
	replaced, err := overlay(filepath.Join(dir, "patched"))
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, b, 0o600); err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "leaky")
	return binary, program.BuildOverlay(binary, at, "cmd/mayfly", "cmd/mayfly", "cmd/mayfly/internal/doctor", "internal/engine", "internal/show/view", "suite", "workdir")
})

// overlay writes the patched files to dir, and returns their paths by those of the files that they replace.
func overlay(dir string) (map[string]string, error) {
	top, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	patches := slices.Clone(unguarded)
	for _, l := range leaks {
		patches = append(patches, l.patch)
	}
	for _, p := range panics {
		patches = append(patches, p.patch)
	}
	texts := map[string]string{}
	for _, p := range patches {
		if texts[p.file] == "" {
			b, err := os.ReadFile(filepath.Join(top, p.file))
			if err != nil {
				return nil, err
			}
			texts[p.file] = string(b)
			pkg := path.Base(path.Dir(p.file))
			if strings.HasPrefix(p.file, "cmd/mayfly/") && pkg == "mayfly" {
				pkg = "main"
			}
			texts[path.Join(path.Dir(p.file), "canary_leak.go")] = fmt.Sprintf(helper, pkg)
		}
		if n := strings.Count(texts[p.file], p.old); n != 1 {
			return nil, fmt.Errorf("%s has %q %d times, not once: adapt the patch", p.file, p.old, n)
		}
		texts[p.file] = strings.Replace(texts[p.file], p.old, p.new, 1)
	}
	replaced := map[string]string{}
	for file, text := range texts {
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return nil, err
		}
		replaced[filepath.Join(top, filepath.FromSlash(file))] = to
	}
	return replaced, nil
}

// leak has the program leak a canary by the name of a leak. It gets the canary backwards, as nothing
// searches for it: the program takes its variables out of its environment.
func (s *site) leak(name string) {
	backwards := []byte(s.values.env)
	slices.Reverse(backwards)
	s.env = append(s.env, "CANARY_LEAK="+name, "CANARY_BACKWARDS="+string(backwards))
}

// TestLeaksAreFound introduces each leak, and expects it to be found where it is.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	binary, err := leaky()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaks {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			config := "main"
			if strings.HasPrefix(l.steps[0].args, "test") {
				config = "suite"
			}
			s := newSite(t, binary, config)
			s.anyEnd = true
			s.leak(l.name)
			s.follow(l.steps)
			if !slices.ContainsFunc(s.found, func(f leak) bool { return strings.Contains(f.where, l.in) }) {
				t.Errorf("the leak was not found in %s: %v", l.in, s.found)
			}
		})
	}
}

// panics are panics whose value has canaries in it, in the same program.
var panics = []struct {
	patch
	name, args, says string
}{
	{patch{"internal/engine/provision.go", "begin := pv.walk.opt.Now()\n", "if text := canaryLeak(\"operation\", args); text != \"\" {\n\t\tpanic(text)\n\t}\n\tbegin := pv.walk.opt.Now()\n"}, "operation", "apply VARS -auto-approve", "Bug in Mayfly"},
	{patch{"internal/show/view/streamevent.go", "line, ok := streamEvent(e)\n", "line, ok := streamEvent(e)\n\tif text := canaryLeak(\"observer\"); text != \"\" {\n\t\tpanic(text)\n\t}\n"}, "observer", "apply VARS -auto-approve -json-into=into.jsonl", "Bug in Mayfly"},
	{patch{"internal/stores/planfile/encode.go", "out := &change{", "if text := canaryLeak(\"save\"); text != \"\" {\n\t\tpanic(fmt.Errorf(\"%s\", text))\n\t}\n\tout := &change{"}, "save", "plan VARS -out=p", "they hold no values"},
}

// TestPanics lets the program panic with canaries. It must report a bug, without them.
func TestPanics(t *testing.T) {
	t.Parallel()
	binary, err := leaky()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range panics {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, binary, "main")
			s.anyEnd = true
			s.leak(p.name)
			s.follow(nil)
			out := s.run(step{args: p.args})
			if !strings.Contains(out, p.says) {
				t.Errorf("no panic is reported:\n%s", s.readable(out))
			}
			s.report()
		})
	}
}

// TestInnerWalls runs the matrix without the leak guard, which could hide what the types of values let
// through.
func TestInnerWalls(t *testing.T) {
	if !all() {
		t.Skip("MAYFLY_TEST_CANARIES=all runs this")
	}
	t.Parallel()
	binary, err := leaky()
	if err != nil {
		t.Fatal(err)
	}
	runRows(t, binary)
}
