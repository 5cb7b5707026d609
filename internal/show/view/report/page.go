package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/internal/hypertext"
	"github.com/mayfly-iac/mayfly/internal/show/view/timeline"
)

// style is added to the style sheet of the timeline, so that the two look alike.
//
//go:embed style.css
var style string

// script makes the list of changes. It has no dependencies.
//
//go:embed page.js
var script string

// page is a document being written.
type page struct{ hypertext.Page }

// Write writes the page. Operations that have not ended are shown as such. It fails if w fails.
func (r *Report) Write(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &page{}
	r.title = cmp.Or(r.title, "State")
	r.settle()
	title := r.title
	if dir := r.clean(r.Directory); dir != "" {
		title += ": " + dir
	}
	p.Head(title+" · Mayfly", hypertext.Markup(timeline.Style()+style), hypertext.Markup(script))
	p.Raw(`<a class="skip" href="#changes">Skip to the list</a>`, "\n")
	p.header(r)
	p.Raw("<main id=\"main\">\n")
	p.notes(r)
	if err := p.changes(r); err != nil {
		return err
	}
	p.outputs(r)
	p.orders(r.rounds)
	if run := r.Fragment(); run != "" {
		// As the text of a script it costs next to nothing until it is asked for. Nothing in it can end the
		// element: texts are escaped.
		p.Raw(`<section id="run"><h2>Timeline</h2>`, "\n", `<details class="lazy"><summary>When what ran, and how long ephemeral values were exposed</summary>`,
			`<script type="text/html">`, "\n", hypertext.Markup(run), "</script></details>\n</section>\n")
	}
	p.Raw("</main>\n")
	p.Foot(hypertext.Markup(script))
	_, err := w.Write(p.Bytes())
	return err
}

// header writes the title and the numbers of changes.
func (p *page) header(r *Report) {
	p.In("<header>\n<h1>", r.title, "</h1>\n")
	p.In("<p>", strings.Join(append(r.places(), r.where), ", "), "</p>\n")
	for _, line := range r.summaries() {
		if line != "" {
			p.In("<p class=\"summary\">", line, "</p>\n")
		}
	}
	if r.banner != "" {
		p.In("<p class=\"banner\">", r.banner, "</p>\n")
	}
	p.Raw("</header>\n")
}

// places returns where the run and its state are, as far as that is known, each in a few words.
func (r *Report) places() []string {
	var out []string
	for _, at := range [][2]string{{"directory ", r.Directory}, {"workspace ", r.Workspace}, {"state in ", r.Place}, {"commit ", r.Commit}} {
		if at[1] != "" {
			out = append(out, at[0]+r.clean(at[1]))
		}
	}
	return out
}

// notes writes the diagnostics, errors first.
func (p *page) notes(r *Report) {
	if len(r.notes) == 0 {
		return
	}
	p.Raw("<section id=\"notes\"><h2>Errors and warnings</h2>\n")
	for _, bad := range []bool{true, false} {
		for _, n := range r.notes {
			if n.Bad != bad {
				continue
			}
			if bad {
				p.Raw(`<pre class="note bad" tabindex="0">`)
			} else {
				p.Raw(`<pre class="note" tabindex="0">`)
			}
			p.Lines(n.Text)
			p.Raw("</pre>\n")
		}
	}
	p.Raw("</section>\n")
}

// changes writes the place for the list of changes, and its data. In JSON, the characters of markup are
// escaped, so that no text can end the element.
func (p *page) changes(r *Report) error {
	title := hypertext.Markup("Changes")
	if len(r.rows) > 0 && r.rows[0].Kind == "object" {
		title = "Objects"
	}
	data, err := json.Marshal(struct {
		Rows  []Row    `json:"rows"`
		Folds []string `json:"folds"`
	}{r.rows, r.folds})
	if err != nil {
		return err
	}
	p.Raw(`<section id="changes" aria-labelledby="changes-title"><h2 id="changes-title">`, title, "</h2>\n",
		`<noscript><p class="banner">The list is made by a script within this page, which this reader does not run.</p></noscript>`, "\n",
		`<div class="tools" role="search" hidden="hidden"><label for="find">Search</label> <input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="address or reason"/>`,
		`<span id="kinds" role="group" aria-label="Show only"></span><button type="button" id="unfold" aria-pressed="false">Unfold all shown</button></div>`, "\n",
		`<p id="found" role="status" aria-live="polite"></p>`, "\n", `<div id="list"></div>`, "\n", `<button type="button" id="more" hidden="hidden">Show more</button>`, "\n")
	p.Raw(`<script type="application/json" id="data">`)
	if len(r.rows) == 0 {
		data = []byte("[]")
	}
	p.Write(data)
	p.Raw("</script>\n</section>\n")
	return nil
}

// outputs writes the outputs as text.
func (p *page) outputs(r *Report) {
	if r.outputs == "" {
		return
	}
	p.Raw("<section id=\"outputs\"><h2>Outputs</h2>\n<pre class=\"diff\" tabindex=\"0\">")
	p.Lines(r.outputs)
	p.Raw("</pre>\n</section>\n")
}
