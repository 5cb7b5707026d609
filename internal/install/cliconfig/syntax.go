package cliconfig

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/internal/plainhcl"
)

var (
	// objectBlocks are arguments that may be written as blocks. Names within them may be quoted.
	objectBlocks = map[string]bool{"dev_overrides": true, "services": true}
	// labelledBlocks may have their label as the name of a block within them, as in JSON syntax.
	labelledBlocks = map[string]bool{"credentials": true, "credentials_helper": true, "host": true, "oci_credentials": true}
	// plainBlocks are blocks that cannot be written as arguments.
	plainBlocks = map[string]bool{
		"provider_installation": true, string(FilesystemMirror): true, string(NetworkMirror): true, string(OCIMirror): true, string(Direct): true,
	}
	// templateArguments are templates. Elsewhere, "${" is text: an environment variable in a path, or part
	// of a password.
	templateArguments = map[string]bool{"repository_template": true}
)

// parseNative parses the language of these files, which is older than that of configurations. A file is a
// list of items that need neither separate lines nor commas, names may be quoted or contain dots, and
// strings have no templates. The tokens are the same, so the result has the same form as HCL's, with exact
// positions. It is never nil.
//
//	credentials "example.com" { token = "…" }
//	provider_installation { direct { exclude = ["example.com/*/*"] } }
func parseNative(src []byte, filename string) (hcl.Body, diag.List) {
	tokens, diags := plainhcl.Tokens(src, filename)
	if diags.HasErrors() {
		return hcl.EmptyBody(), diags
	}
	p := parser{src: src, tokens: slices.DeleteFunc(tokens, func(tok hclsyntax.Token) bool {
		return tok.Type == hclsyntax.TokenNewline || tok.Type == hclsyntax.TokenComment
	})}
	body := p.body(hclsyntax.TokenEOF)
	return body, p.diags
}

// parser is a position in the tokens, the last of which is the end of the file. After the first error it
// stays there.
type parser struct {
	src    []byte
	tokens hclsyntax.Tokens
	diags  diag.List
}

// peek returns the next token.
func (p *parser) peek() hclsyntax.Token { return p.tokens[0] }

// next consumes the next token. The end of the file stays.
func (p *parser) next() hclsyntax.Token {
	tok := p.tokens[0]
	if len(p.tokens) > 1 {
		p.tokens = p.tokens[1:]
	}
	return tok
}

// take consumes the next token if it has the given type.
func (p *parser) take(ty hclsyntax.TokenType) bool {
	if p.peek().Type != ty {
		return false
	}
	p.next()
	return true
}

// fail reports an error at the next token and skips to the end of the file, so that one mistake gives one
// message.
func (p *parser) fail(summary, format string, args ...any) {
	p.failAt(p.peek().Range, summary, format, args...)
}

// failAt is fail with another place.
func (p *parser) failAt(at hcl.Range, summary, format string, args ...any) {
	p.diags = append(p.diags, diag.At(at, summary, format, args...)...)
	p.tokens = p.tokens[len(p.tokens)-1:]
}

// failed reports whether there was an error.
func (p *parser) failed() bool { return p.diags.HasErrors() }

// body reads items up to the closing token.
func (p *parser) body(closing hclsyntax.TokenType) *hclsyntax.Body {
	body := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: p.peek().Range}
	for !p.failed() && p.peek().Type != closing {
		p.item(body)
		p.take(hclsyntax.TokenComma)
	}
	body.EndRange = p.peek().Range
	body.SrcRange = hcl.RangeBetween(body.SrcRange, body.EndRange)
	return body
}

