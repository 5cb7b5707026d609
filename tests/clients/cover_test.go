package clients

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
)

// library is what the sources of terraform-exec say of options: which constructors give which type, which
// methods that type has, and which of them each kind of option demands.
type library struct {
	constructs map[string][]string // type of an option to its constructors
	methods    map[string][]string // type of an option to its configuring methods, with the type that they configure
	demands    map[string]string   // kind of option to the method that it demands
	takes      map[string]string   // method of the client to the kind of option that it takes
}

func readLibrary(t *testing.T) library {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/hashicorp/terraform-exec/tfexec").Output()
	ok(t, "finding the library", err)
	l := library{constructs: map[string][]string{}, methods: map[string][]string{}, demands: map[string]string{}, takes: map[string]string{}}
	for _, f := range parse(t, strings.TrimSpace(string(dir)), false) {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				l.function(d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					l.kind(s)
				}
			}
		}
	}
	return l
}

func (l *library) function(d *ast.FuncDecl) {
	switch {
	case d.Recv == nil:
		if r := d.Type.Results; d.Name.IsExported() && r != nil && len(r.List) == 1 {
			l.constructs[name(r.List[0].Type)] = append(l.constructs[name(r.List[0].Type)], d.Name.Name)
		}
	case strings.HasPrefix(d.Name.Name, "configure") && len(d.Type.Params.List) == 1:
		of := name(d.Recv.List[0].Type)
		l.methods[of] = append(l.methods[of], d.Name.Name+" "+name(d.Type.Params.List[0].Type))
	case d.Name.IsExported() && name(d.Recv.List[0].Type) == "Terraform":
		for _, p := range d.Type.Params.List {
			if e, variadic := p.Type.(*ast.Ellipsis); variadic {
				l.takes[d.Name.Name] = name(e.Elt)
			}
		}
	}
}

func (l *library) kind(s ast.Spec) {
	ts, isType := s.(*ast.TypeSpec)
	if !isType {
		return
	}
	if it, ok := ts.Type.(*ast.InterfaceType); ok && len(it.Methods.List) == 1 && len(it.Methods.List[0].Names) == 1 {
		if f, ok := it.Methods.List[0].Type.(*ast.FuncType); ok && len(f.Params.List) == 1 {
			l.demands[ts.Name.Name] = it.Methods.List[0].Names[0].Name + " " + name(f.Params.List[0].Type)
		}
	}
}

// name is the name of a type, through a pointer and a package.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return name(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func parse(t *testing.T, dir string, tests bool) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	ok(t, "listing "+dir, err)
	var out []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") != tests {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		ok(t, "parsing "+path, err)
		out = append(out, f)
	}
	return out
}

// called is what the tests of this package call: methods of clients, and under "KIND CONSTRUCTOR" the options
// that they pass to them.
func called(t *testing.T, l library) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, f := range parse(t, ".", true) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall {
				return true
			}
			method := name(call.Fun)
			selector, isSelector := call.Fun.(*ast.SelectorExpr)
			if !isSelector || name(selector.X) == "resource" { // the acceptance tests' own Test
				return true
			}
			out[method] = true
			for _, arg := range call.Args {
				if option, isCall := arg.(*ast.CallExpr); isCall {
					out[l.takes[method]+" "+name(option.Fun)] = true
				}
				if id, isName := arg.(*ast.Ident); isName && id.Name == "provider" { // the one of TestReattach
					out[l.takes[method]+" Reattach"] = true
				}
			}
			return true
		})
	}
	return out
}

// TestEverythingIsCalled finds the methods and options of terraform-exec that no test here uses.
func TestEverythingIsCalled(t *testing.T) {
	l := readLibrary(t)
	have := called(t, l)
	client := reflect.TypeFor[*tfexec.Terraform]()
	methods, options := 0, 0
	for i := range client.NumMethod() {
		methods++
		method := client.Method(i).Name
		if !have[method] {
			t.Errorf("no test calls %s", method)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(l.demands)) {
		for _, option := range slices.Sorted(maps.Keys(l.methods)) {
			if !slices.Contains(l.methods[option], l.demands[kind]) {
				continue
			}
			for _, constructor := range l.constructs[option] {
				options++
				if !have[kind+" "+constructor] {
					t.Errorf("no test passes %s as a %s", constructor, kind)
				}
			}
		}
	}
	if methods < 60 || options < 150 {
		t.Errorf("only %d methods and %d options were found: the search is broken", methods, options)
	}
	t.Logf("%d methods, %d options", methods, options)
}
