package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// switched is a package that has all its mutants in it, so that it is compiled once for all of them. Each is
// a copy of its function, with a number in its name. The function itself begins with a switch that calls the
// copy with the number in a file, if there is one.
type switched struct {
	dir     string    // of the package, below the root of the module
	mutants []*mutant // mutant i has number i+1
	decls   []*ast.FuncDecl
	where   string // directory of the files below
}

// Files of a package with mutants.
const (
	overlayFile  = "overlay.json"
	selectedFile = "selected" // the number of the mutant that is to run, or recording
	reachedFile  = "reached"  // numbers of the functions that were called, one in each line
	recording    = "record"
)

// group puts mutants together by package. where is a directory for files.
func group(all []*mutant, where string) (out []*switched) {
	byDir := map[string]*switched{}
	for _, m := range all {
		dir := path.Dir(m.file)
		s := byDir[dir]
		if s == nil {
			s = &switched{dir: dir, where: filepath.Join(where, fmt.Sprintf("switched%d", len(out)))}
			byDir[dir], out = s, append(out, s)
		}
		s.mutants = append(s.mutants, m)
		if !slices.Contains(s.decls, m.decl) {
			s.decls = append(s.decls, m.decl)
		}
	}
	return out
}

// write writes the files of the package and the description of the overlay that puts them in place.
func (s *switched) write(root string) error {
	if err := os.Mkdir(s.where, 0o700); err != nil {
		return err
	}
	replace := map[string]string{}
	add := func(name string, text []byte) error {
		to := filepath.Join(s.where, path.Base(name))
		replace[filepath.Join(root, filepath.FromSlash(name))] = to
		return os.WriteFile(to, text, 0o600)
	}
	var files []*file
	for _, m := range s.mutants {
		if !slices.Contains(files, m.in) {
			files = append(files, m.in)
		}
	}
	for _, f := range files {
		if err := add(f.name, s.text(f)); err != nil {
			return err
		}
	}
	if err := add(path.Join(s.dir, "switch__mutants.go"), s.selector(files[0].ast.Name.Name)); err != nil {
		return err
	}
	about, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	return errors.Join(s.choose("0"), os.WriteFile(s.path(overlayFile), about, 0o600))
}

func (s *switched) path(name string) string { return filepath.Join(s.where, name) }

// choose makes the programs that start from now on run a mutant, or record.
func (s *switched) choose(number string) error {
	return os.WriteFile(s.path(selectedFile), []byte(number), 0o600)
}

// reached returns the functions that were called while recording, and forgets them.
func (s *switched) reached() (map[*ast.FuncDecl]bool, error) {
	text, err := os.ReadFile(s.path(reachedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[*ast.FuncDecl]bool{}
	for line := range strings.FieldsSeq(string(text)) {
		var n int
		if _, err := fmt.Sscan(line, &n); err != nil || n < 0 || n >= len(s.decls) {
			return nil, fmt.Errorf("%s: %q is not the number of a function", s.path(reachedFile), line)
		}
		out[s.decls[n]] = true
	}
	return out, os.Remove(s.path(reachedFile))
}

// selector returns the text of the file that reads which mutant is to run.
func (s *switched) selector(name string) []byte {
	return fmt.Appendf(nil, `package %s

import (
	os__ "os"
	strconv__ "strconv"
	sync__ "sync"
)

// The record is opened here because a test may leave no room for more files.
var selected__, record__ = func() (int, *os__.File) {
	text, err := os__.ReadFile(%q)
	if err != nil {
		panic(err)
	}
	if string(text) != %q {
		n, _ := strconv__.Atoi(string(text))
		return n, nil
	}
	f, err := os__.OpenFile(%q, os__.O_APPEND|os__.O_CREATE|os__.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return 0, f
}()

var reached__ sync__.Map

func mutant__(fn int) int {
	if record__ != nil {
		if _, again := reached__.LoadOrStore(fn, true); !again {
			_, _ = record__.WriteString(strconv__.Itoa(fn) + "\n")
		}
	}
	return selected__
}
`, name, s.path(selectedFile), recording, s.path(reachedFile))
}

// text returns the text of a file with its mutants.
func (s *switched) text(f *file) []byte {
	var edits []edit
	var copies bytes.Buffer
	for n, fn := range s.decls {
		var cases strings.Builder
		names, renamed := parameters(f, fn)
		for i, m := range s.mutants {
			if m.decl != fn || m.in != f {
				continue
			}
			fmt.Fprintf(&cases, "case %d: %s; ", i+1, call(fn, i+1, names))
			fmt.Fprintf(&copies, "\n%s\n", numbered(m, i+1))
		}
		if cases.Len() == 0 {
			continue
		}
		at := f.offset(fn.Body.Lbrace) + 1
		edits = append(append(edits, renamed...), edit{at, at, fmt.Sprintf(" switch mutant__(%d) { %s}; ", n, cases.String())})
	}
	return append(applied(f.text, edits), copies.Bytes()...)
}

// parameters returns the names of a function's parameters, the receiver first if there is one, and the edits
// that give names to those without.
func parameters(f *file, fn *ast.FuncDecl) (names []string, edits []edit) {
	named := func(list *ast.FieldList) {
		for _, field := range list.List {
			for _, id := range field.Names {
				name := id.Name
				if name == "_" {
					name = fmt.Sprintf("p%d__", len(names))
					edits = append(edits, edit{f.offset(id.Pos()), f.offset(id.End()), name})
				}
				names = append(names, name)
			}
			if len(field.Names) == 0 {
				name := fmt.Sprintf("p%d__", len(names))
				edits = append(edits, edit{f.offset(field.Type.Pos()), f.offset(field.Type.Pos()), name + " "})
				names = append(names, name)
			}
		}
	}
	if fn.Recv != nil {
		named(fn.Recv)
	}
	named(fn.Type.Params)
	return names, edits
}

// call returns the statement by which a function calls its copy with a number.
func call(fn *ast.FuncDecl, number int, names []string) string {
	text := fmt.Sprintf("%s__%d", fn.Name.Name, number)
	if fn.Recv != nil {
		text, names = names[0]+"."+text, names[1:]
	}
	if fn.Type.TypeParams != nil {
		var types []string
		for _, field := range fn.Type.TypeParams.List {
			for _, id := range field.Names {
				types = append(types, id.Name)
			}
		}
		text += "[" + strings.Join(types, ", ") + "]"
	}
	text += "(" + strings.Join(names, ", ")
	if list := fn.Type.Params.List; len(list) > 0 {
		if _, variadic := list[len(list)-1].Type.(*ast.Ellipsis); variadic {
			text += "..."
		}
	}
	if fn.Type.Results == nil {
		return text + "); return"
	}
	return "return " + text + ")"
}

// numbered returns the copy of the function in which a mutant is.
func numbered(m *mutant, number int) []byte {
	start, end := m.in.offset(m.decl.Pos()), m.in.offset(m.decl.End())
	name := m.in.offset(m.decl.Name.End())
	edits := []edit{{name - start, name - start, fmt.Sprintf("__%d", number)}}
	for _, e := range m.edits {
		if e.start >= start && e.end <= end { // the others are of imports, which the function itself uses
			edits = append(edits, edit{e.start - start, e.end - start, e.text})
		}
	}
	return applied(m.in.text[start:end], edits)
}

// applied returns a text with edits.
func applied(text []byte, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return b.start - a.start })
	text = slices.Clone(text)
	for _, e := range edits {
		text = slices.Replace(text, e.start, e.end, []byte(e.text)...)
	}
	return text
}

func (f *file) offset(at token.Pos) int { return f.set.Position(at).Offset }
