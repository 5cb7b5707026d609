package main

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// mutant is one change of one file.
type mutant struct {
	file     string // below the root of the module, with slashes
	line, to int    // lines of the changed code; of a statement with a body, the lines before the body
	fn       string // function or method, as in "Type.Method"
	kind     string // the change of the text
	text     string // the changed code, in one line
	nth      int    // of the same kind and text in the function, from 1
	edits    []edit
	uses     []types.Object // variables and packages that may lose their only use
	tests    []target
	in       *file
	decl     *ast.FuncDecl // the function around it
}

// edit replaces the bytes from start to end of a file by a text.
type edit struct {
	start, end int
	text       string
}

// key names the mutant independently of where in its function it is.
func (m *mutant) key() string {
	key := fmt.Sprintf("%s %s %s: %s", path.Dir(m.file), cmp.Or(m.fn, "-"), m.kind, m.text)
	if m.nth > 1 {
		key += fmt.Sprintf(" #%d", m.nth)
	}
	return key
}

func (m *mutant) String() string { return fmt.Sprintf("%s:%d: %s", m.file, m.line, m.key()) }

// mutants returns the mutants of all places that compile, and the number of those that do not.
func mutants(ctx context.Context, places []*place, o options, changed lineSet) (out []*mutant, broken int, err error) {
	selected := func(file string) bool {
		return (o.only == "" || file == o.only || strings.HasPrefix(file, path.Clean(o.only)+"/")) && (changed == nil || changed[file] != nil)
	}
	// Compiling a package's imports takes time.
	concerned := func(p *place) bool {
		under := o.only == "" || p.dir == path.Clean(o.only) || p.dir == path.Dir(o.only) || strings.HasPrefix(p.dir, path.Clean(o.only)+"/")
		for file := range changed {
			if under && path.Dir(file) == p.dir {
				return true
			}
		}
		return under && changed == nil
	}
	dirs := map[string]bool{}
	for _, p := range places {
		dirs[p.dir] = dirs[p.dir] || concerned(p)
	}
	pattern, err := regexp.Compile(o.match)
	if err != nil {
		return nil, 0, err
	}
	packages, err := load(ctx, slices.DeleteFunc(slices.Clone(places), func(p *place) bool { return !dirs[p.dir] }))
	if err != nil {
		return nil, 0, err
	}
	for _, p := range packages {
		for _, f := range p.files {
			found := mutantsOf(p, f, places, o.errors)
			if !selected(f.name) {
				continue
			}
			for _, m := range found {
				if changed != nil && !changed.touches(m.file, m.line, m.to) || !pattern.MatchString(m.String()) {
					continue
				}
				if p.compiles(f, m) {
					out = append(out, m)
				} else {
					broken++
				}
			}
		}
	}
	for _, p := range places {
		if dirs[p.dir] && !p.used {
			return nil, 0, fmt.Errorf("%s: there is nothing to mutate", p.text)
		}
	}
	return out, broken, nil
}

// mutantsOf returns the mutants of those functions of a file that belong to a place, in the order of the
// text.
func mutantsOf(p *pkg, f *file, places []*place, withErrors bool) (out []*mutant) {
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		name := nameOf(fn)
		at := slices.IndexFunc(places, func(q *place) bool {
			return q.dir == p.dir && (q.file == "" || path.Join(q.dir, q.file) == f.name) && (q.fn == "" || q.fn == name)
		})
		if at < 0 {
			continue
		}
		places[at].used = true
		if len(places[at].tests) == 0 {
			continue
		}
		c := &collector{pkg: p, file: f, fn: fn, errors: withErrors}
		c.walk()
		slices.SortStableFunc(c.out, func(a, b *mutant) int { return cmp.Compare(a.edits[0].start, b.edits[0].start) })
		seen := map[string]int{}
		for _, m := range c.out {
			m.fn, m.tests = name, places[at].tests
			seen[m.kind+m.text]++
			m.nth = seen[m.kind+m.text]
		}
		out = append(out, c.out...)
	}
	return out
}

