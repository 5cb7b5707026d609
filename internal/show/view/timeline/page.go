package timeline

import (
	_ "embed"
	"io"
	"strconv"
)

// style is the style sheet of the page. Colours have names, with one value for light and one for dark
// screens, because the page cannot know where it is looked at. The left part of a row, the axis and the
// headings stick to the edges, so that names and times stay in sight while a large chart is scrolled. Groups
// fold by the details element, and print shows everything.
//
//go:embed style.css
var style markup

// Write writes the page for the events so far. Operations that have not ended are shown as running until the
// last event. The lock is released before w is written to, so a slow writer delays no operation. It fails if
// w fails. It is safe for concurrent use.
func (r *Recorder) Write(w io.Writer) error {
	r.mu.Lock()
	m := r.model()
	r.mu.Unlock()
	p := &page{}
	p.document(m)
	_, err := w.Write(p.Bytes())
	return err
}

// Style is the style sheet that Fragment needs.
func Style() string { return string(style) }

// Fragment returns the timeline as a part of a page that has the style sheet Style; "" if nothing was done.
// It is safe for concurrent use.
func (r *Recorder) Fragment() string {
	r.mu.Lock()
	m := r.model()
	r.mu.Unlock()
	if m.scale.begin.IsZero() {
		return ""
	}
	p := &page{}
	p.facts(m)
	p.symbols()
	p.legend()
	p.chart(m)
	p.tables(m)
	return p.String()
}

// document writes the whole page. It has no script.
func (p *page) document(m *model) {
	p.Head("Ephemeral timeline", style, "")
	p.header(m)
	p.symbols()
	p.Raw("<main>\n")
	if m.summary.instances == 0 {
		p.Raw("<p class=\"none\">No ephemeral instance was opened in this run.</p>\n")
	}
	p.legend()
	p.chart(m)
	p.tables(m)
	p.Raw("</main>\n")
	p.Foot("")
}

// header writes the head of the page: when the run was, its phases, and the summary. The time is the
// machine's, with its offset.
func (p *page) header(m *model) {
	p.Raw("<header>\n<h1>Ephemeral timeline</h1>\n<p>")
	if m.scale.begin.IsZero() {
		p.Raw("Nothing was done in this run.</p>\n</header>\n")
		return
	}
	p.Raw("From <time>")
	p.Text(m.scale.begin.Format("2006-01-02 15:04:05.000 -07:00"))
	p.Raw("</time> for ")
	p.Text(Duration(m.scale.end.Sub(m.scale.begin)))
	names := phaseNames(m.phases)
	for i, ph := range m.phases {
		p.Raw(" · ")
		p.Text(names[i] + " " + Duration(ph.to.Sub(ph.from)))
		p.Text(map[outcome]string{failed: ", with errors", running: ", not ended"}[ph.outcome])
	}
	if !m.interrupted.IsZero() {
		p.Raw(" · interrupted at ")
		p.Text(m.at(m.interrupted))
	}
	p.Raw("</p>\n")
	p.facts(m)
	p.Raw("</header>\n")
}

// facts writes the summary.
func (p *page) facts(m *model) {
	p.Raw("<dl class=\"facts\">\n")
	s := m.summary
	p.fact("ephemeral instances", strconv.Itoa(s.instances), "", false)
	p.fact("openings", strconv.Itoa(s.openings), "", false)
	p.fact("open at once, at most", strconv.Itoa(s.most), "", false)
	p.fact("open in total", Duration(s.open), "", false)
	share := ""
	if s.open > 0 {
		share = " (" + strconv.Itoa(int(min(100*float64(s.used)/float64(s.open), 100)+0.5)) + " %)"
	}
	p.fact("of that in use", Duration(s.used), share, false)
	p.fact("longest opening", Duration(s.longest), "", false)
	if s.deferred > 0 {
		p.fact("deferred", strconv.Itoa(s.deferred), "", false)
	}
	if s.troubles > 0 {
		p.fact("failed or not closed", strconv.Itoa(s.troubles), "", true)
	}
	p.Raw("</dl>\n")
}

// fact writes one number of the summary with its name. more is an addition in small print, "" for none.
func (p *page) fact(name, value, more string, bad bool) {
	p.Raw("<div")
	if bad {
		p.Raw(` class="bad"`)
	}
	p.In("><dt>", name, "</dt><dd>")
	p.Text(value)
	if more != "" {
		p.In("<small>", more, "</small>")
	}
	p.Raw("</dd></div>\n")
}
