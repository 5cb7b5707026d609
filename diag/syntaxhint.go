package diag

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// improve replaces the detail of errors of HCL's parser behind which there is a common mistake by one that
// shows the correct spelling. It quotes nothing but operators, because the text may be a file of secrets.
func improve(diags List, tokens hclsyntax.Tokens) {
	at := map[hcl.Pos]int{}
	for i, t := range tokens {
		at[t.Range.Start] = i // of several tokens at one place, all but the last are empty
	}
	for i := range diags {
		d := &diags[i]
		if d.Severity != Error || d.Subject == nil {
			continue
		}
		p := place{tokens: tokens}
		p.index, p.found = at[d.Subject.Start]
		d.Detail = p.improved(d.Summary, d.Detail)
	}
}

// place is the token that an error is about, if there is one.
type place struct {
	tokens hclsyntax.Tokens
	index  int
	found  bool
}

// token returns the token at a distance from the token with the error, and a token without a type outside of
// the text.
func (p place) token(distance int) hclsyntax.Token {
	if i := p.index + distance; p.found && i >= 0 && i < len(p.tokens) {
		return p.tokens[i]
	}
	return hclsyntax.Token{}
}

// word returns the text of a token that is an identifier, "" for any other.
func (p place) word(distance int) string {
	if t := p.token(distance); t.Type == hclsyntax.TokenIdent {
		return string(t.Bytes)
	}
	return ""
}

const (
	writeConditional = " A conditional is written as CONDITION ? VALUE : OTHER."
	writeCoalesce    = " For another value in place of null, write coalesce(VALUE, OTHER)."
)

// improved returns the detail of an error with the given summary and detail.
func (p place) improved(summary, detail string) string {
	switch summary {
	case "Invalid escape sequence":
		return detail + ` For a backslash in the text, write two of them: \\.`
	case "Invalid template control keyword":
		if !strings.Contains(detail, "Did you mean") {
			return detail + " The keywords are if, else, endif, for and endfor. If the text is meant for another program, double the percent sign: %%{."
		}
	case "Missing false expression in conditional":
		return detail + " For no value in that case, write CONDITION ? VALUE : null."
	case "Missing newline after argument":
		return detail + p.afterValue()
	case "Invalid expression":
		if better := p.noValue(); better != "" {
			return better
		}
	case "Invalid 'for' expression":
		return detail + p.forHint(detail)
	}
	return detail
}

// afterValue is the hint if more text follows the value of an argument.
func (p place) afterValue() string {
	switch next := p.word(0); {
	case p.token(0).Type == hclsyntax.TokenOParen && p.word(-1) != "" && p.token(-2).Type == hclsyntax.TokenDot:
		return " Values have no methods: call a function with the value as its argument, as in upper(VALUE)."
	case next != "" && p.token(-1).Type == hclsyntax.TokenCQuote && p.token(-1).Range.End == p.token(0).Range.Start:
		return ` For a quotation mark within the text, write \".`
	case next == "and":
		return ` The operator for "and" is &&.`
	case next == "or":
		return ` The operator for "or" is ||.`
	case p.word(-1) == "not":
		return ` The operator for "not" is !.`
	case next == "if" || p.word(-1) == "if":
		return writeConditional
	}
	return ""
}

// otherOperators are operators of other languages, with a hint for some.
var otherOperators = map[string]string{
	"??": writeCoalesce, "?:": writeCoalesce, "===": " To compare, write ==.", "!==": " To compare, write !=.", "<>": " To compare, write !=.",
	"++": "", "--": "", "//": "", "<<": "", ">>": "", "=~": " To match text, write can(regex(PATTERN, TEXT)).",
}

// noValue is the detail if there is an operator of another language or nothing where a value must begin, and
// "" for anything else.
func (p place) noValue() string {
	here, before := p.token(0), p.token(-1)
	if before.Range.End == here.Range.Start {
		operator := string(before.Bytes) + string(here.Bytes)
		if hint, known := otherOperators[operator]; known {
			return "There is no operator " + operator + "." + hint
		}
	}
	if before.Type != hclsyntax.TokenEqual {
		return ""
	}
	switch here.Type {
	case hclsyntax.TokenNewline, hclsyntax.TokenCBrace, hclsyntax.TokenComma, hclsyntax.TokenEOF:
		return "There is no value after the equals sign. Write one, null for none, or remove the argument."
	}
	return ""
}

// forHint is the hint for an error with the given detail in a for expression.
func (p place) forHint(detail string) string {
	switch {
	case strings.Contains(detail, "requires a colon") && p.word(0) == "if":
		return " The condition comes last, as in [for x in VALUES : x if CONDITION]."
	case strings.Contains(detail, "requires a colon"):
		return " Write it as in [for x in VALUES : x]."
	case strings.Contains(detail, "is required when building an object"):
		return " Write { for x in VALUES : KEY => x }, or brackets in place of the braces for a list."
	case strings.Contains(detail, "is not valid when building a tuple"):
		return " To build an object, write braces in place of the brackets."
	}
	return ""
}
