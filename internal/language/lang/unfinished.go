package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Openness says how a text falls short of a complete expression.
type Openness uint8

// The innermost open thing. Within a here document, every line is text, whatever it looks like.
const (
	Closed Openness = iota
	WithinBrackets
	WithinHeredoc
)

// Unfinished is an expression that is typed line by line and may continue on further lines. The zero value
// has no lines. Settled lines are not scanned again, so that a long expression takes linear time. It
// belongs to one goroutine.
type Unfinished struct {
	State Openness // after the lines so far

	lines []string

	// Up to the line at from, nothing is open but brackets, so that each of the lines after it means the same
	// without those before it.
	from int
	open []hclsyntax.TokenType
}

// Begun reports whether there is a line.
func (u *Unfinished) Begun() bool { return len(u.lines) > 0 }

// Add adds a line and returns whether brackets and here documents are Closed. An expression that is wrong
// in other ways counts as complete, because evaluating it reports the error.
func (u *Unfinished) Add(line string) Openness {
	u.lines = append(u.lines, line)
	chunk := strings.Join(u.lines[u.from:], "\n") + "\n"
	open, ok := openAfter(u.open, chunk)
	switch {
	case !ok || len(open) == 0:
		u.State = Closed
	case open[len(open)-1] == hclsyntax.TokenOHeredoc:
		u.State = WithinHeredoc
	default:
		u.State = WithinBrackets
	}
	if !slices.ContainsFunc(open, spansLines) && !strings.Contains(chunk, "/*") {
		u.from, u.open = len(u.lines), open
	}
	return u.State
}

// Text returns the lines so far, each with its end.
func (u *Unfinished) Text() string { return strings.Join(u.lines, "\n") + "\n" }

// spansLines reports whether a line inside the construct that the token opens cannot be read without the
// lines before it.
func spansLines(t hclsyntax.TokenType) bool {
	return t == hclsyntax.TokenOHeredoc || t == hclsyntax.TokenTemplateInterp || t == hclsyntax.TokenTemplateControl
}

// openAfter returns the tokens that are open after the text, given those open before it. ok is false if the
// text closes more than was open.
func openAfter(before []hclsyntax.TokenType, text string) (open []hclsyntax.TokenType, ok bool) {
	open = slices.Clone(before)
	tokens, _ := hclsyntax.LexExpression([]byte(text), "", hcl.InitialPos)
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl,
			hclsyntax.TokenOHeredoc:
			open = append(open, t.Type)
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCHeredoc:
			if len(open) == 0 {
				return nil, false
			}
			open = open[:len(open)-1]
		}
	}
	return open, true
}
