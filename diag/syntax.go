package diag

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Unbalanced is the Extra of an error about a bracket, quotation mark or heredoc that is not closed. Other
// errors in the file from Line on are likely to be its consequences.
type Unbalanced struct{ Line int }

// Syntax converts the errors of HCL's parser about a text in native syntax with the given tokens. An
// unclosed bracket, quotation mark or heredoc causes many errors in the text after it; they become one
// error at the place where it opens. There is at most one error per line.
func Syntax(hd hcl.Diagnostics, tokens hclsyntax.Tokens) List {
	diags := FromHCL(hd)
	if !diags.HasErrors() {
		return diags
	}
	if d, line := unbalanced(tokens); d != nil {
		diags = slices.DeleteFunc(diags, func(d Diagnostic) bool {
			return d.Severity == Error && (d.Subject == nil || d.Subject.End.Line >= line)
		})
		d.Extra = Unbalanced{Line: line}
		diags = append(diags, *d)
	}
	diags = oneErrorALine(diags, tokens)
	improve(diags, tokens)
	return diags
}

// invalidTokens are tokens that the scanner recognizes only to report them.
var invalidTokens = []hclsyntax.TokenType{
	hclsyntax.TokenBitwiseAnd, hclsyntax.TokenBitwiseOr, hclsyntax.TokenBitwiseNot, hclsyntax.TokenBitwiseXor, hclsyntax.TokenStarStar,
	hclsyntax.TokenApostrophe, hclsyntax.TokenBacktick, hclsyntax.TokenSemicolon, hclsyntax.TokenTabs, hclsyntax.TokenInvalid, hclsyntax.TokenBadUTF8,
}

// oneErrorALine keeps one error per line: the first, or one about an invalid character.
func oneErrorALine(diags List, tokens hclsyntax.Tokens) List {
	invalid := map[hcl.Pos]bool{}
	for _, t := range tokens {
		if slices.Contains(invalidTokens, t.Type) {
			invalid[t.Range.Start] = true
		}
	}
	first := map[int]int{} // the index of the error to keep, by line
	for i, d := range diags {
		if d.Severity != Error || d.Subject == nil {
			continue
		}
		kept, again := first[d.Subject.Start.Line]
		if !again || invalid[d.Subject.Start] && !invalid[diags[kept].Subject.Start] {
			first[d.Subject.Start.Line] = i
		}
	}
	var out List
	for i, d := range diags {
		if d.Severity != Error || d.Subject == nil || first[d.Subject.Start.Line] == i {
			out = append(out, d)
		}
	}
	return out
}

// opening is a token that needs a closing one, or a template directive.
type opening struct {
	hclsyntax.Token
	closer hclsyntax.TokenType // TokenNil for a directive
	word   string              // of a directive, such as "for"
	block  bool                // whether it opens a block
	indent int                 // of its line
}

// closers maps opening tokens to their closing ones.
var closers = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOBrace: hclsyntax.TokenCBrace, hclsyntax.TokenOBrack: hclsyntax.TokenCBrack, hclsyntax.TokenOParen: hclsyntax.TokenCParen,
	hclsyntax.TokenOQuote: hclsyntax.TokenCQuote, hclsyntax.TokenOHeredoc: hclsyntax.TokenCHeredoc,
	hclsyntax.TokenTemplateInterp: hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
}

// unbalanced returns an error about the first token that opens something unclosed or closes nothing, or nil
// if there is none. Errors above the returned line are unaffected.
func unbalanced(tokens hclsyntax.Tokens) (d *Diagnostic, line int) {
	b := &balance{tokens: tokens}
	for i := 0; i < len(tokens) && d == nil; i++ {
		d = b.token(i, tokens[i])
	}
	if d == nil {
		d = b.end()
	}
	if d != nil {
		line = d.Subject.Start.Line
		if len(b.open) > 0 {
			line = min(line, b.open[0].Range.Start.Line)
		}
	}
	return d, line
}

// balance is the state of the scan: the constructs open at the current token.
type balance struct {
	tokens       hclsyntax.Tokens
	open         []opening
	line, indent int // the line of the last token, and its indentation
	// misplaced is the first block whose closing brace belongs to another block, judged by its indentation.
	misplaced *Diagnostic
}

