package arch

import (
	"cmp"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxReceiver bounds the methods that a type declares itself: what has more does several things.
const maxReceiver = 40

// maxPromoted bounds the methods that a type declares itself and those that it gets from the types of this
// module that it embeds: embedding must not hide a type that does everything.
const maxPromoted = 60

// TestReceivers holds types to a number of methods, which says more about what takes part in everything than
// lines do. With -v, it prints the types that have many methods if functions of their package that take one
// as the first parameter count as well.
func TestReceivers(t *testing.T) {
	types := methodSets(t)
	own, all := map[string]int{}, map[string]int{}
	for name, m := range types {
		own[name] = len(m.own)
		all[name] = len(promoted(types, name, map[string]bool{}))
	}
	checkReceivers(t, "methods", own, maxReceiver)
	checkReceivers(t, "own and promoted methods", all, maxPromoted)
	taking := takingFirst(t)
	for _, name := range slices.Sorted(maps.Keys(taking)) {
		if n := taking[name]; own[name]+n > maxReceiver && n > 1 {
			t.Logf("%s has %d methods, and %d functions take it first", name, own[name], n)
		}
	}
}

// takingFirst counts the functions whose first parameter is a pointer to a type of their package, by the
// package and name of that type.
func takingFirst(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || len(f.Type.Params.List) == 0 {
				continue
			}
			if star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr); ok && receiverName(star) != "" {
				out[s.pkg+"."+receiverName(star)]++
			}
		}
	}
	return out
}

// checkReceivers holds the counts of methods to a limit. what is counted, for messages.
func checkReceivers(t *testing.T, what string, counts map[string]int, limit int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n > limit {
			t.Errorf("%s has %d %s, more than %d: take out what has a name of its own", name, n, what, limit)
		}
	}
}

// methodSet is what a type declares: its methods, also those of an interface, and the types of this module
// that it embeds.
type methodSet struct {
	own      map[string]bool
	embedded []string
}

// methodSets returns the declared types of the module by package and name.
func methodSets(t *testing.T) map[string]*methodSet {
	t.Helper()
	types := map[string]*methodSet{}
	of := func(name string) *methodSet {
		if types[name] == nil {
			types[name] = &methodSet{own: map[string]bool{}}
		}
		return types[name]
	}
	for _, s := range sources(t) {
		if s.test || s.generated {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					of(s.pkg + "." + receiverName(d.Recv.List[0].Type)).own[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						of(s.pkg+"."+ts.Name.Name).embed(s, ts.Type)
					}
				}
			}
		}
	}
	return types
}

// embed adds what a type's definition declares. Interfaces have their methods here.
func (m *methodSet) embed(s *source, definition ast.Expr) {
	var fields *ast.FieldList
	inInterface := false
	switch d := definition.(type) {
	case *ast.StructType:
		fields = d.Fields
	case *ast.InterfaceType:
		fields, inInterface = d.Methods, true
	default:
		return
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 {
			if name := s.typeName(f.Type); name != "" {
				m.embedded = append(m.embedded, name)
			}
		} else if inInterface {
			m.own[f.Names[0].Name] = true
		}
	}
}

// typeName returns the package and name of a type of this module, "" for any other.
func (s *source) typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		if name := receiverName(e); name != "" {
			return s.pkg + "." + name
		}
		return ""
	}
	for _, spec := range s.file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		in, ok := strings.CutPrefix(imported+"/", module+"/")
		in = cmp.Or(strings.TrimSuffix(in, "/"), ".")
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if x, is := sel.X.(*ast.Ident); ok && is && x.Name == name {
			return in + "." + sel.Sel.Name
		}
	}
	return ""
}

// promoted returns the names of the methods that a type has itself or gets from types that it embeds.
func promoted(types map[string]*methodSet, name string, seen map[string]bool) map[string]bool {
	m, names := types[name], map[string]bool{}
	if m == nil || seen[name] {
		return names
	}
	seen[name] = true
	maps.Copy(names, m.own)
	for _, e := range m.embedded {
		maps.Copy(names, promoted(types, e, seen))
	}
	return names
}

// receiverName returns the name of the type in a receiver such as *Cell[T].
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
