package arch

import (
	"go/ast"
	"strings"
	"testing"
)

// maxCommentColumns bounds a line of a comment, in columns, of which a tab takes tabColumns.
const (
	maxCommentColumns = 110
	tabColumns        = 4
)

// TestComments checks the form of comments: lines that can be read at a glance, and doc comments that begin
// with the name of what they describe, as readers and tools expect. Those of tests may state what holds
// instead.
func TestComments(t *testing.T) {
	for _, s := range sources(t) {
		if s.generated {
			continue
		}
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				position := s.set.Position(c.Pos())
				if tooWide(c.Text, position.Column-1) && position.Column-1 <= maxIndent {
					t.Errorf("%s:%d: the comment is wider than %d columns", s.name, position.Line, maxCommentColumns)
				}
			}
		}
		for _, d := range s.file.Decls {
			if name, first := docBegins(d); !s.test && name != "" && first != name {
				t.Errorf("%s: got a doc comment that begins with %q, want it to begin with %s", s.at(d.Pos()), first, name)
			}
		}
	}
}

// maxIndent is how many tabs a comment of its own may be indented by. A comment behind code has its column.
const maxIndent = 8

// tooWide reports whether a line comment after so many tabs is too wide. Preformatted text, which begins with
// a tab, and instructions to tools may be.
func tooWide(text string, tabs int) bool {
	body, ok := strings.CutPrefix(text, "// ")
	return ok && !strings.HasPrefix(body, "\t") && tabs*tabColumns+len([]rune(text)) > maxCommentColumns
}

// docBegins returns the name that a declaration declares and the first word of its doc comment; "" if it
// declares several names, has no comment, or one that begins with an article.
func docBegins(d ast.Decl) (name, first string) {
	var doc *ast.CommentGroup
	switch d := d.(type) {
	case *ast.FuncDecl:
		name, doc = d.Name.Name, d.Doc
	case *ast.GenDecl:
		spec, ok := single(d)
		if !ok {
			return "", ""
		}
		name, doc = spec.Name.Name, d.Doc
	}
	if doc == nil {
		return "", ""
	}
	words := strings.Fields(doc.Text())
	if len(words) == 0 {
		return "", ""
	}
	return name, strings.TrimSuffix(strings.TrimRight(words[0], ",:;."), "'s")
}

// single returns the type of a declaration of one type.
func single(d *ast.GenDecl) (*ast.TypeSpec, bool) {
	if len(d.Specs) != 1 {
		return nil, false
	}
	spec, ok := d.Specs[0].(*ast.TypeSpec)
	return spec, ok
}
