package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pkg is a package with types.
type pkg struct {
	dir, path, module string // dir is below the root of the module
	set               *token.FileSet
	files             []*file
	info              *types.Info
	config            types.Config
}

// file is a file of a package.
type file struct {
	name string // below the root of the module
	text []byte
	ast  *ast.File
	set  *token.FileSet
}

func (f *file) source(n ast.Node) string {
	return string(f.text[f.offset(n.Pos()):f.offset(n.End())])
}

// listed is the output of go list about a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Path, Dir string }
}

// load reads the packages of places, each once and in the order of their first place.
func load(ctx context.Context, places []*place) ([]*pkg, error) {
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module", "--"}
	var dirs []string
	for _, p := range places {
		if !slices.Contains(dirs, p.dir) {
			dirs = append(dirs, p.dir)
			args = append(args, "./"+p.dir)
		}
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	var text bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stdout, cmd.Stderr = &text, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("listing the packages: %w", err)
	}
	exports, wanted := map[string]string{}, map[string]listed{}
	for d := json.NewDecoder(&text); ; {
		var l listed
		err := d.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			rel, err := filepath.Rel(l.Module.Dir, l.Dir)
			if err != nil {
				return nil, err
			}
			wanted[filepath.ToSlash(rel)] = l
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var out []*pkg
	for _, dir := range dirs {
		l, ok := wanted[dir]
		if !ok {
			return nil, fmt.Errorf("there is no package in %s", dir)
		}
		p := &pkg{dir: dir, path: l.ImportPath, module: l.Module.Path, set: set, config: types.Config{Importer: imports}}
		if err := p.parse(l); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// parse reads the files of the package that are not generated, and determines the types of all.
func (p *pkg) parse(l listed) error {
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return err
		}
		f := &file{name: path.Join(p.dir, name), text: text, set: p.set}
		if f.ast, err = parser.ParseFile(p.set, f.name, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		p.files = append(p.files, f)
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := p.config.Check(p.path, p.set, p.syntax(nil, nil), p.info); err != nil {
		return err
	}
	p.files = slices.DeleteFunc(p.files, func(f *file) bool { return ast.IsGenerated(f.ast) })
	return nil
}

// syntax returns the files of the package, one of them replaced.
func (p *pkg) syntax(old *file, with *ast.File) (out []*ast.File) {
	for _, f := range p.files {
		if f == old {
			out = append(out, with)
		} else {
			out = append(out, f.ast)
		}
	}
	return out
}

// compiles reports whether the package compiles with a mutant. An import that the mutant does not use any
// more becomes a blank one.
func (p *pkg) compiles(f *file, m *mutant) bool {
	text := m.apply()
	tree, err := parser.ParseFile(p.set, f.name, text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	ok, unused := true, []token.Pos{}
	config := p.config
	config.Error = func(err error) {
		e := types.Error{}
		if errors.As(err, &e) && strings.HasSuffix(e.Msg, "imported and not used") {
			unused = append(unused, e.Pos)
			return
		}
		ok = false
	}
	_, _ = config.Check(p.path, p.set, p.syntax(f, tree), nil) // Error has been called for each mistake
	for _, at := range unused {
		for i, spec := range f.ast.Imports {
			if pos := tree.Imports[i]; pos.Pos() == at || pos.Path.Pos() == at {
				start, end := p.set.Position(spec.Pos()).Offset, p.set.Position(spec.Path.Pos()).Offset
				m.edits = append(m.edits, edit{start, end, "_ "})
			}
		}
	}
	return ok
}

// apply returns the text of the mutated file.
func (m *mutant) apply() []byte { return applied(m.in.text, m.edits) }

// keep returns a statement that uses the local variables that a removed statement used, or "" for none.
func (p *pkg) keep(n ast.Node, uses []types.Object) string {
	var names []string
	for _, o := range uses {
		v, ok := o.(*types.Var)
		if !ok || v.IsField() || v.Parent() == nil || v.Parent() == v.Pkg().Scope() || v.Pos() >= n.Pos() && v.Pos() < n.End() {
			continue
		}
		if !slices.Contains(names, v.Name()) {
			names = append(names, v.Name())
		}
	}
	if _, ok := n.(*ast.CaseClause); ok || len(names) == 0 {
		return ""
	}
	return strings.Repeat(", _", len(names))[2:] + " = " + strings.Join(names, ", ")
}

// ours reports whether a package belongs to the module.
func (p *pkg) ours(path string) bool {
	return path == p.module || strings.HasPrefix(path, p.module+"/")
}

// callee returns the function or method that is called, or the variable or field that has it, or nil if it is
// not known by name.
func (p *pkg) callee(e *ast.CallExpr) types.Object {
	id, ok := ast.Unparen(e.Fun).(*ast.Ident)
	if sel, is := ast.Unparen(e.Fun).(*ast.SelectorExpr); is {
		id, ok = sel.Sel, true
	}
	if !ok {
		return nil
	}
	switch o := p.info.Uses[id].(type) {
	case *types.Func, *types.Var:
		return o
	}
	return nil
}

var errorType = types.Universe.Lookup("error").Type()

func (p *pkg) isError(e ast.Expr) bool {
	t := p.info.TypeOf(e)
	return t != nil && types.Identical(t, errorType)
}

// aboutError reports whether a condition only asks whether there is an error.
func (p *pkg) aboutError(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	return ok && (b.Op == token.NEQ || b.Op == token.EQL) && p.isError(b.X) && types.ExprString(b.Y) == "nil"
}

// passesOn reports whether a statement does nothing but return if there is an error.
func (p *pkg) passesOn(s *ast.IfStmt) bool {
	if !p.aboutError(s.Cond) || len(s.Body.List) != 1 || s.Cond.(*ast.BinaryExpr).Op != token.NEQ {
		return false
	}
	_, ok := s.Body.List[0].(*ast.ReturnStmt)
	return ok
}

// loggers are the packages whose calls write text for logs only.
var loggers = []string{"log", "log/slog", "github.com/hashicorp/go-hclog"}

func (p *pkg) logs(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	f := p.callee(call)
	return f != nil && f.Pkg() != nil && slices.Contains(loggers, f.Pkg().Path())
}
