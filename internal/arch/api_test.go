package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stable are the packages whose exported declarations docs/library.md promises as stable.
var stable = []string{".", "addr", "diag", "event", "state/store", "state/store/local", "workdir"}

// TestStableAPI compares the exported declarations of the stable packages with those in the directory api, so
// that no change goes unnoticed. After a change that is meant, write the files with
// MAYFLY_UPDATE_GOLDEN=1, and tell users in CHANGELOG.md what they have to do.
func TestStableAPI(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range stable {
		name := recordOf(pkg)
		file := filepath.Join(top, "api", name)
		want := strings.Join(exportedBy(t, filepath.Join(top, filepath.FromSlash(pkg))), "\n") + "\n"
		if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		recorded := strings.ReplaceAll(string(have), "\r\n", "\n")
		if recorded == want {
			continue
		}
		was, is := strings.Split(recorded, "\n"), strings.Split(want, "\n")
		for _, line := range was {
			if !slices.Contains(is, line) {
				t.Errorf("package %s, which is stable, no longer has: %s", pkg, line)
			}
		}
		for _, line := range is {
			if !slices.Contains(was, line) {
				t.Errorf("api/%s lacks: %s", name, line)
			}
		}
		if !t.Failed() {
			t.Errorf("api/%s is not in order", name)
		}
	}
}

// recordOf returns the name of the file with the declarations of a package.
func recordOf(pkg string) string {
	if pkg == "." {
		return "mayfly.txt"
	}
	return strings.ReplaceAll(pkg, "/", "-") + ".txt"
}

// exportedBy returns the exported declarations of the package in a directory, without comments and bodies,
// sorted.
func exportedBy(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, decl := range file.Decls {
			out = append(out, declared(t, decl)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out) // a declaration may be in a file for each system
}

// declared returns the text of a declaration of a function, or of each specification in another one.
func declared(t *testing.T, decl ast.Decl) []string {
	t.Helper()
	var out []string
	text := func(n any) string {
		var b bytes.Buffer
		if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), n); err != nil {
			t.Fatal(err)
		}
		return onLine(strings.ReplaceAll(b.String(), "// contains filtered or unexported fields", ""))
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && !receiverExported(d) {
			break
		}
		d.Body = nil
		out = append(out, text(d))
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			break
		}
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
				v.Values = nil
			}
			out = append(out, d.Tok.String()+" "+text(spec))
		}
	}
	return out
}

// onLine writes a declaration on one line, in which the compiler still reads the same.
func onLine(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		before := out.String()
		switch {
		case line == "":
			continue
		case before == "":
		case strings.HasSuffix(before, "{") || strings.HasSuffix(before, "(") || strings.HasSuffix(before, ",") || strings.HasPrefix(line, "}"):
			out.WriteString(" ")
		default:
			out.WriteString("; ")
		}
		out.WriteString(line)
	}
	return out.String()
}
