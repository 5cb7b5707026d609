// Package plainhcl parses files with HCL syntax but plain data: literals, lists and objects, without
// computation.
//
// It may import diag and HCL's packages. It must not know the meaning of the files.
package plainhcl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/mayfly-iac/mayfly/diag"
)

const (
	// MaxSize is the maximum size of a file, in bytes.
	MaxSize = 1 << 20
	// maxNesting bounds nested brackets and quotes: the parser recurses for each, and the program cannot
	// recover from a stack overflow.
	maxNesting = 50
)

// Parse parses native syntax. It refuses operators, deep nesting and text that isn't UTF-8. The body is
// never nil. Diagnostics contain no expressions, so they cannot show values.
func Parse(src []byte, filename string) (hcl.Body, diag.List) {
	if diags := checkText(src, filename); diags.HasErrors() {
		return hcl.EmptyBody(), diags
	}
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	if diags := checkTokens(tokens); diags.HasErrors() {
		return hcl.EmptyBody(), diags
	}
	file, hd := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	return body(file), blind(diag.Syntax(hd, tokens))
}

// Tokens splits native syntax into tokens; the last one is the end of the file. It refuses deep nesting
// and text that isn't UTF-8.
func Tokens(src []byte, filename string) (hclsyntax.Tokens, diag.List) {
	if diags := checkText(src, filename); diags.HasErrors() {
		return nil, diags
	}
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	return tokens, checkNesting(tokens)
}

// Expression parses native syntax at a position in a file. It refuses the same input as Parse.
func Expression(src []byte, at hcl.Range) (hclsyntax.Expression, diag.List) {
	tokens, _ := hclsyntax.LexExpression(src, at.Filename, at.Start)
	if diags := checkTokens(tokens); diags.HasErrors() {
		return nil, diags
	}
	expr, hd := hclsyntax.ParseExpression(src, at.Filename, at.Start)
	return expr, blind(diag.Syntax(hd, tokens))
}

// ParseJSON is Parse for HCL's JSON syntax.
func ParseJSON(src []byte, filename string) (hcl.Body, diag.List) {
	if diags := checkText(src, filename); diags.HasErrors() {
		return hcl.EmptyBody(), diags
	}
	// The standard library's scanner doesn't recurse, and it bounds the depth that HCL's recursive parser
	// will see.
	var syntax *json.SyntaxError
	if err := json.Unmarshal(src, new(json.RawMessage)); errors.As(err, &syntax) {
		return hcl.EmptyBody(), diag.At(at(src, filename, int(syntax.Offset)-1), "Invalid JSON", "The file %s is not valid JSON: %s.", filename, syntax)
	}
	file, hd := hcljson.Parse(src, filename)
	return body(file), Blind(hd)
}

// Conflict finds the first conflict marker of an unfinished merge.
func Conflict(src []byte, filename string) (hcl.Range, bool) {
	const mark = "<<<<<<< "
	offset := bytes.Index(src, []byte("\n"+mark)) + 1
	if offset == 0 && !bytes.HasPrefix(src, []byte(mark)) {
		return hcl.Range{}, false
	}
	return at(src, filename, offset), true
}

// at returns the range of the character at an offset, or of the last one.
func at(src []byte, filename string, offset int) hcl.Range {
	out := start(filename)
	for sc := hcl.NewRangeScanner(src, filename, bufio.ScanRunes); sc.Scan() && out.End.Byte <= offset; {
		out = sc.Range()
	}
	return out
}

// Blind converts HCL's diagnostics without their expressions.
func Blind(hd hcl.Diagnostics) diag.List { return blind(diag.FromHCL(hd)) }

func blind(diags diag.List) diag.List {
	for i := range diags {
		diags[i].Expression, diags[i].EvalContext = nil, nil
	}
	return diags
}

func body(file *hcl.File) hcl.Body {
	if file == nil || file.Body == nil {
		return hcl.EmptyBody()
	}
	return file.Body
}

func start(filename string) hcl.Range {
	return hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
}

func checkText(src []byte, filename string) diag.List {
	if len(src) > MaxSize {
		return diag.At(start(filename), "File too large", "The file %s has %d bytes; at most %d are accepted.", filename, len(src), MaxSize)
	}
	if !utf8.Valid(src) {
		return diag.At(start(filename), "Invalid character encoding", "The file %s is not encoded in UTF-8.", filename)
	}
	return nil
}

// checkNesting reports the first token that is nested too deeply in brackets and quotes.
func checkNesting(tokens hclsyntax.Tokens) diag.List {
	depth := 0
	for _, tok := range tokens {
		switch tok.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp:
			if depth++; depth > maxNesting {
				return diag.At(tok.Range, "Nesting too deep", "Blocks and values in this file may be nested %d levels deep.", maxNesting)
			}
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
	}
	return nil
}

// checkTokens reports the first token that is nested too deeply or is not plain data.
func checkTokens(tokens hclsyntax.Tokens) diag.List {
	if diags := checkNesting(tokens); diags.HasErrors() {
		return diags
	}
	for _, tok := range tokens {
		switch tok.Type {
		case hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenBang,
			hclsyntax.TokenQuestion, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan,
			hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenOParen, hclsyntax.TokenTemplateControl:
			return diag.At(tok.Range, "Unsupported expression", "This file holds plain values; operators, function calls and template directives are not supported here.")
		}
	}
	return nil
}
