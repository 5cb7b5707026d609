package install

import (
	"archive/zip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/lockfile"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m)) }

var linux = Platform{"linux", "amd64"}

// fixture is a working directory with a mirror that tests fill.
type fixture struct {
	t      *testing.T
	mirror string
	inst   *Installer
	log    *events
}

// events records what the observer receives.
type events struct{ lines []string }

func (e *events) add(format string, args ...any) {
	e.lines = append(e.lines, fmt.Sprintf(format, args...))
}
func (e *events) Finding(p addr.Provider, c string)           { e.add("finding %s %q", p.Type, c) }
func (e *events) Reusing(p addr.Provider, v versions.Version) { e.add("reusing %s %s", p.Type, v) }
func (e *events) Installing(p addr.Provider, v versions.Version, cached bool) {
	e.add("installing %s %s %t", p.Type, v, cached)
}

func (e *events) Installed(p addr.Provider, v versions.Version, proof string) {
	e.add("installed %s %s %s", p.Type, v, proof)
}

func (e *events) Using(p addr.Provider, v versions.Version, cached bool) {
	e.add("using %s %s %t", p.Type, v, cached)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{t: t, mirror: filepath.Join(dir, "mirror"), log: &events{}}
	f.inst = &Installer{DataDir: filepath.Join(dir, "work", ".terraform"), Sources: MirrorDirs(f.mirror), Platform: linux, Observer: f.log, Config: &cliconfig.Config{}}
	return f
}

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) write(path, content string, perm fs.FileMode) {
	f.t.Helper()
	f.check(os.MkdirAll(filepath.Dir(path), 0o755))
	f.check(os.WriteFile(path, []byte(content), perm))
}

// unpacked puts a package into the mirror and returns its directory.
func (f *fixture) unpacked(source, version, platform, content string) string {
	f.t.Helper()
	p := f.provider(source)
	dir := filepath.Join(f.mirror, providerPath(p), version, platform)
	f.write(filepath.Join(dir, "terraform-provider-"+p.Type+"_v"+version), content, 0o755)
	return dir
}

// packed puts the same package as unpacked into the mirror as an archive.
func (f *fixture) packed(source, version, platform, content string) string {
	f.t.Helper()
	p := f.provider(source)
	path := filepath.Join(f.mirror, providerPath(p), fmt.Sprintf("terraform-provider-%s_%s_%s.zip", p.Type, version, platform))
	f.archive(path, &zip.FileHeader{Name: "terraform-provider-" + p.Type + "_v" + version}, content)
	return path
}

func (f *fixture) archive(path string, h *zip.FileHeader, content string) {
	f.t.Helper()
	f.check(os.MkdirAll(filepath.Dir(path), 0o755))
	out, err := os.Create(path)
	f.check(err)
	w := zip.NewWriter(out)
	entry, err := w.CreateHeader(h)
	f.check(err)
	_, err = entry.Write([]byte(content))
	f.check(err)
	f.check(w.Close())
	f.check(out.Close())
}

func (f *fixture) provider(source string) addr.Provider {
	f.t.Helper()
	p, err := addr.ParseProvider(source)
	f.check(err)
	return p
}

// reqs loads a root module with the given source and returns what it needs.
func (f *fixture) reqs(src string) map[addr.Provider]*Requirement {
	f.t.Helper()
	reqs, diags := Requirements(f.tree(map[string]string{"main.tf": src}), nil)
	f.ok(diags)
	return reqs
}

func (f *fixture) tree(files map[string]string) *config.Tree {
	f.t.Helper()
	fsys := fstest.MapFS{}
	for name, src := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(src)}
	}
	tree, diags := (&config.Loader{FS: fsys}).Load(".")
	f.ok(diags)
	return tree
}

func (f *fixture) ok(diags diag.List) {
	f.t.Helper()
	if diags.HasErrors() {
		f.t.Fatal(diags.Err())
	}
}

// need is the source of a module that requires a provider.
func need(source, constraint string) string {
	name := source[strings.LastIndex(source, "/")+1:]
	return fmt.Sprintf("terraform {\n  required_providers {\n    %s = {\n      source = %q\n      version = %q\n    }\n  }\n}\n", name, source, constraint)
}

// init runs Ensure and expects success.
func (f *fixture) init(reqs map[addr.Provider]*Requirement, lock *lockfile.Lock, opts Options) (Selections, *lockfile.Lock) {
	f.t.Helper()
	f.log.lines = nil
	sel, next, diags := f.inst.Ensure(context.Background(), reqs, lock, opts)
	f.ok(diags)
	return sel, next
}

// fails runs Ensure and expects an error with all of the texts, and an unchanged lock.
func (f *fixture) fails(reqs map[addr.Provider]*Requirement, lock *lockfile.Lock, opts Options, want ...string) {
	f.t.Helper()
	_, next, diags := f.inst.Ensure(context.Background(), reqs, lock, opts)
	f.wantError(diags, want...)
	if !next.Equal(lock) {
		f.t.Errorf("lock after an error: got\n%s\nwant it unchanged:\n%s", next.Bytes(), lock.Bytes())
	}
}

func (f *fixture) wantError(diags diag.List, want ...string) {
	f.t.Helper()
	if !diags.HasErrors() {
		f.t.Fatal("no error")
	}
	for _, w := range want {
		if text := diags.Err().Error(); !strings.Contains(text, w) {
			f.t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

func (f *fixture) wantContent(s Selection, want string) {
	f.t.Helper()
	got, err := os.ReadFile(s.Executable)
	f.check(err)
	if string(got) != want {
		f.t.Errorf("%s holds %q, want %q", s.Executable, got, want)
	}
	info, err := os.Stat(s.Executable)
	f.check(err)
	if info.Mode()&0o111 == 0 {
		f.t.Errorf("%s is not executable", s.Executable)
	}
}

// lockVersion returns the version of the only provider in the lock.
func lockVersion(f *fixture, lock *lockfile.Lock) versions.Version {
	f.t.Helper()
	for e := range lock.All() {
		return e.Version
	}
	f.t.Fatal("the lock is empty")
	return versions.Unspecified
}
