package main

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// openness is what an expression lacks to be complete.
type openness uint8

const (
	closed openness = iota
	withinBrackets
	withinHeredoc
)

// typedLines is an expression of which more lines may come.
type typedLines struct {
	lines []string
	state openness

	// Up to the line at from, nothing is open but brackets, so that each of the lines after it means the same
	// without those before it.
	from int
	open []hclsyntax.TokenType
}

func (u *typedLines) begun() bool { return len(u.lines) > 0 }

// add adds a line, and tells whether the lines are a complete expression, as far as brackets and here
// documents go. What is wrong in other ways is complete: evaluating it tells the error.
func (u *typedLines) add(line string) openness {
	u.lines = append(u.lines, line)
	chunk := strings.Join(u.lines[u.from:], "\n") + "\n"
	open, ok := openAfter(u.open, chunk)
	switch {
	case !ok || len(open) == 0:
		u.state = closed
	case open[len(open)-1] == hclsyntax.TokenOHeredoc:
		u.state = withinHeredoc
	default:
		u.state = withinBrackets
	}
	if !slices.ContainsFunc(open, spansLines) && !strings.Contains(chunk, "/*") {
		u.from, u.open = len(u.lines), open
	}
	return u.state
}

// spansLines reports whether within what the token opens, a line cannot be read without those before it.
func spansLines(t hclsyntax.TokenType) bool {
	return t == hclsyntax.TokenOHeredoc || t == hclsyntax.TokenTemplateInterp || t == hclsyntax.TokenTemplateControl
}

// openAfter returns the tokens that are open after the text, if those given were open before it. It fails if
// more is closed than was open.
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
