package format

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// Source returns src, a file of configuration, values or tests, in the standard style. The name is used for
// positions only. If src cannot be parsed, Source returns an error with its place and no result. The result
// has the same meaning as src and all of its comments. Source may be called concurrently.
//
// Apart from white space, three things are rewritten:
//   - an argument that consists of a single interpolation, a = "${x}", loses the template: a = x;
//   - labels of blocks are quoted, and written without needless escapes;
//   - types of variables lose the spellings from before types had arguments: "string", "list", "map", and
//     list, map and set by themselves.
func Source(src []byte, name string) ([]byte, diag.List) {
	if !config.Parseable(src, name) {
		return nil, diag.Errorf("Nesting too deep", "Blocks and expressions in the file %q are nested too deeply, or an expression has too many operators. Split it into local values.", name)
	}
	file, hd := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if hd.HasErrors() {
		tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
		return nil, diag.Syntax(hd, tokens)
	}
	r := &rewriter{src: src, name: name}
	if body, ok := file.Body.(*hclsyntax.Body); ok {
		r.body(body, "")
	}
	return hclwrite.Format(r.result()), nil
}

// rewriter collects replacements in a source.
type rewriter struct {
	src    []byte
	name   string
	tokens hclsyntax.Tokens // of src, once a template was found; few files have any to rewrite
	edits  []edit
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       []byte
}

func (r *rewriter) replace(rng hcl.Range, text []byte) {
	r.edits = append(r.edits, edit{rng.Start.Byte, rng.End.Byte, text})
}

// result applies the edits, which must not overlap.
func (r *rewriter) result() []byte {
	slices.SortFunc(r.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out := make([]byte, 0, len(r.src))
	last := 0
	for _, e := range r.edits {
		out = append(append(out, r.src[last:e.start]...), e.text...)
		last = e.end
	}
	return append(out, r.src[last:]...)
}

// body visits the content of a block, or of the file if parent is "". parent is the type of a top-level
// block, and "-" at deeper levels.
func (r *rewriter) body(body *hclsyntax.Body, parent string) {
	for name, attr := range body.Attributes {
		if parent == "variable" && name == "type" {
			r.variableType(attr.Expr.Range())
		} else if wrap, ok := attr.Expr.(*hclsyntax.TemplateWrapExpr); ok {
			r.unwrap(wrap)
		}
	}
	for _, block := range body.Blocks {
		for i, rng := range block.LabelRanges {
			r.label(rng, block.Labels[i])
		}
		within := "-"
		if parent == "" {
			within = block.Type
		}
		r.body(block.Body, within)
	}
}

// typeSpellings maps old spellings of variable types to current ones.
var typeSpellings = map[string]string{
	`"string"`: "string", `"list"`: "list(string)", `"map"`: "map(string)",
	"list": "list(any)", "map": "map(any)", "set": "set(any)",
}

func (r *rewriter) variableType(rng hcl.Range) {
	if plain, ok := typeSpellings[string(rng.SliceBytes(r.src))]; ok {
		r.replace(rng, []byte(plain))
	}
}

// label quotes a label, and rewrites a quoted one if it has escapes. Escapes of template sequences are
// kept, because hclwrite would change them.
func (r *rewriter) label(rng hcl.Range, value string) {
	have := rng.SliceBytes(r.src)
	if quoted := bytes.HasPrefix(have, []byte{'"'}); quoted && (!bytes.ContainsRune(have, '\\') || bytes.ContainsAny(have, "$%")) {
		return
	}
	r.replace(rng, hclwrite.TokensForValue(cty.StringVal(value)).Bytes())
}

// unwrap replaces a template that consists of one interpolation by the expression in it.
func (r *rewriter) unwrap(wrap *hclsyntax.TemplateWrapExpr) {
	if r.tokens == nil {
		r.tokens, _ = hclsyntax.LexConfig(r.src, r.name, hcl.InitialPos) // which parsed without errors
	}
	rng := wrap.Range()
	first := r.tokenAt(rng.Start.Byte)
	after := r.tokenAt(rng.End.Byte)
	// The quote, the opening of the interpolation, the expression, its closing, the quote.
	const around = 2
	if after-first <= 2*around || r.tokens[first].Type != hclsyntax.TokenOQuote || r.tokens[after-1].Type != hclsyntax.TokenCQuote {
		return
	}
	inner := trimNewlines(r.tokens[first+around : after-around])
	if len(inner) == 0 {
		return
	}
	text := hcl.RangeBetween(inner[0].Range, inner[len(inner)-1].Range).SliceBytes(r.src)
	lineEnds := after < len(r.tokens) && r.tokens[after].Type == hclsyntax.TokenNewline
	switch open := endsOpen(inner); {
	case open && (spansLines(inner) || !lineEnds):
		if !bytes.HasSuffix(text, []byte("\n")) {
			text = append(slices.Clip(text), '\n')
		}
		text = slices.Concat([]byte("("), text, []byte(")"))
	case !open && spansLines(inner) && !parenthesised(inner):
		text = slices.Concat([]byte("("), text, []byte(")"))
	}
	r.replace(rng, text)
}

// tokenAt returns the index of the first token that begins at an offset or later.
func (r *rewriter) tokenAt(offset int) int {
	i, _ := slices.BinarySearchFunc(r.tokens, offset, func(t hclsyntax.Token, offset int) int { return cmp.Compare(t.Range.Start.Byte, offset) })
	return i
}

func trimNewlines(tokens hclsyntax.Tokens) hclsyntax.Tokens {
	for len(tokens) > 0 && tokens[0].Type == hclsyntax.TokenNewline {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].Type == hclsyntax.TokenNewline {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// lineComment reports whether a token is a comment that includes the end of its line.
func lineComment(t hclsyntax.Token) bool {
	return t.Type == hclsyntax.TokenComment && !bytes.HasPrefix(t.Bytes, []byte("/*"))
}

// endsOpen reports whether the tokens must be followed by the end of the line.
func endsOpen(tokens hclsyntax.Tokens) bool {
	last := tokens[len(tokens)-1]
	return last.Type == hclsyntax.TokenCHeredoc || lineComment(last)
}

// spansLines reports whether there is a line end between the tokens. Line ends within a token, such as a
// heredoc or a comment of several lines, don't end an argument.
func spansLines(tokens hclsyntax.Tokens) bool {
	return slices.ContainsFunc(tokens[:len(tokens)-1], func(t hclsyntax.Token) bool { return t.Type == hclsyntax.TokenNewline || lineComment(t) })
}

// parenthesised reports whether one pair of parentheses surrounds all of the tokens.
func parenthesised(tokens hclsyntax.Tokens) bool {
	depth := 0
	for i, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOParen:
			depth++
		case hclsyntax.TokenCParen:
			depth--
		}
		if depth == 0 {
			return i > 0 && i == len(tokens)-1
		}
	}
	return false
}
