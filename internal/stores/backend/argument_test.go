package backend_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/kinds"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// withoutEffect begins the description of an argument that is accepted and not used.
const withoutEffect = "accepted for compatibility, without effect"

// TestArgumentsAreUsed looks for the name of each argument in the code that opens stores: an argument that
// nothing reads must say so. It also requires that each, and each block, has a description.
func TestArgumentsAreUsed(t *testing.T) {
	shared := texts(t, "argument.go", "configure.go", "../../base/cloud/azure/*.go", "../../base/cloud/aws/arguments.go")
	dirs := map[string]string{"cloud": "tfe", "remote": "tfe"}
	for kind, k := range kinds.All() {
		file := "../" + cmp.Or(dirs[kind], kind) + "/open.go"
		if kind == backend.Local || kind == "inmem" {
			file = "../kinds/" + kind + ".go"
		}
		read := texts(t, file)
		var visit func(path string, b *schema.Block)
		attribute := func(path, name string, a *schema.Attribute) {
			used := read[name] || shared[name]
			for _, end := range []string{"_endpoint", "endpoint"} { // endpoint puts these together
				used = used || kind == "s3" && strings.HasSuffix(name, end) && read[strings.TrimSuffix(name, end)]
			}
			if rest, ok := strings.CutPrefix(name, "assume_role_"); ok { // as does roleOf
				used = used || kind == "oss" && read[rest]
			}
			idle := strings.HasPrefix(a.Description, withoutEffect)
			switch {
			case a.Description == "":
				t.Errorf("%s: the argument %q has no description", kind, path+name)
			case !used && !idle:
				t.Errorf("%s: nothing reads the argument %q, and its description does not begin with %q", kind, path+name, withoutEffect)
			}
		}
		visit = func(path string, b *schema.Block) {
			for name, a := range b.Attributes {
				attribute(path, name, a)
				if a.Nested != nil {
					visit(path+name+".", &schema.Block{Attributes: a.Nested.Attributes})
				}
			}
			for name, n := range b.Blocks {
				if n.Description == "" {
					t.Errorf("%s: the block %q has no description", kind, path+name)
				}
				visit(path+name+".", &n.Block)
			}
		}
		visit("", k.Block)
	}
}

// texts returns the string literals of files.
func texts(t *testing.T, patterns ...string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Fatalf("%s is no file", pattern)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if kv, ok := n.(*ast.KeyValueExpr); ok && !strings.HasSuffix(name, "/open.go") { // the key may declare an argument
					ast.Inspect(kv.Value, func(n ast.Node) bool { return note(out, n) })
					return false
				}
				return note(out, n)
			})
		}
	}
	return out
}

// note adds a string literal.
func note(out map[string]bool, n ast.Node) bool {
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		out[text] = true
	}
	return true
}
