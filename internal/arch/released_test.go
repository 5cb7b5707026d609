package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// releasedAPI is the directory with the declarations of the newest release, and the file in it that names the
// release.
const (
	releasedAPI     = "api/released"
	releasedVersion = "VERSION"
)

// breaking begins the heading of the changelog's section about changes that break Go programs.
const breaking = "### Changes that break Go programs"

// TestReleasedAPI compares the declarations of the stable packages with those of the newest release. What is
// gone or has changed must be named in the changelog, under the heading above, with the package and the
// identifier:
//
//   - `state/store`: `Manager.Read` also returns …
//
// A release records the declarations again: see docs/releasing.md.
func TestReleasedAPI(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	changelog, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	newest := newestRelease(string(changelog))
	recorded, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(path.Join(releasedAPI, releasedVersion))))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(recorded)) != newest {
		if os.Getenv("MAYFLY_UPDATE_GOLDEN") == "" {
			t.Fatalf("%s has the declarations of the release %q, and the changelog says that the newest is %q: record them with MAYFLY_UPDATE_GOLDEN=1", releasedAPI, recorded, newest)
		}
		recordRelease(t, top, newest)
	}
	named := breakingSection(string(changelog))
	for _, pkg := range stable {
		was := readRecord(t, filepath.Join(top, filepath.FromSlash(releasedAPI), recordOf(pkg)))
		is := readRecord(t, filepath.Join(top, "api", recordOf(pkg)))
		for _, name := range broken(was, is) {
			if !announced(named, pkg, name) {
				t.Errorf("package %s, which is stable, has broken %s since %s: undo that, or name `%s` and `%s` on a line below %q in CHANGELOG.md", pkg, name, newest, displayed(pkg), name, breaking)
			}
		}
	}
}

// recordRelease copies the declarations.
func recordRelease(t *testing.T, top, version string) {
	t.Helper()
	dir := filepath.Join(top, filepath.FromSlash(releasedAPI))
	files := map[string][]byte{releasedVersion: []byte(version + "\n")}
	for _, pkg := range stable {
		text, err := os.ReadFile(filepath.Join(top, "api", recordOf(pkg)))
		if err != nil {
			t.Fatal(err)
		}
		files[recordOf(pkg)] = text
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var releaseHeading = regexp.MustCompile(`(?m)^## \[?v?([0-9]+\.[0-9]+\.[0-9]+)`)

// newestRelease returns the version of the first release in the changelog, "" if there is none.
func newestRelease(changelog string) string {
	if m := releaseHeading.FindStringSubmatch(changelog); m != nil {
		return m[1]
	}
	return ""
}

// breakingSection returns the lines of the changelog about breaking changes since the newest release.
func breakingSection(changelog string) []string {
	if at := releaseHeading.FindStringIndex(changelog); at != nil {
		changelog = changelog[:at[0]]
	}
	_, section, _ := strings.Cut(changelog, breaking)
	section, _, _ = strings.Cut(section, "\n##")
	return strings.Split(section, "\n")
}

// displayed is how the changelog names a package.
func displayed(pkg string) string {
	if pkg == "." {
		return "mayfly"
	}
	return pkg
}

func announced(lines []string, pkg, name string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(line, "`"+displayed(pkg)+"`") && strings.Contains(line, "`"+name+"`")
	})
}

// readRecord reads a record of declarations; one that is absent has none.
func readRecord(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	out, err := surface(string(text))
	if err != nil {
		t.Fatalf("%s: %s", file, err)
	}
	return out
}

// broken returns what programs can rely on in one set of declarations and not in another, in order. A method
// that an interface gets breaks those who implement it.
func broken(was, is map[string]string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if is[name] != was[name] {
			out = append(out, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if typ, _, member := strings.Cut(name, "."); member && was[name] == "" && was[typ] == "interface" {
			out = append(out, name)
		}
	}
	return out
}

// bare is a declaration whose type follows from a value, or from the constant before it. Neither is recorded.
var bare = regexp.MustCompile(`(?m)^(?:var|const) (\w+(?:, \w+)*)$`)

// surface returns what the declarations of a record promise: the types of functions, variables and constants
// by name, and those of fields and methods by TYPE.NAME. Names of parameters make no difference.
func surface(record string) (map[string]string, error) {
	record = bare.ReplaceAllString(strings.ReplaceAll(record, "\r\n", "\n"), "var $1 inferred")
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+record, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = strings.TrimLeft(typeText(d.Recv.List[0].Type), "*") + "." + name
				name, _, _ = strings.Cut(strings.ReplaceAll(name, "[T].", "."), "[")
			}
			out[name] = typeText(d.Type)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				addSpec(out, spec)
			}
		}
	}
	return out, nil
}

