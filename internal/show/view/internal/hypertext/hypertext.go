// Package hypertext writes pages in which the compiler tells markup from text. A page is well-formed as XML
// too.
//
// It imports nothing of this module, since it serves pages of any content.
package hypertext

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Markup is text of a page that the program itself contains. Text from a run has the type string and is
// escaped by Page.Text.
type Markup string

// Page is a document being written.
type Page struct{ bytes.Buffer }

// Head writes the document up to its body, which is left open. The page has a style sheet and, unless it is
// "", a script, which Foot writes. A content security policy admits both by their hashes, and nothing else:
// even a mistake in escaping could not make the page run or send anything.
func (p *Page) Head(title string, style, script Markup) {
	style = "\n" + style
	p.Raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src `, hash(style))
	if script != "" {
		p.Raw("; script-src ", hash(script))
	}
	p.Raw(`; base-uri 'none'; form-action 'none'"/>`, "\n", `<meta name="viewport" content="width=device-width, initial-scale=1"/>`, "\n",
		`<meta name="color-scheme" content="light dark"/>`, "\n")
	p.In("<title>", title, "</title>\n")
	p.Raw("<style>", style, "</style>\n</head>\n<body>\n")
}

// Foot ends the document that Head began, with the same script.
func (p *Page) Foot(script Markup) {
	if script != "" {
		p.Raw("<script>", script, "</script>\n")
	}
	p.Raw("</body>\n</html>\n")
}

// hash returns the source expression that admits a script or style sheet in a content security policy.
func hash(text Markup) Markup {
	sum := sha256.Sum256([]byte(text))
	return Markup("'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
}

// Raw writes markup as it is.
func (p *Page) Raw(parts ...Markup) {
	for _, s := range parts {
		p.WriteString(string(s))
	}
}

// Text writes a text, escaped for use between tags and in quoted attributes, and with everything visible.
func (p *Page) Text(s string) {
	for _, r := range s {
		switch r {
		case '&':
			p.WriteString("&amp;")
		case '<':
			p.WriteString("&lt;")
		case '>':
			p.WriteString("&gt;")
		case '"':
			p.WriteString("&#34;")
		case '\'':
			p.WriteString("&#39;")
		default:
			if hidden(r) {
				fmt.Fprintf(p, "\\u{%x}", r)
			} else {
				p.WriteRune(r)
			}
		}
	}
}

// Count returns a whole number, which needs no escaping.
func Count(n int) Markup { return Markup(strconv.Itoa(n)) }

// Lines writes a text of several lines, for an element that keeps them.
func (p *Page) Lines(s string) {
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			p.WriteByte('\n')
		}
		p.Text(line)
	}
}

// In writes a text between two pieces of markup.
func (p *Page) In(open Markup, text string, end Markup) {
	p.Raw(open)
	p.Text(text)
	p.Raw(end)
}

// hidden reports whether a character cannot be seen, or reorders the text around it.
func hidden(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r)
}

// Visible returns a text of several lines in which characters that cannot be seen, and those that reorder the
// text around them, are written as their numbers.
func Visible(s string) string {
	odd := func(r rune) bool { return r != '\n' && hidden(r) }
	if strings.IndexFunc(s, odd) < 0 {
		return s
	}
	var sb strings.Builder
	for _, r := range s {
		if odd(r) {
			fmt.Fprintf(&sb, "\\u{%x}", r)
		} else {
			sb.WriteRune(r)
		}
	}
	return sb.String()
}
