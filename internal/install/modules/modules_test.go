package modules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-version"
	regaddr "github.com/opentofu/registry-address/v2"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/registry"
	"github.com/mayfly-iac/mayfly/internal/install/web"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// world is a working directory and what there is outside of it.
type world struct {
	*testing.T
	versions map[string][]string          // by module
	packages map[string]map[string]string // files by address
	before   func(pkg string) error       // called within each download
	cancel   context.CancelFunc
	ctx      context.Context

	mu      sync.Mutex
	fetched []string
	lines   []string
}

func newWorld(t *testing.T) *world {
	t.Chdir(t.TempDir())
	w := &world{T: t, versions: map[string][]string{}, packages: map[string]map[string]string{}}
	w.ctx, w.cancel = context.WithCancel(t.Context())
	return w
}

func (w *world) ModuleVersions(_ context.Context, m regaddr.ModulePackage) ([]*version.Version, error) {
	var out []*version.Version
	for _, v := range w.versions[m.String()] {
		out = append(out, version.Must(version.NewVersion(v)))
	}
	if out == nil {
		return nil, registry.ErrNoModule
	}
	return out, nil
}

func (w *world) ModuleLocation(_ context.Context, m regaddr.ModulePackage, v string) (string, error) {
	return "https://example.com/" + m.Name + "-" + v + ".zip", nil
}

func (w *world) Fetch(ctx context.Context, pkg, dir string, _ web.Progress) error {
	w.mu.Lock()
	w.fetched = append(w.fetched, pkg)
	w.mu.Unlock()
	w.files(dir, w.packages[pkg])
	if w.before != nil {
		if err := w.before(pkg); err != nil {
			return err
		}
	}
	if w.packages[pkg] == nil {
		return errors.New("there is nothing")
	}
	return ctx.Err()
}

func (w *world) Downloading(key, source, version string) {
	w.lines = append(w.lines, strings.TrimSpace(fmt.Sprintf("get %s for %s %s", source, key, version)))
}

func (w *world) Installed(key, dir string) { w.lines = append(w.lines, key+" in "+dir) }

func (w *world) files(dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			w.Error(err)
		}
	}
}

// call is a module block.
func call(name, source, version string) string {
	if version != "" {
		version = fmt.Sprintf("\n  version = %q", version)
	}
	return fmt.Sprintf("module %q {\n  source = %q%s\n}\n", name, source, version)
}

func (w *world) install(upgrade bool) diag.List {
	w.Helper()
	w.fetched, w.lines = nil, nil
	i := &Installer{DataDir: ".terraform", Loader: &config.Loader{}, Registry: w, Fetcher: w, Observer: w}
	_, diags := i.Install(w.ctx, ".", upgrade)
	left, err := filepath.Glob(".terraform/modules/.download*")
	if err != nil || len(left) > 0 {
		w.Errorf("left behind: %v %v", left, err)
	}
	slices.Sort(w.fetched)
	return diags
}

func (w *world) ok(upgrade bool, fetched ...string) {
	w.Helper()
	if diags := w.install(upgrade); len(diags) > 0 {
		w.Fatal(diags)
	}
	if !slices.Equal(w.fetched, fetched) {
		w.Errorf("fetched: got %q, want %q", w.fetched, fetched)
	}
	loader := &config.Loader{ModuleDir: Installed(".terraform")}
	if _, diags := loader.Load("."); len(diags) > 0 {
		w.Errorf("what is installed can't be loaded: %v", diags)
	}
}

func (w *world) fails(words ...string) {
	w.Helper()
	text := fmt.Sprint(w.install(false))
	for _, word := range words {
		if !strings.Contains(text, word) {
			w.Errorf("no %q in: %s", word, text)
		}
	}
	for _, r := range w.records() {
		if !isDir(r.Dir) {
			w.Errorf("the manifest has %s in %s, which is not there", r.Key, r.Dir)
		}
	}
}

func (w *world) records() []Record {
	w.Helper()
	list, diags := read(".terraform")
	if len(diags) > 0 {
		w.Fatal(diags)
	}
	return list
}