func addSpec(out map[string]string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			out[name.Name] = "value " + typeText(s.Type)
		}
	case *ast.TypeSpec:
		switch typ := s.Type.(type) {
		case *ast.StructType:
			out[s.Name.Name] = "struct"
			addFields(out, s.Name.Name, typ.Fields)
		case *ast.InterfaceType:
			out[s.Name.Name] = "interface"
			addFields(out, s.Name.Name, typ.Methods)
		default:
			out[s.Name.Name] = typeText(typ)
			if s.Assign != token.NoPos {
				out[s.Name.Name] = "= " + out[s.Name.Name]
			}
		}
	}
}

// addFields adds fields, methods, and what is embedded under its own name.
func addFields(out map[string]string, typ string, list *ast.FieldList) {
	for _, f := range list.List {
		for _, name := range f.Names {
			out[typ+"."+name.Name] = typeText(f.Type)
		}
		if f.Names == nil {
			text := typeText(f.Type)
			out[typ+"."+strings.TrimLeft(text, "*")] = "embeds " + text
		}
	}
}

// typeText returns the text of a type without the names of parameters; "" for none.
func typeText(e ast.Expr) string {
	if e == nil {
		return ""
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			unname(f.Params)
			unname(f.Results)
		}
		return true
	})
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), e); err != nil {
		return err.Error()
	}
	return onLine(b.String())
}

// unname replaces each field by as many without names.
func unname(list *ast.FieldList) {
	if list == nil {
		return
	}
	var plain []*ast.Field
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			plain = append(plain, &ast.Field{Type: f.Type})
		}
	}
	list.List = plain
}

// TestBroken checks the judgement of changes.
func TestBroken(t *testing.T) {
	const was = `func Open(ctx context.Context, o Options) (*Project, error)
func (p *Project) Close() error
const Max = 3
type Options struct { Dir string; Deep struct { A, B int }; base }
type Store interface { Read(name string) error; io.Closer }
type Kind string
var None Kind`
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"o Options", "opts Options", ""},
		{"Dir string", "Dir string; More int", ""},
		{"const Max = 3", "const Max = 4", ""},
		{"type Kind", "func New()\ntype Kind", ""},
		{"o Options", "o *Options", "Open"},
		{"func (p *Project) Close() error\n", "", "Project.Close"},
		{"Dir string", "Dir []string", "Options.Dir"},
		{"A, B int", "A int", "Options.Deep"},
		{"; base", "", "Options.base"},
		{"Read(name string) error", "Read(name string) error; Write() error", "Store.Write"},
		{"Read(name string) error; ", "", "Store.Read"},
		{"type Kind string", "type Kind int", "Kind"},
		{"type Kind string", "type Kind = string", "Kind"},
		{"var None Kind", "", "None"},
	} {
		old, err := surface(was)
		if err != nil {
			t.Fatal(err)
		}
		now, err := surface(strings.Replace(was, c.from, c.to, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(broken(old, now), " "); got != c.want {
			t.Errorf("%q in place of %q: got %q broken, want %q", c.to, c.from, got, c.want)
		}
	}
	const changelog = "## Unreleased\n\n" + breaking + "\n\n- `workdir`: `Dir.Read` is gone.\n\n### Else\n\n- `workdir`: `Dir.Other`\n\n## 1.2.3\n\n" + breaking + "\n\n- `workdir`: `Dir.Older`\n"
	lines := breakingSection(changelog)
	for name, want := range map[string]bool{"Dir.Read": true, "Dir.Other": false, "Dir.Older": false, "Dir": false} {
		if announced(lines, "workdir", name) != want || announced(lines, "addr", name) {
			t.Errorf("%s: got it announced %t, want %t, and never for addr", name, announced(lines, "workdir", name), want)
		}
	}
	if got := newestRelease(changelog); got != "1.2.3" {
		t.Errorf("newest release: got %q, want 1.2.3", got)
	}
}
