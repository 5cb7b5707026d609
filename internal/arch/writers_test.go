package arch

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
	"testing"
)

// writers are the packages that write files without safefile, with the reason. What else writes goes through
// safefile, where no file is ever half written under its name and private files are private from the start.
var writers = map[string]string{
	"internal/base/safefile":       "writes for all others",
	"state/store/local":            "keeps a locked file open, and a journal that grows",
	"internal/install":             "downloads and unpacks packages, which contain no values",
	"internal/install/fetch":       "downloads modules, which contain no values, and lends a key to ssh in a file that is removed",
	"internal/install/schemacache": "keeps schemas, which contain no values, and a cache need not be durable",
	"cmd/mayfly/internal/profile":  "writes profiles, which have names of functions and numbers, while they are taken",
	"internal/base/processgroup":   "opens the terminal",
	"examples/library":             "writes its configuration into a new directory",
	"internal/mutate":              "writes programs without guards, in a directory of its own",
	"internal/provider/protogen":   "writes generated code",
	"internal/testing/...":         "tools and servers of tests",
	"tests/...":                    "tests",
	"benchmarks":                   "measures other programs",
}

// TestFilesAreWrittenInOnePlace refuses calls of the standard library, and of renameio, that write files.
func TestFilesAreWrittenInOnePlace(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !writesFile(call) {
				return true
			}
			entry := s.pkg
			for _, tree := range []string{"internal/testing/", "tests/"} {
				if strings.HasPrefix(s.pkg, tree) {
					entry = tree + "..."
				}
			}
			used[entry] = true
			if writers[entry] == "" {
				t.Errorf("%s: %s writes a file: use a function of safefile", s.at(call.Pos()), types.ExprString(call.Fun))
			}
			return true
		})
	}
	for pkg := range writers {
		if !used[pkg] {
			t.Errorf("%s writes no files: the exception is needed no more", pkg)
		}
	}
}

// writesFile reports whether a call opens a file for writing or replaces its content.
func writesFile(call *ast.CallExpr) bool {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := fun.X.(*ast.Ident)
	if !ok {
		return false
	}
	switch fun.Sel.Name {
	case "WriteFile", "Create", "CreateTemp", "NewPendingFile", "TempFile":
		return of.Name == "os" || of.Name == "root" || of.Name == "renameio" || of.Name == "ioutil"
	case "OpenFile":
		if len(call.Args) < 2 || of.Name != "os" && of.Name != "root" {
			return false
		}
		flags := types.ExprString(call.Args[1])
		for _, flag := range []string{"O_WRONLY", "O_RDWR", "O_CREATE", "O_APPEND", "O_TRUNC"} {
			if strings.Contains(flags, flag) {
				return true
			}
		}
	}
	return false
}

func TestWritesFile(t *testing.T) {
	for text, want := range map[string]bool{
		`os.WriteFile(p, b, 0o600)`: true, `os.Create(p)`: true, `os.CreateTemp(d, "x")`: true,
		`os.OpenFile(p, os.O_WRONLY|flag, 0)`: true, `root.OpenFile(p, os.O_RDWR, 0)`: true,
		`os.OpenFile(p, os.O_RDONLY|plain, 0)`: false, `safefile.Create(p)`: false, `os.Open(p)`: false, `zip.Create(p)`: false,
	} {
		s, err := parse(path.Join("x", "x.go"), "package x\nvar _, _ = "+text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		got := false
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			got = got || ok && writesFile(call)
			return true
		})
		if got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}
