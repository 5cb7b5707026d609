package config

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/mayfly-iac/mayfly/diag"
)

const (
	// maxNesting bounds brackets within brackets. The parsers recurse per level, and a goroutine's stack overflow cannot be recovered from.
	maxNesting = 1000
	// maxOperators bounds the operators, steps and template directives pending in one expression: each may be a level of its syntax tree.
	maxOperators = 20_000
)

// checkEncoding requires UTF-8. A byte order mark is taken off with a warning, because the peers accept it.
func checkEncoding(src []byte, name string) ([]byte, diag.List) {
	for _, bom := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(src, []byte(bom)) {
			return nil, diag.At(startOf(name), "Invalid character encoding",
				"The file %q is in UTF-16. Configuration files must be UTF-8: save it again with that encoding.", name)
		}
	}
	var diags diag.List
	if rest, ok := bytes.CutPrefix(src, []byte("\xef\xbb\xbf")); ok {
		src = rest
		diags = diag.At(startOf(name), "Unicode byte order mark",
			"The file %q starts with a byte order mark, which is ignored. Save the file as UTF-8 without it.", name).AsWarnings()
	}
	if utf8.Valid(src) {
		return src, diags
	}
	pos := hcl.InitialPos
	for pos.Byte < len(src) {
		r, size := utf8.DecodeRune(src[pos.Byte:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		pos.Byte += size
		pos.Column++
		if r == '\n' {
			pos.Line++
			pos.Column = 1
		}
	}
	end := pos
	end.Byte++
	end.Column++
	return nil, append(diags, diag.At(hcl.Range{Filename: name, Start: pos, End: end}, "Invalid character encoding",
		"The file %q is not encoded in UTF-8: the byte 0x%02x is invalid here. Save the file as UTF-8.", name, src[pos.Byte])...)
}

// checkNesting refuses source that would make a parser, or a walk over its tree, recurse too deeply.
func checkNesting(src []byte, name string, isJSON bool) diag.List {
	var rng *hcl.Range
	if isJSON {
		rng = tooDeepJSON(src, name)
	} else {
		rng = tooDeep(src, name)
	}
	if rng == nil {
		return nil
	}
	return diag.At(*rng, "Nesting too deep",
		"Blocks and expressions may be nested %d levels deep, and one expression may have up to %d operators. Split this expression into local values.",
		maxNesting, maxOperators)
}

// Parseable reports whether source nests within the bounds that the parsers can take. The name tells the syntax. What Load refused for its
// nesting is not parseable.
func Parseable(src []byte, name string) bool {
	return !checkNesting(src, name, strings.HasSuffix(name, ".json")).HasErrors()
}

// checkExpressionNesting is checkNesting for a lone expression.
func checkExpressionNesting(src []byte, name string) diag.List { return checkNesting(src, name, false) }

// CheckExpression refuses the source of a lone expression that nests deeper than the parser can take.
func CheckExpression(src []byte, name string) diag.List { return checkExpressionNesting(src, name) }

// operatorBytes are those that operators and brackets consist of. All other bytes add nothing to the depth of a syntax tree.
const operatorBytes = "([{!-+*/%&|<>=?:."

// harmless is a quick test that holds for nearly all files, so that few are scanned in full twice. Brackets in strings may deceive the count
// of levels, but then the number of operators still bounds the recursion to what a stack can take.
func harmless(src []byte) bool {
	operators, depth := 0, 0
	for _, c := range src {
		switch class[c] {
		case 'o':
			operators++
		case '(':
			operators++
			if depth++; depth > maxNesting {
				return false
			}
		case ')':
			depth = max(0, depth-1)
		}
	}
	return operators <= 5*maxOperators
}

// class sorts bytes into opening and closing brackets, other operators and the rest.
var class = func() (c [256]byte) {
	for _, b := range []byte(operatorBytes) {
		c[b] = 'o'
	}
	for _, b := range []byte("([{") {
		c[b] = '('
	}
	for _, b := range []byte(")]}") {
		c[b] = ')'
	}
	return c
}()

// tooDeep returns the place where native syntax exceeds a bound, or nil.
func tooDeep(src []byte, name string) *hcl.Range {
	if harmless(src) {
		return nil
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	return deepest(tokens)
}

// level is an open bracket: ops counts the operators seen since the last separator in it.
type level struct {
	ops      int
	newlines bool // a newline separates items here
}

// deepest scans tokens for the first that exceeds a bound. Scanning is linear and does not recurse.
func deepest(tokens hclsyntax.Tokens) *hcl.Range {
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
		case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenComment:
		default:
			top.ops, total = top.ops+1, total+1
		}
		if len(stack) > maxNesting || total > maxOperators {
			return tok.Range.Ptr()
		}
	}
	return nil
}

// tooDeepJSON is tooDeep for the JSON syntax, whose strings may hold templates and expressions in turn.
func tooDeepJSON(src []byte, name string) *hcl.Range {
	depth, pos := 0, hcl.InitialPos
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\n':
			pos.Line++
		case '[', '{':
			if depth++; depth > maxNesting {
				pos.Byte = i
				return &hcl.Range{Filename: name, Start: pos, End: pos}
			}
		case ']', '}':
			depth--
		case '"':
			start := i + 1
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
			if deepString(src[start:min(i, len(src))]) {
				pos.Byte = start
				return &hcl.Range{Filename: name, Start: pos, End: pos}
			}
		}
	}
	return nil
}

// deepString reports whether the text of a JSON string would nest too deeply as a template, or as the expression of a type constraint.
func deepString(text []byte) bool {
	if harmless(text) {
		return false
	}
	if tokens, _ := hclsyntax.LexTemplate(text, "", hcl.InitialPos); deepest(tokens) != nil {
		return true
	}
	depth := 0
	for _, c := range text {
		switch class[c] {
		case '(':
			if depth++; depth > maxNesting {
				return true
			}
		case ')':
			depth = max(0, depth-1)
		}
	}
	return false
}