func TestOnePackageOnce(t *testing.T) {
	w := newWorld(t)
	w.versions["registry.opentofu.org/acme/net/sim"] = []string{"1.0.0", "1.5.0", "2.0.0"}
	w.packages["https://example.com/net-1.5.0.zip"] = map[string]string{"main.tf": call("in", "./in", ""), "in/a.tf": call("up", "../", "") + "", "x/a.tf": ""}
	w.packages["https://example.com/net-1.5.0.zip"]["in/a.tf"] = ""
	w.packages["git::https://example.com/r.git?ref=v1"] = map[string]string{"a/a.tf": call("b", "../b", ""), "b/b.tf": ""}
	w.files(".", map[string]string{
		"main.tf": call("one", "acme/net/sim", "~> 1.0") + call("two", "acme/net/sim//x", ">= 1.0, < 2.0") + call("a", "git::https://example.com/r.git//a?ref=v1", "") + call("l", "./l", ""),
		"l/l.tf":  call("b", "git::https://example.com/r.git//b?ref=v1", ""),
	})
	w.ok(false, "git::https://example.com/r.git?ref=v1", "https://example.com/net-1.5.0.zip")
	want := []string{
		"get git::https://example.com/r.git?ref=v1 for a", "get registry.opentofu.org/acme/net/sim for one 1.5.0", "get registry.opentofu.org/acme/net/sim for two 1.5.0",
		"a in .terraform/modules/a/a", "l in l", "one in .terraform/modules/one", "two in .terraform/modules/two/x",
		"get git::https://example.com/r.git?ref=v1 for l.b", "a.b in .terraform/modules/a/b", "l.b in .terraform/modules/l.b/b", "one.in in .terraform/modules/one/in",
	}
	if diff := cmp.Diff(want, w.lines); diff != "" {
		t.Error(diff)
	}
	w.ok(false)
	if len(w.lines) > 0 {
		t.Errorf("the second time it says %q", w.lines)
	}
	w.ok(true, "git::https://example.com/r.git?ref=v1", "https://example.com/net-1.5.0.zip")
	// What is not called any more is not in the manifest any more.
	w.files(".", map[string]string{"main.tf": call("l", "./l", "")})
	w.ok(false)
	if got := w.records(); len(got) != 3 || got[2] != (Record{Key: "l.b", Source: "git::https://example.com/r.git//b?ref=v1", Dir: ".terraform/modules/l.b/b"}) {
		t.Errorf("manifest: got %v, want 3 records, the last one of l.b in its subdirectory", got)
	}
	if err := os.RemoveAll(".terraform/modules/l.b"); err != nil {
		t.Fatal(err)
	}
	w.ok(false, "git::https://example.com/r.git?ref=v1")
}

func TestFailureLeavesWholeModules(t *testing.T) {
	w := newWorld(t)
	w.packages["https://example.com/a.zip"] = map[string]string{"a.tf": "# old"}
	w.packages["https://example.com/b.zip"] = map[string]string{"b.tf": ""}
	w.files(".", map[string]string{"main.tf": call("a", "https://example.com/a.zip", "") + call("b", "https://example.com/b.zip", "")})
	w.ok(false, "https://example.com/a.zip", "https://example.com/b.zip")
	// One download fails: what was there before stays, what was got is kept.
	w.packages["https://example.com/c.zip"] = map[string]string{"c.tf": ""}
	w.before = func(pkg string) error {
		if strings.Contains(pkg, "a2") {
			return errors.New("the line is dead")
		}
		return nil
	}
	w.files(".", map[string]string{"main.tf": call("a", "https://example.com/a2.zip", "") + call("b", "https://example.com/b.zip", "") + call("c", "https://example.com/c.zip", "")})
	w.fails("Failed to download module", `"a"`, "the line is dead", "main.tf:2")
	w.before = nil
	var keys []string
	for _, r := range w.records() {
		keys = append(keys, r.Key)
	}
	if got := strings.Join(keys, " "); got != " a b c" {
		t.Errorf("the manifest has %q, want %q", got, " a b c")
	}
	if text, err := os.ReadFile(".terraform/modules/a/a.tf"); err != nil || string(text) != "# old" {
		t.Errorf("old module: got %q, %v, want it unchanged: \"# old\"", text, err)
	}
	w.packages["https://example.com/a2.zip"] = map[string]string{"a.tf": ""}
	w.ok(false, "https://example.com/a2.zip")
	// An interrupt.
	w.before = func(string) error { w.cancel(); return nil }
	w.files(".", map[string]string{"main.tf": call("d", "https://example.com/b.zip", "")})
	w.fails("Installation interrupted")
	if isDir(".terraform/modules/d") {
		t.Error("an interrupted download was put in place")
	}
}