// nameOf returns the name of a function, or of a method after the name of its type.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	of := fn.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		default:
			return types.ExprString(of) + "." + fn.Name.Name
		}
	}
}

// collector finds the mutants of a function.
type collector struct {
	*pkg
	file   *file
	fn     *ast.FuncDecl
	errors bool
	stack  []ast.Node // of those around the present one
	out    []*mutant
}

func (c *collector) walk() {
	ast.Inspect(c.fn.Body, func(n ast.Node) bool {
		if n == nil {
			c.stack = c.stack[:len(c.stack)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
			c.statements(n.List)
		case *ast.CaseClause:
			c.caseOf(n)
			c.stack = append(c.stack, n)
			c.statements(n.Body)
			c.stack = c.stack[:len(c.stack)-1]
		case *ast.CommClause:
			c.statements(n.Body)
		case *ast.IfStmt:
			c.condition(n)
		case *ast.BinaryExpr:
			c.operands(n)
		case *ast.CallExpr:
			c.call(n)
			c.functions(n.Args...)
		case *ast.KeyValueExpr:
			c.functions(n.Value)
		case *ast.ReturnStmt:
			c.result(n)
		}
		c.stack = append(c.stack, n)
		return true
	})
}

// statements removes each statement of a list that can do without.
func (c *collector) statements(list []ast.Stmt) {
	if c.alone(list) {
		return
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ReturnStmt, *ast.BranchStmt, *ast.ForStmt, *ast.RangeStmt:
			if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE || c.logs(s) {
				continue
			}
			c.remove(s)
		case *ast.IfStmt:
			// With a statement before the condition, never to hold is the smaller change: see condition.
			if s.Else == nil && (s.Init == nil && !c.passesOn(s) || s.Init != nil && c.aboutError(s.Cond) || c.errors) {
				c.remove(s)
			}
		}
	}
}

// alone reports whether a list is one statement, whose removal is the same as removing the statement around
// it.
func (c *collector) alone(list []ast.Stmt) bool {
	if len(c.stack) == 0 || len(list) != 1 {
		return false
	}
	switch around := c.stack[len(c.stack)-1].(type) {
	case *ast.IfStmt:
		_, returns := list[0].(*ast.ReturnStmt)
		return around.Else == nil && (returns || around.Init == nil)
	case *ast.CaseClause:
		return around.List != nil
	case *ast.FuncLit:
		return true
	}
	return false
}

func (c *collector) remove(n ast.Node) { c.change("delete", n, n, "") }

// caseOf lets a case never be the one that is taken.
func (c *collector) caseOf(n *ast.CaseClause) {
	if s, ok := c.stack[len(c.stack)-2].(*ast.SwitchStmt); ok && s.Tag == nil && len(n.List) == 1 {
		c.change("never", n, n.List[0], "false && ("+c.file.source(n.List[0])+")")
		return
	}
	c.remove(n)
}

// condition makes a condition false if that is something else than removing the statement, and reverses one
// that decides between two things. A test that notices that a condition is never true also notices the
// reverse.
func (c *collector) condition(s *ast.IfStmt) {
	if !c.errors && c.aboutError(s.Cond) {
		return
	}
	if s.Init != nil || s.Else != nil {
		c.change("never", s, s.Cond, "false && ("+c.file.source(s.Cond)+")")
	}
	if s.Else != nil {
		c.change("negate", s, s.Cond, "!("+c.file.source(s.Cond)+")")
	}
}

// operands drops one operand of && and ||.
func (c *collector) operands(b *ast.BinaryExpr) {
	if b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	for _, pair := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
		if c.errors || !c.aboutError(pair[0]) {
			c.change("drop "+squeeze(c.file.source(pair[0]))+" from", b, b, "("+c.file.source(pair[1])+")")
		}
	}
}

