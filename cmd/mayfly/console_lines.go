package main

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// openness is what an expression needs to be complete.
type openness uint8

const (
	closed openness = iota
	withinBrackets
	withinHeredoc
)

// typedLines is an expression that may continue on further lines. Settled lines are not scanned again, so
// that a long expression takes linear time.
type typedLines struct {
	lines []string
	state openness

	// Up to the line at from, nothing is open but brackets, so that each of the lines after it means the same
	// without those before it.
	from int
	open []hclsyntax.TokenType
}

func (u *typedLines) begun() bool { return len(u.lines) > 0 }

// add adds a line and returns whether brackets and here documents are closed. An expression that is wrong
// in other ways counts as complete, because evaluating it reports the error.
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

// spansLines reports whether a line inside what the token opens cannot be read without the lines before it.
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