func (b *balance) token(i int, t hclsyntax.Token) *Diagnostic {
	if t.Range.Start.Line != b.line {
		b.line, b.indent = t.Range.Start.Line, t.Range.Start.Column
	}
	switch closer, opens := closers[t.Type]; {
	case opens:
		b.open = append(b.open, opening{Token: t, closer: closer, block: i > 0 && endsHeader(b.tokens[i-1].Type), indent: b.indent})
	case t.Type == hclsyntax.TokenQuotedNewline:
		return b.brokenQuote()
	case t.Type == hclsyntax.TokenIdent:
		return b.word(i, t)
	case t.Type == hclsyntax.TokenSlash && b.is(i+1, hclsyntax.TokenStar) && t.Range.End == b.tokens[i+1].Range.Start:
		return problem(hcl.RangeBetween(t.Range, b.tokens[i+1].Range), "Unclosed comment", `This comment has no end: "*/" is missing.`)
	case t.Type == hclsyntax.TokenLessThan && b.is(i+1, hclsyntax.TokenLessThan) && t.Range.End == b.tokens[i+1].Range.Start && b.is(i+2, hclsyntax.TokenIdent):
		return problem(hcl.RangeBetween(t.Range, b.tokens[i+2].Range), "Invalid heredoc", "There must be no space between << and the marker of a heredoc: write <<EOT.")
	case isCloser(t.Type):
		return b.close(t)
	}
	return nil
}

// endsHeader reports whether a token can precede the brace that opens a block.
func endsHeader(t hclsyntax.TokenType) bool {
	return t == hclsyntax.TokenIdent || t == hclsyntax.TokenCQuote
}

func isCloser(t hclsyntax.TokenType) bool {
	for _, closer := range closers {
		if t == closer {
			return true
		}
	}
	return false
}

func (b *balance) is(i int, t hclsyntax.TokenType) bool {
	return i >= 0 && i < len(b.tokens) && b.tokens[i].Type == t
}

func (b *balance) top() *opening {
	if len(b.open) == 0 {
		return nil
	}
	return &b.open[len(b.open)-1]
}

// word handles words that begin and end directives, and the end of a heredoc that was read as part of an
// expression.
func (b *balance) word(i int, t hclsyntax.Token) *Diagnostic {
	word := string(t.Bytes)
	if n := len(b.open); n > 0 && b.top().Type == hclsyntax.TokenTemplateControl && b.is(i-1, hclsyntax.TokenTemplateControl) {
		switch {
		case word == "for" || word == "if":
			sequence := b.open[n-1]
			sequence.word, sequence.closer = word, hclsyntax.TokenNil
			b.open = append(b.open[:n-1], sequence, b.open[n-1]) // it stays open when its sequence is closed
		case (word == "endfor" || word == "endif") && n > 1 && b.open[n-2].word == word[len("end"):]:
			b.open = append(b.open[:n-2], b.open[n-1])
		}
		return nil
	}
	for n := len(b.open) - 1; n > 0; n-- {
		if b.open[n-1].Type == hclsyntax.TokenOHeredoc && b.open[n-1].marker() == word && b.is(i-1, hclsyntax.TokenNewline) && b.is(i+1, hclsyntax.TokenNewline) {
			return b.open[n].unclosed("")
		}
	}
	return nil
}

// marker returns the word that ends the heredoc.
func (o *opening) marker() string {
	return strings.TrimSpace(strings.TrimLeft(string(o.Bytes), "<-"))
}

// brokenQuote reports a quotation mark that is still open at the end of a line. Within an interpolation
// that began on the same line, it was meant to close the outer string.
func (b *balance) brokenQuote() *Diagnostic {
	quote := b.top()
	if quote == nil || quote.Type != hclsyntax.TokenOQuote {
		return nil
	}
	for i := range b.open {
		o := &b.open[i]
		sequence := o.Type == hclsyntax.TokenTemplateInterp || o.Type == hclsyntax.TokenTemplateControl
		if sequence && o.Range.Start.Line == quote.Range.Start.Line && i > 0 && b.open[i-1].Type == hclsyntax.TokenOQuote {
			return o.unclosed("")
		}
	}
	return quote.unclosed("")
}

