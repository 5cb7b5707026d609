package timeline

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"

	"github.com/mayfly-iac/mayfly/event"
)

// markup is text of the page that this package wrote. Text from a run has the type string and is escaped by
// page.text, so the compiler catches unescaped text.
type markup string

// page is a document being written. It is well-formed as XML too.
type page struct{ bytes.Buffer }

// raw writes markup as it is.
func (p *page) raw(parts ...markup) {
	for _, s := range parts {
		p.WriteString(string(s))
	}
}

// text writes a text, escaped for use between tags and in quoted attributes. Invisible characters, and
// those that reorder the text around them, are written as their numbers.
func (p *page) text(s string) {
	for _, r := range s {
		switch {
		case r == '&':
			p.WriteString("&amp;")
		case r == '<':
			p.WriteString("&lt;")
		case r == '>':
			p.WriteString("&gt;")
		case r == '"':
			p.WriteString("&#34;")
		case r == '\'':
			p.WriteString("&#39;")
		case r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(p, "\\u{%x}", r)
		default:
			p.WriteRune(r)
		}
	}
}

// in writes a text between two pieces of markup.
func (p *page) in(open markup, text string, end markup) {
	p.raw(open)
	p.text(text)
	p.raw(end)
}

// percent returns a position or width on the axis.
func percent(x float64) markup { return markup(number(x, 3) + "%") }

// count returns a whole number, which needs no escaping.
func count(n int) markup { return markup(strconv.Itoa(n)) }

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// class returns the style class of an operation; each class has an entry in the legend and a colour in the
// style sheet. What is evaluated with an ephemeral value, such as an output or a condition, is no operation
// on an object.
func class(op event.Op) markup {
	switch op {
	case event.OpCreate:
		return "create"
	case event.OpUpdate:
		return "update"
	case event.OpDelete, event.OpForget:
		return "delete"
	case event.OpRead, event.OpRefresh, event.OpImport, event.OpAdopt:
		return "read"
	case event.OpPlan:
		return "plan"
	case event.OpProvision:
		return "provision"
	case event.OpConfigure:
		return "configure"
	case event.OpOpen:
		return "other"
	default:
		return "evaluate"
	}
}

// verb returns the word for what a user does with an ephemeral instance.
func verb(op event.Op) string {
	switch op {
	case event.OpOpen:
		return "held while open"
	case event.OpConfigure:
		return "configured with it"
	case event.OpProvision:
		return "provision"
	default:
		return string(op)
	}
}

// phaseName returns the title of a phase of the run.
func phaseName(op event.Op) string {
	if op == event.OpApplying {
		return "Applying"
	}
	return "Planning"
}
