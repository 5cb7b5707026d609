package coverage

import (
	_ "embed"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/eval/coverage"
)

// style is the style sheet of the page. What came and what did not differs by mark and weight as well as by
// colour. On narrow screens the tables of points become lists, so that only the table of counts is scrolled.
//
//go:embed style.css
var style string

// page collects the text of an HTML page.
type page struct{ strings.Builder }

// raw writes markup.
func (p *page) raw(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// text writes text.
func (p *page) text(s string) { p.WriteString(html.EscapeString(s)) }

// HTML writes the report as a page that needs no script and nothing from elsewhere, and says so to the
// browser in a content security policy. Errors are those of w.
func (r *Report) HTML(w io.Writer) error {
	p := &page{}
	p.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1"/>`, "\n",
		`<meta name="color-scheme" content="light dark"/>`, "\n<title>Test coverage</title>\n<style>\n", style, "</style>\n</head>\n<body>\n",
		"<header>\n<h1>Test coverage</h1>\n<p>")
	p.text(strings.TrimPrefix(r.Summary(), "Coverage: "))
	p.raw("</p>\n</header>\n<main>\n")
	if len(r.files) > 0 {
		p.counts(r)
	}
	for i, f := range r.files {
		p.file(i, f)
	}
	p.raw("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// counts writes the table with a line for each file.
func (p *page) counts(r *Report) {
	p.raw(`<div class="scroll" tabindex="0" role="region" aria-label="Outcomes by file">`, "\n<table class=\"counts\">\n",
		"<caption>Outcomes exercised, of all that are possible</caption>\n<thead><tr><th scope=\"col\">file</th><th scope=\"col\">total</th>")
	for _, name := range names {
		p.raw(`<th scope="col">`, name, "</th>")
	}
	p.raw("</tr></thead>\n<tbody>\n")
	all := make([]share, len(names))
	for i, f := range r.files {
		p.raw(`<tr><th scope="row"><a href="#file-`, strconv.Itoa(i), `">`)
		p.text(f.name)
		p.raw("</a></th>")
		p.share(f.total, true)
		for k, s := range f.kinds {
			p.share(s, false)
			all[k].Exercised, all[k].Total = all[k].Exercised+s.Exercised, all[k].Total+s.Total
		}
		p.raw("</tr>\n")
	}
	p.raw("</tbody>\n<tfoot><tr><th scope=\"row\">total</th>")
	p.share(r.total, true)
	for _, s := range all {
		p.share(s, false)
	}
	p.raw("</tr></tfoot>\n</table>\n</div>\n")
}

// share writes a cell of the table of counts, with a bar if it is a total.
func (p *page) share(s share, bar bool) {
	class := ""
	if s.Exercised < s.Total {
		class = ` class="part"`
	}
	p.raw("<td", class, ">", s.String())
	if bar {
		p.raw(`<span class="bar"><i style="width:`, strconv.Itoa(s.percent()), `%"></i></span>`)
	}
	p.raw("</td>")
}

// file writes the points of a file. One without gaps is folded.
func (p *page) file(i int, f file) {
	open := ""
	if f.total.Exercised < f.total.Total {
		open = " open"
	}
	p.raw(`<details id="file-`, strconv.Itoa(i), `"`, open, "><summary><h2>")
	p.text(f.name)
	p.raw("</h2><span>", f.total.String(), "</span></summary>\n<table class=\"points\">\n",
		"<thead><tr><th scope=\"col\">line</th><th scope=\"col\">what</th><th scope=\"col\">outcomes</th></tr></thead>\n<tbody>\n")
	for _, point := range f.points {
		p.point(point)
	}
	p.raw("</tbody>\n</table>\n</details>\n")
}

// point writes the line of a point, with all of its outcomes.
func (p *page) point(point coverage.Point) {
	class := ""
	if gap(point) != "" {
		class = ` class="gap"`
	}
	p.raw("<tr", class, "><td>", position(point), `</td><th scope="row">`)
	p.text(point.Name)
	p.raw("</th><td>")
	for i, o := range point.Kind.Outcomes() {
		if point.Came[i] {
			p.raw("<span>✓ ", o, "</span>")
		} else {
			p.raw(`<span class="never">✗ never `, o, "</span>")
		}
	}
	p.raw("</td></tr>\n")
}