// close handles a token that closes something.
func (b *balance) close(t hclsyntax.Token) *Diagnostic {
	top := b.top()
	if top != nil && top.closer == t.Type {
		b.open = b.open[:len(b.open)-1]
		b.compare(top, t)
		return nil
	}
	for i := len(b.open) - 1; i >= 0; i-- {
		if b.open[i].closer == t.Type {
			return top.unclosed(fmt.Sprintf(" The %q on line %d comes first.", t.Bytes, t.Range.Start.Line))
		}
	}
	hint := "remove it, or add what it is to close"
	if t.Type == hclsyntax.TokenCBrace {
		hint = "remove it, or look above for a block that is closed too early"
	}
	return problem(t.Range, "Unexpected closing bracket", "This %q closes nothing: %s.", t.Bytes, hint)
}

// compare checks the indentation of a closing brace: it may have been meant to close another block.
func (b *balance) compare(o *opening, t hclsyntax.Token) {
	if t.Type != hclsyntax.TokenCBrace || b.indent != t.Range.Start.Column || o.indent == b.indent || b.misplaced != nil {
		return
	}
	for i := range b.open {
		if outer := &b.open[i]; outer.Type == hclsyntax.TokenOBrace && outer.indent == b.indent {
			b.misplaced = o.unclosed(fmt.Sprintf(" By its indentation, the brace on line %d closes what opens on line %d.",
				t.Range.Start.Line, outer.Range.Start.Line))
			return
		}
	}
}

// end reports the innermost construct that is open at the end of the text.
func (b *balance) end() *Diagnostic {
	top := b.top()
	switch {
	case top == nil:
		return nil
	case top.Type == hclsyntax.TokenOBrace && b.misplaced != nil:
		return b.misplaced
	}
	return top.unclosed(b.almostEnd(top))
}

// almostEnd returns a hint if a line begins with the word that ends the heredoc but has more text after it.
func (b *balance) almostEnd(o *opening) string {
	if o.Type != hclsyntax.TokenOHeredoc {
		return ""
	}
	for _, t := range b.tokens {
		if t.Range.Start.Byte <= o.Range.Start.Byte || t.Type != hclsyntax.TokenStringLit {
			continue
		}
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(t.Bytes), []byte(o.marker())); ok && len(rest) > 0 && !hclsyntax.ValidIdentifier("a"+string(rest[:1])) {
			return fmt.Sprintf(" Line %d begins with it but goes on: put the rest on a line of its own.", t.Range.Start.Line)
		}
	}
	return ""
}

func problem(rng hcl.Range, summary, format string, args ...any) *Diagnostic {
	return &At(rng, summary, format, args...)[0]
}

// unclosed reports that o is not closed. The hint is a sentence preceded by a space.
func (o *opening) unclosed(hint string) *Diagnostic {
	rng := o.Range
	switch {
	case o.word != "":
		return problem(rng, "Unclosed template directive", `There is no "%%{ end%s }" for this "%%{ %s }".`, o.word, o.word)
	case o.Type == hclsyntax.TokenOQuote:
		return problem(rng, "Unclosed quoted string",
			`This quotation mark opens a string that does not end on the same line. Add the closing quotation mark. For text of several lines, use a heredoc (<<EOT), or write \n for each line break.`)
	case o.Type == hclsyntax.TokenOHeredoc:
		rng.End = rng.Start
		rng.End.Byte += len(bytes.TrimRight(o.Bytes, "\r\n"))
		rng.End.Column += len(bytes.TrimRight(o.Bytes, "\r\n"))
		return problem(rng, "Unclosed heredoc", "This heredoc has no end: no line below it consists of %s alone.%s", o.marker(), hint)
	case o.Type == hclsyntax.TokenTemplateInterp || o.Type == hclsyntax.TokenTemplateControl:
		sequence := strings.TrimRight(string(o.Bytes), "~")
		return problem(rng, "Unclosed template sequence", `There is no closing "}" for this %q.%s In text for another program, such as a shell, write %s%s.`, sequence, hint, sequence[:1], sequence)
	case o.Type == hclsyntax.TokenOBrace && o.block:
		hint = cmp.Or(hint, " The brace may also be missing in a block below, within this one.")
		return problem(rng, "Unclosed configuration block", `There is no closing "}" for this block.%s`, hint)
	}
	name := map[hclsyntax.TokenType]string{
		hclsyntax.TokenOBrace: "Unclosed brace", hclsyntax.TokenOBrack: "Unclosed bracket", hclsyntax.TokenOParen: "Unclosed parenthesis",
	}[o.Type]
	return problem(rng, name, "There is no closing %q for this %q.%s", string(rune(o.closer)), o.Bytes, hint)
}
