// Package bounds has the limits of texts and values: how deep source text may nest, how large a number may
// be, and how long a text. Parsers recurse for each level, and a goroutine that exhausts its stack cannot be
// recovered from; printing a number takes the square of its digits.
//
// It may import HCL's and cty's packages. It must not know the uses of texts and values.
package bounds

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const (
	// MaxLevels bounds brackets within brackets.
	MaxLevels = 1000
	// MaxOperators bounds the operators, steps and template directives pending in one expression: each may be
	// a level of its syntax tree.
	MaxOperators = 20_000
)

// ErrTooDeep says that a text exceeds MaxLevels or MaxOperators. Its text begins with "nested too deep".
var ErrTooDeep = fmt.Errorf("nested too deep: brackets may be nested %d levels deep, and one expression may have up to %d operators",
	MaxLevels, MaxOperators)

// Excess is the first place where a source text exceeds a bound, and the bound: ErrTooDeep or ErrNumber.
type Excess struct {
	Range hcl.Range
	Err   error
}

// Native returns the first excess of a file or expression in native syntax, or nil. Positions are counted
// from the start of src. Its cost is linear, and it does not recurse.
func Native(src []byte, filename string) *Excess {
	if harmless(src) {
		return nil
	}
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	return firstExcess(tokens)
}

// Template is Native for the text of a template, without quotes.
func Template(src []byte, filename string) *Excess {
	if harmless(src) {
		return nil
	}
	tokens, _ := hclsyntax.LexTemplate(src, filename, hcl.InitialPos)
	return firstExcess(tokens)
}

// Levels returns an upper bound of the levels in the syntax tree of a text that Template accepts. It looks at
// bytes only.
func Levels(src []byte) int {
	levels := 0
	for _, c := range src {
		if class[c] == 'o' || class[c] == '(' || class[c] == ')' {
			levels++
		}
	}
	return min(levels, MaxLevels+MaxOperators)
}

// harmless is a quick test that nearly all files pass, so that few are scanned in full twice. Brackets in
// strings may deceive the count of levels, but then the number of operators still keeps the recursion within
// a stack.
func harmless(src []byte) bool {
	operators, depth, digits := 0, 0, 0
	for i, c := range src {
		if class[c] == '0' {
			if digits++; digits > maxPlainDigits || digits == exponentDigits && isExponent(src[:i+1-digits]) {
				return false
			}
			continue
		}
		digits = 0
		switch class[c] {
		case 'o':
			operators++
		case '(':
			operators++
			if depth++; depth > MaxLevels {
				return false
			}
		case ')':
			depth = max(0, depth-1)
		}
	}
	return operators <= 5*MaxOperators
}

// operatorBytes are the bytes of operators and brackets. All other bytes add nothing to the depth of a syntax
// tree.
const operatorBytes = "([{!-+*/%&|<>=?:."

// class sorts bytes into opening and closing brackets, other operators, digits and the rest.
var class = func() (c [256]byte) {
	for _, b := range []byte(operatorBytes) {
		c[b] = 'o'
	}
	for b := byte('0'); b <= '9'; b++ {
		c[b] = '0'
	}
	for _, b := range []byte("([{") {
		c[b] = '('
	}
	for _, b := range []byte(")]}") {
		c[b] = ')'
	}
	return c
}()

// level is an open bracket: ops counts the operators seen since the last separator in it.
type level struct {
	ops      int
	newlines bool // a newline separates items here
}

// firstExcess scans tokens for the first that exceeds a bound. Scanning is linear and does not recurse.
func firstExcess(tokens hclsyntax.Tokens) *Excess {
	stack := []level{{newlines: true}}
	total := 0
	for i, tok := range tokens {
		top := &stack[len(stack)-1]
		switch tok.Type {
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp,
			hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			if tok.Type != hclsyntax.TokenTemplateInterp {
				top.ops, total = top.ops+1, total+1
			}
			isFor := i+1 < len(tokens) && string(tokens[i+1].Bytes) == "for"
			stack = append(stack, level{newlines: tok.Type == hclsyntax.TokenOBrace && !isFor})
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd,
			hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			if len(stack) > 1 {
				total -= top.ops
				stack = stack[:len(stack)-1]
			}
		case hclsyntax.TokenComma:
			total, top.ops = total-top.ops, 0
		case hclsyntax.TokenNewline:
			if top.newlines {
				total, top.ops = total-top.ops, 0
			}
		case hclsyntax.TokenNumberLit:
			if !Printable(string(tok.Bytes)) {
				return &Excess{tok.Range, ErrNumber}
			}
		case hclsyntax.TokenIdent, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenComment:
		default:
			top.ops, total = top.ops+1, total+1
		}
		if len(stack) > MaxLevels || total > MaxOperators {
			return &Excess{tok.Range, ErrTooDeep}
		}
	}
	return nil
}
