package arch

import (
	"bufio"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDependenciesDocumented checks that docs/dependencies.md has a row for each third-party module that the
// code imports, and for no other.
func TestDependenciesDocumented(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	required := requirements(t, filepath.Join(dir, "go.mod"))
	imported := map[string]string{} // module → a file that imports it
	for _, s := range sources(t) {
		if _, ok := rules[s.pkg]; !ok {
			continue
		}
		for _, p := range s.imports() {
			if m := moduleOf(required, p); m != "" && (imported[m] == "" || s.name < imported[m]) {
				imported[m] = s.name
			}
		}
	}
	row := regexp.MustCompile("^\\| `([^`]+)` \\| .*[a-z]")
	documented := map[string]bool{}
	lines(t, filepath.Join(dir, "docs", "dependencies.md"), func(n int, line string) {
		if m := row.FindStringSubmatch(line); m != nil && strings.Contains(m[1], ".") {
			if documented[m[1]] {
				t.Errorf("docs/dependencies.md:%d: %s has two rows", n, m[1])
			}
			documented[m[1]] = true
		}
	})
	for _, m := range slices.Sorted(maps.Keys(imported)) {
		if !documented[m] {
			t.Errorf("%s imports from %s: docs/dependencies.md has no row that says what for", imported[m], m)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(documented)) {
		if imported[m] == "" {
			t.Errorf("docs/dependencies.md has a row for %s, which nothing imports", m)
		}
	}
}

// requirements returns the module paths that a go.mod file requires.
func requirements(t *testing.T, file string) []string {
	t.Helper()
	line := regexp.MustCompile(`^\s*(?:require\s+)?([^\s/]+\.[^\s/]+\S*)\s+v\d`)
	var out []string
	lines(t, file, func(_ int, text string) {
		if m := line.FindStringSubmatch(text); m != nil {
			out = append(out, m[1])
		}
	})
	if len(out) == 0 {
		t.Fatalf("%s: no requirements found", file)
	}
	return out
}

// moduleOf returns the longest module path that an import path is within, "" for none.
func moduleOf(modules []string, importPath string) string {
	best := ""
	for _, m := range modules {
		if (importPath == m || strings.HasPrefix(importPath, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

func TestModuleOf(t *testing.T) {
	modules := []string{"a.b/c", "a.b/c/d/v2", "a.b/cd"}
	for importPath, want := range map[string]string{
		"a.b/c": "a.b/c", "a.b/c/x": "a.b/c", "a.b/c/d/v2/x": "a.b/c/d/v2", "a.b/cd": "a.b/cd", "a.b/ce": "", "fmt": "",
	} {
		if got := moduleOf(modules, importPath); got != want {
			t.Errorf("%s: %q, want %q", importPath, got, want)
		}
	}
}

// TestDocumentsKeepTheirPromises checks that the tests that documents name exist, that relative links lead
// somewhere, to headings too, and that the architecture fits on a few screens.
func TestDocumentsKeepTheirPromises(t *testing.T) {
	tests := map[string]bool{}
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				tests[f.Name.Name] = true
			}
		}
	}
	test := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)`")
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	documents := 0
	walk(t, func(name, file string) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			return
		}
		documents++
		lines(t, file, func(n int, line string) {
			for _, m := range test.FindAllStringSubmatch(line, -1) {
				if !tests[m[1]] {
					t.Errorf("%s:%d: there is no test %s", name, n, m[1])
				}
			}
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				target := file
				if m[1] != "" {
					target = filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s:%d: the link to %s leads nowhere", name, n, m[1])
				} else if m[2] != "" && !slices.Contains(anchors(t, target), m[2]) {
					t.Errorf("%s:%d: got a link to the heading %q, want one that %s has", name, n, m[2], filepath.Base(target))
				}
			}
		})
	})
	const fewest = 5
	if documents < fewest {
		t.Errorf("only %d documents were read: the walk is broken", documents)
	}
	const maxArchitecture = 300
	if n := count(t, "ARCHITECTURE.md"); n > maxArchitecture {
		t.Errorf("ARCHITECTURE.md has %d lines, more than %d: say it in the packages", n, maxArchitecture)
	}
}

// TestDocumentsAreNarrow checks that no paragraph of a document has a line of more than 160 columns. The
// reference quotes what the program prints, and says so on each page.
func TestDocumentsAreNarrow(t *testing.T) {
	const widest = 160
	walk(t, func(name, file string) {
		if path.Ext(name) != ".md" || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "docs/reference/") {
			return
		}
		code := false
		lines(t, file, func(n int, line string) {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			code = code != fence
			if !code && !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > widest {
				t.Errorf("%s:%d: got a line of %d columns, want at most %d", name, n, utf8.RuneCountInString(line), widest)
			}
		})
	})
}

// anchors returns the headings of a document in the form in which links name them.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	dropped := regexp.MustCompile(`[^\w\- ]`)
	lines(t, file, func(_ int, line string) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			out = append(out, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading), ""), " ", "-"))
		}
	})
	return out
}

func count(t *testing.T, name string) int {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for scan := bufio.NewScanner(f); scan.Scan(); {
		n++
	}
	return n
}