// item reads an argument or a block. The meaning of a brace after a name depends on the name.
func (p *parser) item(body *hclsyntax.Body) {
	name, rng, ok := p.name()
	if !ok {
		return
	}
	var labels []string
	var labelRanges []hcl.Range
	for p.peek().Type == hclsyntax.TokenIdent || p.peek().Type == hclsyntax.TokenOQuote {
		label, labelRange, ok := p.name()
		if !ok {
			return
		}
		labels, labelRanges = append(labels, label), append(labelRanges, labelRange)
	}
	block := &hclsyntax.Block{Type: name, TypeRange: rng, Labels: labels, LabelRanges: labelRanges}
	switch next := p.peek(); {
	case len(labels) == 0 && labelledBlocks[name]:
		p.take(hclsyntax.TokenEqual)
		p.parseLabelled(block, body)
	case next.Type == hclsyntax.TokenEqual && plainBlocks[name]:
		p.fail("Unexpected equals sign", "%s is a block: write the brace right after the name, without an equals sign.", name)
	case next.Type == hclsyntax.TokenEqual && len(labels) == 0:
		p.next()
		expr := p.value(name)
		if name == engineArgument {
			explainEngine(p.diags)
		}
		p.attribute(body, name, rng, next.Range, expr)
	case next.Type == hclsyntax.TokenOBrace && len(labels) == 0 && objectBlocks[name]:
		p.attribute(body, name, rng, next.Range, p.value(name))
	case next.Type == hclsyntax.TokenOBrace:
		p.braces(block)
		body.Blocks = append(body.Blocks, block)
	default:
		p.fail("Invalid CLI configuration", "After the name %q, there must be an equals sign and a value, or a block in braces.", name)
	}
}

// braces reads the body of a block.
func (p *parser) braces(block *hclsyntax.Block) {
	if block.OpenBraceRange = p.peek().Range; !p.take(hclsyntax.TokenOBrace) {
		p.fail("Invalid CLI configuration", "A block in braces is expected here.")
	}
	block.Body = p.body(hclsyntax.TokenCBrace)
	block.CloseBraceRange = p.next().Range
}

// parseLabelled reads a block whose labels are the names of the blocks within it.
func (p *parser) parseLabelled(outer *hclsyntax.Block, body *hclsyntax.Body) {
	if !p.take(hclsyntax.TokenOBrace) {
		p.fail("Invalid CLI configuration", "A block of type %q needs a label in front of the brace, as in %s \"...\" {.", outer.Type, outer.Type)
	}
	for !p.failed() && !p.take(hclsyntax.TokenCBrace) {
		label, rng, ok := p.name()
		if !ok {
			return
		}
		block := &hclsyntax.Block{Type: outer.Type, TypeRange: outer.TypeRange, Labels: []string{label}, LabelRanges: []hcl.Range{rng}}
		p.take(hclsyntax.TokenEqual)
		p.braces(block)
		body.Blocks = append(body.Blocks, block)
		p.take(hclsyntax.TokenComma)
	}
}

// attribute adds an argument to a body. One that is there already is an error, after which reading goes on.
func (p *parser) attribute(body *hclsyntax.Body, name string, nameRange, equals hcl.Range, expr hclsyntax.Expression) {
	if p.failed() {
		return
	}
	if first, dup := body.Attributes[name]; dup {
		p.diags = append(p.diags, diag.At(nameRange, "Argument set twice", "The argument %q was already set at %s. Each may be set only once.", name, diag.Place(first.NameRange))...)
		return
	}
	body.Attributes[name] = &hclsyntax.Attribute{
		Name: name, Expr: expr, SrcRange: hcl.RangeBetween(nameRange, expr.Range()), NameRange: nameRange, EqualsRange: equals,
	}
}

// name reads the name of an item or a label: words separated by dots, or a string.
func (p *parser) name() (string, hcl.Range, bool) {
	switch first := p.peek(); first.Type {
	case hclsyntax.TokenIdent:
		p.next()
		rng := first.Range
		for {
			tok := p.peek()
			word := tok.Type == hclsyntax.TokenIdent || tok.Type == hclsyntax.TokenDot || tok.Type == hclsyntax.TokenNumberLit
			if !word || tok.Range.Start.Byte != rng.End.Byte {
				return string(rng.SliceBytes(p.src)), rng, true
			}
			rng.End = p.next().Range.End
		}
	case hclsyntax.TokenOQuote:
		expr := p.text(false)
		v, _ := expr.Value(nil)
		if p.failed() || v.Type() != cty.String {
			return "", first.Range, false
		}
		return v.AsString(), expr.Range(), true
	case hclsyntax.TokenEOF:
		p.fail("Unclosed block", "A closing brace is missing: the file ends within a block.")
	case hclsyntax.TokenCBrace:
		p.fail("Invalid CLI configuration", "There is one closing brace too many.")
	default:
		p.fail("Invalid CLI configuration", "The name of an argument or a block is expected here.")
	}
	return "", hcl.Range{}, false
}