func TestProblems(t *testing.T) {
	w := newWorld(t)
	w.versions["registry.opentofu.org/acme/net/sim"] = []string{"1.0.0", "2.0.0-rc1"}
	w.packages["https://example.com/a.zip"] = map[string]string{"s/a.tf": call("out", "../../other", ""), "t1/a.tf": "", "t2/a.tf": ""}
	w.files(".", map[string]string{"main.tf": call("v", "acme/net/sim", "> 1.0") + call("n", "acme/none/sim", "") + call("d", "https://example.com/a.zip//none", "") +
		call("out", "https://example.com/a.zip//s", "") + call("g", "https://example.com/a.zip//t*", "") + call("bad", "acme/net", "") + call("rv", "https://example.com/a.zip", "1.0") +
		call("local", "./nowhere", "") + call("secret", "https://ann:hunter2hunter2@example.com/none.zip", "")})
	w.fails("Unresolvable module version constraint", "Available are 2.0.0-rc1, 1.0.0", "has no module registry.opentofu.org/acme/none/sim",
		`the package has no directory "none"`, "Local module path escapes module package", `2 directories of the package match the pattern "t*"`,
		`"./acme/net"`, "remove the version", "nowhere", "REDACTED@example.com/none.zip")
	if text := fmt.Sprint(w.install(false)); strings.Contains(text, "hunter2") {
		t.Errorf("a password is shown: %s", text)
	}
	if isDir(".terraform/modules/d") || isDir(".terraform/modules/g") {
		t.Error("useless packages are left")
	}
	w.files(".", map[string]string{"main.tf": call("g", "https://example.com/a.zip//t1*", "")})
	w.ok(false, "https://example.com/a.zip")
}

func TestPreReleasesOnlyByTheirNumber(t *testing.T) {
	for _, c := range []struct{ constraint, want string }{
		{"", "1.10.0"}, {">= 1.0", "1.10.0"}, {"~> 1.2.0", "1.2.9"}, {"2.0.0-beta1", "2.0.0-beta1"}, {"= 2.0.0-beta1", "2.0.0-beta1"}, {">= 2.0.0-beta1", ""}, {"~> 3.0", ""},
	} {
		var list []*version.Version
		for _, v := range []string{"1.2.9", "1.10.0", "2.0.0-beta1", "1.2.0"} {
			list = append(list, version.Must(version.NewVersion(v)))
		}
		got := ""
		if v := newest(list, c.constraint); v != nil {
			got = v.String()
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.constraint, got, c.want)
		}
	}
}

func TestModuleManifest(t *testing.T) {
	w := newWorld(t)
	w.files(".", map[string]string{
		"main.tf":    call("m", "./m", "") + call("n", "./m/../m/", ""),
		"m/main.tf":  call("s", "./sub", ""),
		"m/sub/a.tf": "",
	})
	w.ok(false)
	got, err := os.ReadFile(".terraform/modules/modules.json")
	const want = `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"},{"Key":"m.s","Source":"./sub","Dir":"m/sub"},` +
		`{"Key":"n","Source":"./m","Dir":"m"},{"Key":"n.s","Source":"./sub","Dir":"m/sub"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	w.files(".terraform/modules", map[string]string{"modules.json": "{"})
	if text := fmt.Sprint(w.install(false)); !strings.Contains(text, "modules.json") || !strings.Contains(text, "mayfly init") {
		t.Error(text)
	}
}

func TestNoManifestWithoutModules(t *testing.T) {
	w := newWorld(t)
	w.files(".", map[string]string{"main.tf": ""})
	w.ok(false)
	if _, err := os.Stat(".terraform"); err == nil {
		t.Error("a manifest was written for nothing")
	}
}

// TestModuleCallsMultiply has calls that double with each level, of which only the installer's own bound
// keeps it from listing a million.
func TestModuleCallsMultiply(t *testing.T) {
	w := newWorld(t)
	w.files(".", map[string]string{"main.tf": call("a", "./m0", "")})
	for i := range 20 {
		next := fmt.Sprintf("../m%d", i+1)
		w.files(fmt.Sprintf("m%d", i), map[string]string{"m.tf": call("a", next, "") + call("b", next, "")})
	}
	w.files("m20", map[string]string{"m.tf": ""})
	w.fails("Too many module calls")
}

func TestModuleThatCallsItself(t *testing.T) {
	w := newWorld(t)
	w.packages["https://example.com/a.zip"] = map[string]string{"a.tf": call("again", "https://example.com/a.zip", "")}
	w.files(".", map[string]string{"main.tf": call("a", "https://example.com/a.zip", "")})
	w.fails("Module calls itself")
	if len(w.fetched) != 1 {
		t.Errorf("%d downloads of one package, want 1", len(w.fetched))
	}
}
