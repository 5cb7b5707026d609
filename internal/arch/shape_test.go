package arch

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The limits of shape. Code is read in pieces, and these are how large a piece may be.
const (
	maxFileLines     = 500
	maxFunctionLines = 80
	maxMethods       = 5
)

// wide are the interfaces that may have more methods, with the reason.
var wide = map[string]string{
	"provider.Reader":      "mirrors the operations of the plugin protocol",
	"provider.Catalog":     "mirrors the schema message of the plugin protocol",
	"provider.StateStores": "mirrors the operations of the plugin protocol",
	"provider.Provider":    "is a Reader and a Changer, which callers take one of",
	"processes.plugin":     "mirrors the parts of the plugin protocol that a provider may lack",
	"eval.Schemas":         "asks for each kind of schema that a catalog has",
	"document.Medium":      "has three parts, each of which a medium takes from a type of its own",
	"document.LogFile":     "is the file that a journal is written to, and the end of that journal",
	"state.Run":            "is a Journal and Rows, which callers take one of, and their end",
}

func TestShape(t *testing.T) {
	types := methodSets(t)
	for _, s := range sources(t) {
		if s.generated {
			continue
		}
		if s.lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: split it by topic", s.name, s.lines, maxFileLines)
		}
		if s.test {
			continue
		}
		for _, f := range functions(s) {
			if f.lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", s.at(f.pos), f.name, f.lines, maxFunctionLines)
			}
		}
		for name, it := range interfaces(s) {
			if n := methods(types, s, it); n > maxMethods && wide[name] == "" {
				t.Errorf("%s: interface %s has %d methods, more than %d: slice it by what callers need", s.at(it.Pos()), name, n, maxMethods)
			}
		}
	}
}

type function struct {
	name  string
	pos   token.Pos
	lines int
}

// functions returns the functions of a file, and the function literals outside of functions. The length is
// counted from the line of the keyword to that of the closing brace.
func functions(s *source) []function {
	var out []function
	length := func(n ast.Node) int { return s.set.Position(n.End()).Line - s.set.Position(n.Pos()).Line + 1 }
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			// The doc comment is part of the node but not of the function.
			n := s.set.Position(d.End()).Line - s.set.Position(d.Type.Func).Line + 1
			out = append(out, function{d.Name.Name, d.Type.Func, n})
		case *ast.GenDecl:
			ast.Inspect(d, func(n ast.Node) bool {
				f, ok := n.(*ast.FuncLit)
				if ok {
					out = append(out, function{"a function literal", f.Pos(), length(f)})
				}
				return !ok
			})
		}
	}
	return out
}

// interfaces returns the interface types of a file by package and name.
func interfaces(s *source) map[string]*ast.InterfaceType {
	out := map[string]*ast.InterfaceType{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if it, ok := spec.Type.(*ast.InterfaceType); ok {
				out[s.file.Name.Name+"."+spec.Name.Name] = it
			}
		}
		return true
	})
	return out
}

// methods counts the methods of an interface type, also those that it gets from the interfaces of this module
// that it embeds: types has these.
func methods(types map[string]*methodSet, s *source, it *ast.InterfaceType) int {
	declared, seen := methodSet{own: map[string]bool{}}, map[string]bool{}
	declared.embed(s, it)
	for _, name := range declared.embedded {
		maps.Copy(declared.own, promoted(types, name, seen))
	}
	return len(declared.own)
}

// TestDocumented checks that each package says what it is, and each exported identifier what it means.
func TestDocumented(t *testing.T) {
	packages, described := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		packages[s.pkg] = true
		described[s.pkg] = described[s.pkg] || s.file.Doc != nil
		if s.generated || s.file.Name.Name == "main" {
			continue
		}
		for _, d := range s.file.Decls {
			for _, id := range undocumented(d) {
				t.Errorf("%s: exported %s has no doc comment", s.at(id.Pos()), id.Name)
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		if !described[pkg] {
			t.Errorf("package %s has no doc comment: say what it is, what it may import, and what it must not know", pkg)
		}
	}
}

// undocumented returns the exported identifiers of a declaration that have no comment of their own. The
// comment of a group counts for the constants, variables and types in it.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && receiverExported(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var out []*ast.Ident
		for _, spec := range d.Specs {
			if !commented(spec) {
				out = append(out, exported(names(spec))...)
			}
		}
		return out
	}
	return nil
}

func receiverExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" { // the first name is the type, later ones are its parameters
			name = id.Name
		}
		return name == ""
	})
	return ast.IsExported(name)
}

func commented(spec ast.Spec) bool {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return spec.Doc != nil || spec.Comment != nil
	case *ast.ValueSpec:
		return spec.Doc != nil || spec.Comment != nil
	}
	return true
}

func names(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}

func exported(ids []*ast.Ident) []*ast.Ident {
	return slices.DeleteFunc(slices.Clone(ids), func(id *ast.Ident) bool { return !id.IsExported() })
}

// TestCounters shows the counters something to count.
func TestCounters(t *testing.T) {
	long := strings.Repeat("\tx()\n", maxFunctionLines)
	s, err := parse("p/p.go", "package p\n\n// F is long.\n//\n// Its comment does not count.\nfunc F() {\n"+long+"}\n\n"+
		"var g = func() {\n"+long+"\tx()\n}\n\ntype t struct{}\n\nfunc (t) M() {}\n\ntype T struct{}\n\nfunc (*T) M() {}\n\n"+
		"type I interface {\n\tA()\n\tB()\n\ti\n}\n\ntype i interface {\n\tB()\n\tC()\n}\n\nconst (\n\tC = 1 // of use\n\tD = 2\n)\n\n// The group.\nconst (\n\tE = 1\n)\n")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range functions(s) {
		got[f.name] = max(got[f.name], f.lines)
	}
	if want := map[string]int{"F": maxFunctionLines + 2, "a function literal": maxFunctionLines + 3, "M": 1}; !maps.Equal(got, want) {
		t.Errorf("functions: %v, want %v", got, want)
	}
	types := map[string]*methodSet{"p.i": {own: map[string]bool{"B": true, "C": true}}}
	if it := interfaces(s)["p.I"]; it == nil || methods(types, s, it) != 3 {
		t.Errorf("interface p.I: got %v, want one of 3 methods", it)
	}
	var missing []string
	for _, d := range s.file.Decls {
		for _, id := range undocumented(d) {
			missing = append(missing, id.Name)
		}
	}
	if want := []string{"T", "M", "I", "D"}; !slices.Equal(missing, want) {
		t.Errorf("undocumented: %q, want %q", missing, want)
	}
}