// value reads a literal, a list or an object for the argument with the given name.
func (p *parser) value(name string) hclsyntax.Expression {
	switch first := p.peek(); first.Type {
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		return p.text(templateArguments[name])
	case hclsyntax.TokenOBrack:
		return p.list(name)
	case hclsyntax.TokenOBrace:
		return p.object(name)
	case hclsyntax.TokenNumberLit:
		return p.expression(p.next().Range)
	case hclsyntax.TokenIdent:
		if word := string(first.Bytes); word == "true" || word == "false" || word == "null" {
			return p.expression(p.next().Range)
		}
		p.fail("Unsupported value", "This file holds plain values. References and function calls are not supported here, and text must be in quotes.")
	case hclsyntax.TokenEOF:
		p.fail("Missing value", "A value is expected here.")
	default:
		p.fail("Unsupported value", "A string, a number, true, false, a list, or an object is expected here.")
	}
	return nothing(p.peek().Range)
}

// nothing returns a placeholder for a value that could not be read.
func nothing(rng hcl.Range) hclsyntax.Expression {
	return &hclsyntax.LiteralValueExpr{Val: cty.NullVal(cty.DynamicPseudoType), SrcRange: rng}
}

// expression parses a part of the source as HCL does.
func (p *parser) expression(rng hcl.Range) hclsyntax.Expression {
	// A heredoc needs the end of its line.
	expr, diags := plainhcl.Expression(append(bytes.Clone(rng.SliceBytes(p.src)), '\n'), rng)
	p.diags = append(p.diags, diags...)
	if diags.HasErrors() {
		return nothing(rng)
	}
	return expr
}

// text reads a string or heredoc, as a template or literally.
func (p *parser) text(template bool) hclsyntax.Expression {
	first := p.next()
	depth, last, plain := 1, first, true
	for depth > 0 && !p.failed() {
		if p.peek().Type == hclsyntax.TokenEOF {
			p.failAt(first.Range, "Unclosed string", "The string that starts here has no closing quote.")
		}
		last = p.next()
		switch last.Type {
		case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			plain = false
		}
	}
	rng := hcl.RangeBetween(first.Range, last.Range)
	if p.failed() {
		return nothing(rng)
	}
	if plain || template || first.Type == hclsyntax.TokenOHeredoc {
		return p.expression(rng)
	}
	inner := p.src[first.Range.End.Byte:last.Range.Start.Byte]
	return &hclsyntax.LiteralValueExpr{Val: cty.StringVal(unescape.Replace(string(inner))), SrcRange: rng}
}

// unescape replaces escape sequences in strings.
var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// list reads a list.
func (p *parser) list(name string) hclsyntax.Expression {
	open := p.next()
	list := &hclsyntax.TupleConsExpr{OpenRange: open.Range}
	for !p.failed() && p.peek().Type != hclsyntax.TokenCBrack {
		list.Exprs = append(list.Exprs, p.value(name))
		if !p.take(hclsyntax.TokenComma) && p.peek().Type != hclsyntax.TokenCBrack {
			p.fail("Invalid list", "A comma or the end of the list is expected here.")
		}
	}
	list.SrcRange = hcl.RangeBetween(open.Range, p.next().Range)
	return list
}

// object reads an object, whose items may be written like arguments.
func (p *parser) object(name string) hclsyntax.Expression {
	open := p.next()
	object := &hclsyntax.ObjectConsExpr{OpenRange: open.Range}
	for !p.failed() && p.peek().Type != hclsyntax.TokenCBrace {
		key, rng, ok := p.name()
		if !ok {
			break
		}
		if !p.take(hclsyntax.TokenEqual) && !p.take(hclsyntax.TokenColon) && p.peek().Type != hclsyntax.TokenOBrace {
			p.fail("Invalid CLI configuration", "After the name %q, there must be an equals sign and a value.", key)
		}
		object.Items = append(object.Items, hclsyntax.ObjectConsItem{
			KeyExpr: &hclsyntax.LiteralValueExpr{Val: cty.StringVal(key), SrcRange: rng}, ValueExpr: p.value(name),
		})
		p.take(hclsyntax.TokenComma)
	}
	object.SrcRange = hcl.RangeBetween(open.Range, p.next().Range)
	return object
}
