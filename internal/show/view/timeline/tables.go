package timeline

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/event"
)

// manyLines is the number of lines from which a table is folded at first.
const manyLines = 60

// tables writes the content of the chart as tables, for readers that see no chart and for copying. They have
// every call and use, including those that the chart draws over each other.
func (p *page) tables(m *model) {
	p.Raw("<section class=\"tables\" aria-label=\"Tables\">\n")
	defer p.Raw("</section>\n")
	var rows []row
	for _, g := range m.groups {
		rows = append(rows, g.rows...)
	}
	if len(rows) > 0 {
		p.table("Ephemeral instances", len(rows), []markup{"Address", "First opened", "Open", "Used", "Openings", "Renewals", "Uses", "Outcome"}, func() {
			for _, ro := range rows {
				p.instance(m, ro)
			}
		})
	}
	rows = append(rows, m.providers...)
	lines, operations := 0, 0
	for _, ro := range rows {
		lines += len(ro.calls) + len(ro.uses) + len(ro.deferred)
	}
	for _, o := range m.objects {
		operations += len(o.ops)
	}
	if lines > 0 {
		p.table("Calls and uses", lines, []markup{"Address", "What", "By", "From", "To", "Took", "Outcome"}, func() {
			for _, ro := range rows {
				p.life(m, ro)
			}
		})
	}
	if operations > 0 {
		p.table("Operations", operations, []markup{"Address", "What", "From", "To", "Took", "Outcome"}, func() {
			for _, o := range m.objects {
				for _, s := range o.ops {
					p.line(s.outcome.bad(), append([]string{o.name, operationText(s)}, append(m.times(s), endText(s.outcome))...)...)
				}
			}
		})
	}
}

// table writes a table under a title that folds it. body writes its lines.
func (p *page) table(title markup, lines int, heads []markup, body func()) {
	open := markup(` open="open"`)
	if lines > manyLines {
		open = ""
	}
	p.Raw("<details", open, " class=\"table\"><summary><h2>", title, " <em>", count(lines), "</em></h2></summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"", title, "\"><table>\n<thead><tr>")
	for _, h := range heads {
		p.Raw("<th scope=\"col\">", h, "</th>")
	}
	p.Raw("</tr></thead>\n<tbody>\n")
	body()
	p.Raw("</tbody>\n</table></div></details>\n")
}

// line writes a line of a table. The first cell is its heading; bad marks a line about a failure.
func (p *page) line(bad bool, cells ...string) {
	p.Raw("<tr")
	if bad {
		p.Raw(` class="bad"`)
	}
	p.In("><th scope=\"row\">", cells[0], "</th>")
	for _, c := range cells[1:] {
		p.In("<td>", c, "</td>")
	}
	p.Raw("</tr>\n")
}

// instance writes the line of an ephemeral instance or provider: when it was first opened, how long it was
// open and used, and how it ended.
func (p *page) instance(m *model, ro row) {
	renewals := 0
	for _, c := range ro.calls {
		if c.op == event.OpRenew {
			renewals++
		}
	}
	first := "never"
	if len(ro.windows) > 0 {
		first = m.at(ro.windows[0].from)
	}
	words, bad := ro.outcome()
	p.line(bad, ro.name, first, Duration(ro.open), Duration(ro.used), strconv.Itoa(len(ro.windows)), strconv.Itoa(renewals), strconv.Itoa(len(ro.uses)), words)
}

// outcome returns how the instance ended, and whether that is a failure.
func (ro *row) outcome() (words string, bad bool) {
	var all []string
	for _, c := range ro.calls {
		if c.outcome == failed {
			all = append(all, string(c.op)+" failed")
		}
	}
	for _, w := range ro.windows {
		if w.unclosed {
			all = append(all, "not closed")
		}
	}
	// Each call has a line of its own in another table.
	if len(all) > 3 {
		all = append(all[:3], "and more")
	}
	bad = len(all) > 0
	switch {
	case bad:
	case len(ro.windows) > 0:
		all = append(all, "closed")
	}
	if len(ro.deferred) > 0 {
		all = append(all, "deferred at first")
		if !slices.ContainsFunc(ro.calls, func(c span) bool { return c.outcome != putOff }) {
			all[len(all)-1] = "deferred"
		}
	}
	return strings.Join(all, ", "), bad
}

// life writes the calls and uses of an instance, sorted by their start. A deferral is a moment and has no
// end.
func (p *page) life(m *model, ro row) {
	type entry struct {
		from  time.Time
		bad   bool
		cells []string
	}
	var all []entry
	for _, t := range ro.deferred {
		all = append(all, entry{t, false, []string{ro.name, "deferred", "", m.at(t), "", "", ""}})
	}
	for _, c := range ro.calls {
		all = append(all, entry{c.from, c.outcome.bad(), append([]string{ro.name, string(c.op), ""}, append(m.times(c), endText(c.outcome))...)})
	}
	for _, u := range ro.uses {
		all = append(all, entry{u.from, u.outcome.bad(), append([]string{ro.name, "used: " + verb(u.op), u.user}, append(m.times(u.span), endText(u.outcome))...)})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return a.from.Compare(b.from) })
	for _, e := range all {
		p.line(e.bad, e.cells...)
	}
}

// times returns the cells about when a span was: its start, its end and its duration.
func (m *model) times(s span) []string {
	return []string{m.at(s.from), m.at(s.to), Duration(s.to.Sub(s.from))}
}

// endText returns the cell about the end of an operation. It is empty for success, so that failures catch the
// eye.
func endText(o outcome) string {
	switch o {
	case failed:
		return "failed"
	case running:
		return "not ended"
	case putOff:
		return "deferred"
	default:
		return ""
	}
}
