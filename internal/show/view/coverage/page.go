package coverage

import (
	_ "embed"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/show/view/internal/hypertext"
)

// style is the style sheet of the page. Outcomes that came differ from the others by mark and weight as well
// as by colour. On narrow screens the tables of points become lists, so that only the table of counts is
// scrolled.
//
//go:embed style.css
var style hypertext.Markup

// page is a document being written.
type page struct{ hypertext.Page }

// HTML writes the report as a page that needs no script and nothing from elsewhere. It fails if w fails.
func (r *Report) HTML(w io.Writer) error {
	p := &page{}
	p.Head("Test coverage", style, "")
	p.In("<header>\n<h1>Test coverage</h1>\n<p>", strings.TrimPrefix(r.Summary(), "Coverage: "), "</p>\n</header>\n<main>\n")
	if len(r.files) > 0 {
		p.counts(r)
	}
	for i, f := range r.files {
		p.file(i, f)
	}
	p.Raw("</main>\n")
	p.Foot("")
	_, err := w.Write(p.Bytes())
	return err
}

// counts writes the table with a line for each file.
func (p *page) counts(r *Report) {
	p.Raw(`<div class="scroll" tabindex="0" role="region" aria-label="Outcomes by file">`, "\n<table class=\"counts\">\n",
		"<caption>Outcomes exercised, of all that are possible</caption>\n<thead><tr><th scope=\"col\">file</th><th scope=\"col\">total</th>")
	for _, name := range names {
		p.In(`<th scope="col">`, name, "</th>")
	}
	p.Raw("</tr></thead>\n<tbody>\n")
	all := make([]share, len(names))
	for i, f := range r.files {
		p.Raw(`<tr><th scope="row"><a href="#file-`, hypertext.Count(i))
		p.In(`">`, f.name, "</a></th>")
		p.share(f.total, true)
		for k, s := range f.kinds {
			p.share(s, false)
			all[k].Exercised, all[k].Total = all[k].Exercised+s.Exercised, all[k].Total+s.Total
		}
		p.Raw("</tr>\n")
	}
	p.Raw("</tbody>\n<tfoot><tr><th scope=\"row\">total</th>")
	p.share(r.total, true)
	for _, s := range all {
		p.share(s, false)
	}
	p.Raw("</tr></tfoot>\n</table>\n</div>\n")
}

// share writes a cell of the table of counts, with a bar if it is a total.
func (p *page) share(s share, bar bool) {
	class := hypertext.Markup("")
	if s.Exercised < s.Total {
		class = ` class="part"`
	}
	p.Raw("<td", class)
	p.In(">", s.String(), "")
	if bar {
		p.Raw(`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect height="1" width="`, hypertext.Count(s.percent()), `"/></svg>`)
	}
	p.Raw("</td>")
}

// file writes the points of a file. One without gaps is folded.
func (p *page) file(i int, f file) {
	open := hypertext.Markup("")
	if f.total.Exercised < f.total.Total {
		open = ` open="open"`
	}
	p.Raw(`<details id="file-`, hypertext.Count(i), `"`, open)
	p.In("><summary><h2>", f.name, "</h2>")
	p.In("<span>", f.total.String(), "</span></summary>\n")
	p.Raw("<table class=\"points\">\n",
		"<thead><tr><th scope=\"col\">line</th><th scope=\"col\">what</th><th scope=\"col\">outcomes</th></tr></thead>\n<tbody>\n")
	for _, point := range f.points {
		p.point(point)
	}
	p.Raw("</tbody>\n</table>\n</details>\n")
}

// point writes the line of a point, with all of its outcomes.
func (p *page) point(point coverage.Point) {
	class := hypertext.Markup("")
	if gap(point) != "" {
		class = ` class="gap"`
	}
	p.Raw("<tr", class)
	p.In("><td>", position(point), "</td>")
	p.In(`<th scope="row">`, point.Name, "</th><td>")
	for i, o := range point.Kind.Outcomes() {
		if point.Came[i] {
			p.In("<span>✓ ", o, "</span>")
		} else {
			p.In(`<span class="never">✗ never `, o, "</span>")
		}
	}
	p.Raw("</td></tr>\n")
}
