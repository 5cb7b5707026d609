package timeline

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
	"unicode"

	"github.com/mayfly-iac/mayfly/event"
)

// markup is text of the page that this package wrote. Text from a run has the type string and is escaped by
// page.text, so the compiler catches unescaped text.
type markup string

// page is a document being written. It is well-formed as XML too.
type page struct{ bytes.Buffer }

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

func count(n int) markup { return markup(strconv.Itoa(n)) }

// plural returns a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// document writes the whole page.
func (p *page) document(m *model) {
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1"/>`, "\n",
		`<meta name="color-scheme" content="light dark"/>`, "\n<title>Ephemeral timeline</title>\n<style>\n", style, "</style>\n</head>\n<body>\n")
	p.header(m)
	p.symbols()
	p.raw("<main>\n")
	if m.summary.instances == 0 {
		p.raw("<p class=\"none\">No ephemeral instance was opened in this run.</p>\n")
	}
	p.legend(m)
	p.chart(m)
	p.tables(m)
	p.raw("</main>\n</body>\n</html>\n")
}

// header writes the head of the page: when the run was, its phases, and the summary.
func (p *page) header(m *model) {
	p.raw("<header>\n<h1>Ephemeral timeline</h1>\n<p>")
	if m.scale.begin.IsZero() {
		p.raw("Nothing was done in this run.</p>\n</header>\n")
		return
	}
	p.raw("From <time>")
	p.text(m.scale.begin.Format("2006-01-02 15:04:05.000 -07:00"))
	p.raw("</time> for ")
	p.text(duration(m.scale.end.Sub(m.scale.begin)))
	for _, ph := range m.phases {
		p.raw(" · ")
		p.text(phaseName(ph.op) + " " + duration(ph.to.Sub(ph.from)))
		p.text(map[outcome]string{failed: ", with errors", running: ", not ended"}[ph.outcome])
	}
	if !m.interrupted.IsZero() {
		p.raw(" · interrupted at ")
		p.text(m.at(m.interrupted))
	}
	p.raw("</p>\n<dl class=\"facts\">\n")
	s := m.summary
	p.fact("ephemeral instances", strconv.Itoa(s.instances), "", false)
	p.fact("openings", strconv.Itoa(s.openings), "", false)
	p.fact("open at once, at most", strconv.Itoa(s.most), "", false)
	p.fact("open in total", duration(s.open), "", false)
	share := ""
	if s.open > 0 {
		share = " (" + strconv.Itoa(int(min(100*float64(s.used)/float64(s.open), 100)+0.5)) + " %)"
	}
	p.fact("of that in use", duration(s.used), share, false)
	p.fact("longest opening", duration(s.longest), "", false)
	if s.deferred > 0 {
		p.fact("deferred", strconv.Itoa(s.deferred), "", false)
	}
	if s.troubles > 0 {
		p.fact("failed or not closed", strconv.Itoa(s.troubles), "", true)
	}
	p.raw("</dl>\n</header>\n")
}

// fact writes one number of the summary with its name. more is an addition in small print, "" for none.
func (p *page) fact(name, value, more string, bad bool) {
	p.raw("<div")
	if bad {
		p.raw(` class="bad"`)
	}
	p.in("><dt>", name, "</dt><dd>")
	p.text(value)
	if more != "" {
		p.in("<small>", more, "</small>")
	}
	p.raw("</dd></div>\n")
}

// at returns a time as the time since the beginning, as precise as the length of the run warrants.
func (m *model) at(t time.Time) string {
	return clock(t.Sub(m.scale.begin), min(max(m.scale.active/5000, time.Microsecond), time.Second))
}

func phaseName(op event.Op) string {
	if op == event.OpApplying {
		return "Applying"
	}
	return "Planning"
}

// class returns the style class of an operation; each class has an entry in the legend.
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