// call drops one call from errors that are joined, and replaces a call of this module by the argument that it
// returns changed.
func (c *collector) call(e *ast.CallExpr) {
	name := types.ExprString(e.Fun)
	if (name == "errors.Join" || name == "cmp.Or") && len(e.Args) > 1 {
		for _, arg := range e.Args {
			if _, ok := arg.(*ast.CallExpr); ok && c.isError(arg) {
				c.change("drop "+squeeze(c.file.source(arg))+" from", e, arg, "nil")
			}
		}
	}
	callee := c.callee(e)
	if callee == nil || callee.Pkg() == nil || !c.ours(callee.Pkg().Path()) {
		return
	}
	given := e.Args
	if method, ok := e.Fun.(*ast.SelectorExpr); ok && c.info.Selections[method] != nil {
		given = append(slices.Clone(given), method.X)
	}
	for _, arg := range given {
		if types.Identical(c.info.TypeOf(arg), c.info.TypeOf(e)) && !c.isError(e) {
			c.change("unwrap "+squeeze(c.file.source(arg))+" from", e, e, c.file.source(arg))
		}
	}
}

// functions gives no function in place of a method that is given as a value.
func (c *collector) functions(given ...ast.Expr) {
	for _, e := range given {
		method, ok := e.(*ast.SelectorExpr)
		if s := c.info.Selections[method]; ok && s != nil && s.Kind() == types.MethodVal {
			c.change("no", e, e, "nil")
		}
	}
}

// result returns no error in place of a call's. A return in a condition is left to the condition.
func (c *collector) result(r *ast.ReturnStmt) {
	for i := len(c.stack) - 1; i >= 0; i-- {
		switch c.stack[i].(type) {
		case *ast.IfStmt:
			return
		case *ast.FuncLit:
			i = 0
		}
	}
	for _, e := range r.Results {
		if call, ok := e.(*ast.CallExpr); ok && c.isError(e) && !slices.Contains([]string{"fmt.Errorf", "errors.New"}, types.ExprString(call.Fun)) {
			c.change("no error from", e, e, "nil")
		}
	}
}

// change adds the mutant that has text in place of node n, which belongs to the node shown.
func (c *collector) change(kind string, shown, n ast.Node, text string) {
	from, to := c.set.Position(shown.Pos()), c.set.Position(head(shown))
	m := &mutant{in: c.file, decl: c.fn, file: c.file.name, line: from.Line, to: to.Line, kind: kind, text: squeeze(string(c.file.text[from.Offset:to.Offset]))}
	if to.Offset < c.set.Position(shown.End()).Offset {
		m.text += " …"
	}
	if around, ok := c.around().(*ast.KeyValueExpr); ok && kind == "no" {
		m.text += " as " + c.file.source(around.Key)
	}
	m.edits = []edit{{c.set.Position(n.Pos()).Offset, c.set.Position(n.End()).Offset, text}}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && c.info.Uses[id] != nil {
			m.uses = append(m.uses, c.info.Uses[id])
		}
		return true
	})
	if _, ok := n.(ast.Stmt); ok && text == "" {
		m.edits[0].text = c.keep(n, m.uses)
	}
	c.out = append(c.out, m)
}

// around returns the node around the present one, nil for none.
func (c *collector) around() ast.Node {
	if len(c.stack) == 0 {
		return nil
	}
	return c.stack[len(c.stack)-1]
}

// head returns the end of a statement, or the beginning of its body if it has one.
func head(n ast.Node) token.Pos {
	switch s := n.(type) {
	case *ast.IfStmt:
		return s.Body.Pos()
	case *ast.ForStmt:
		return s.Body.Pos()
	case *ast.RangeStmt:
		return s.Body.Pos()
	case *ast.CaseClause:
		return s.Colon + 1
	}
	return n.End()
}

// squeeze puts a text into one line, not too long.
func squeeze(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 140 {
		return string(r[:140]) + "…"
	}
	return text
}
