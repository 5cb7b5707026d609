package timeline

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mayfly-iac/mayfly/event"
)

// sizes are the dimensions of rows, in pixels: the padding above and below, the height of a lane, and the gap
// between lanes. Heights are fixed and widths relative: a page of a few rows and one of a thousand are read
// at every width of a window.
type sizes struct{ pad, lane, gap int }

var (
	// Names fit into lanes of the first kind only.
	roomy  = sizes{pad: 6, lane: 14, gap: 2}
	narrow = sizes{pad: 4, lane: 6, gap: 1}
)

// height returns the height of a row. One without lanes is as high as one with a single lane.
func (s sizes) height(lanes int) int { return 2*s.pad + max(lanes, 1)*(s.lane+s.gap) - s.gap }

// y returns the top of a lane within its row.
func (s sizes) y(lane int) int { return s.pad + lane*(s.lane+s.gap) }

const (
	// The limits of the layout. The page has no script, so they must suit every width of the window.
	manyObjects = 40 // from here on, operations share lanes instead of having a row for each object
	objectLanes = 24
	pixels      = 7.0 // of one percent of the axis, at least
	letter      = 5.6 // pixels of a letter in a bar
	nameMargin  = 12  // percent of the axis that the name of a phase needs, or the number of a round
	roundMargin = 25  // percent of the axis that the name of a phase with the number of its round needs
)

// symbols defines the marks that the chart uses in many places.
func (p *page) symbols() {
	p.Raw(`<svg width="0" height="0" class="defs" aria-hidden="true"><defs>`,
		`<path id="deferred" d="M0 -5L5 0L0 5L-5 0Z"/>`,
		`<path id="failed" d="M-6 0A6 6 0 1 1 6 0A6 6 0 1 1 -6 0ZM-2.5 -2.5L2.5 2.5M2.5 -2.5L-2.5 2.5"/>`,
		`<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2.5" height="6" class="stripe"/></pattern>`,
		"</defs></svg>\n")
}

// legend explains the colours and marks. It lists all of them, whatever the run has, so that pages of
// different runs are read alike.
func (p *page) legend() {
	item := func(c markup, words markup) { p.Raw(`<li><i class="`, c, `"></i>`, words, "</li>\n") }
	p.Raw("<ul class=\"legend\" aria-label=\"Legend\">\n")
	item("window", "open")
	item("call", "open and close calls")
	item("renewal", "renewal")
	p.Raw("<li class=\"sep\">in use, and operations:</li>\n")
	for _, c := range []markup{"plan", "read", "create", "update", "delete", "provision"} {
		item(c, c)
	}
	item("configure", "by a provider")
	item("other", "by another ephemeral")
	item("evaluate", "output, variable or condition")
	item("bad", "failed or not closed")
	p.Raw(`<li><svg width="14" height="12" aria-hidden="true"><use href="#deferred" class="deferred" x="6" y="6"/></svg>deferred</li>`, "\n")
	p.Raw(`<li><svg width="14" height="12" aria-hidden="true"><rect class="cut" width="14" height="12"/></svg>a wait, cut short</li>`, "\n</ul>\n")
}

// chart draws the chart: the time axis, then a row for each ephemeral instance, provider and operation. All
// rows share the scale of the axis and lie over one grid.
func (p *page) chart(m *model) {
	p.Raw("<section class=\"chart\" tabindex=\"0\" aria-label=\"Chart of the run; the tables below say the same\">\n<div class=\"plot")
	if m.dense {
		p.Raw(" dense")
	}
	p.Raw("\">\n")
	p.grid(m)
	p.axis(m)
	p.exposure(m)
	if len(m.groups) > 0 {
		p.Raw("<h2><span>Ephemeral instances</span></h2>\n")
	}
	for _, g := range m.groups {
		p.group(m, g)
	}
	if len(m.providers) > 0 {
		p.Raw("<h2><span>Providers configured from ephemeral values</span></h2>\n")
	}
	for _, ro := range m.providers {
		p.row(m, ro)
	}
	if len(m.objects) > 0 {
		p.Raw("<h2><span>Operations</span></h2>\n")
	}
	p.operations(m)
	p.Raw("</div>\n</section>\n")
}

// grid draws the background of all rows: ticks, ends of phases, shortened waits and the interrupt.
func (p *page) grid(m *model) {
	p.Raw(`<svg class="grid" aria-hidden="true">`)
	for _, t := range m.scale.ticks() {
		p.vertical("tick", t.x)
	}
	for i, ph := range m.phases {
		if i > 0 {
			p.vertical("phase", m.scale.x(ph.from))
		}
	}
	for _, c := range m.scale.pieces {
		if c.cut {
			p.Raw(`<rect class="cut" x="`, percent(c.x0), `" width="`, percent(c.x1-c.x0), `" height="100%"><title>`)
			p.Text("waiting for " + Duration(c.to.Sub(c.from)) + "; the axis is cut short here")
			p.Raw("</title></rect>")
		}
	}
	if !m.interrupted.IsZero() {
		p.vertical("interrupt", m.scale.x(m.interrupted))
	}
	p.Raw("</svg>\n")
}

// vertical draws a line across all rows. c is its style class.
func (p *page) vertical(c markup, x float64) {
	p.Raw(`<line class="`, c, `" x1="`, percent(x), `" x2="`, percent(x), `" y1="0" y2="100%"/>`)
}

// axis writes the names of the phases and the labels of the ticks.
func (p *page) axis(m *model) {
	p.Raw("<div class=\"row axis\"><div class=\"who\"><b class=\"name\">time since the beginning</b><b class=\"num\">open</b><b class=\"num\">used</b></div>",
		`<svg height="36" aria-hidden="true">`)
	for i, name := range axisNames(m) {
		if name == "" {
			continue // the line at the phase's end still separates it from the next one
		}
		p.Raw(`<text class="phase" x="`, percent(m.scale.x(m.phases[i].from)), `" dx="4" y="13">`)
		if p.Text(name); m.phases[i].outcome == failed {
			p.Raw(`<tspan class="bad" dx="4">✕</tspan>`)
		}
		p.Raw("</text>")
	}
	if !m.interrupted.IsZero() {
		p.Raw(`<text class="phase bad" x="`, percent(m.scale.x(m.interrupted)), `" dx="-4" y="13" text-anchor="end">interrupted</text>`)
	}
	for _, t := range m.scale.ticks() {
		p.Raw(`<text x="`, percent(t.x), `" y="30" dx="3">`)
		p.Text(t.label)
		p.Raw("</text>")
	}
	p.Raw("</svg></div>\n")
}

// exposure draws the number of open instances over time. Its coordinates are stretched to the width of the
// axis, since a path cannot have positions in percent.
func (p *page) exposure(m *model) {
	if m.summary.most == 0 {
		return
	}
	const height = 40
	p.Raw("<div class=\"row total\"><div class=\"who\"><span class=\"name\">open at once, at most ", count(m.summary.most), "</span><span class=\"num\">")
	p.In("", Duration(m.summary.open), "</span><span class=\"num\">")
	p.In("", Duration(m.summary.used), "</span></div>")
	p.Raw(`<svg height="`, count(height), `" viewBox="0 0 10000 `, count(height), `" preserveAspectRatio="none" aria-hidden="true"><path class="area" d="M0 `, count(height))
	for _, s := range m.profile {
		y := markup(number(height-float64(height-4)*float64(s.n)/float64(m.summary.most), 1))
		p.Raw("H", markup(number(100*m.scale.x(s.at), 1)), "V", y)
	}
	p.Raw("V", count(height), `Z"/></svg></div>`, "\n")
}

// group draws the instances of one block: a single one as a row, several below a summary row that can be
// folded, because a block may have thousands of them.
func (p *page) group(m *model, g group) {
	if len(g.rows) == 1 {
		p.row(m, g.rows[0])
		return
	}
	var open, used time.Duration
	for _, ro := range g.rows {
		open += ro.open
		used += ro.used
	}
	p.Raw("<details open=\"open\"><summary class=\"row\"><span class=\"who\"><span class=\"name\"><span class=\"loc\"")
	p.In(" title=\"", g.name, "\">")
	p.Text(g.name)
	p.Raw("</span>")
	p.In("<em>×", strconv.Itoa(len(g.rows)), "</em></span><span class=\"num\">")
	p.In("", Duration(open), "</span><span class=\"num\">")
	p.In("", Duration(used), "</span></span></summary>\n")
	for _, ro := range g.rows {
		p.row(m, ro)
	}
	p.Raw("</details>\n")
}

// who writes the fixed left part of a row: the name, and numbers if there are any.
func (p *page) who(name, module string, numbers ...string) {
	p.Raw("<div class=\"who\"><span class=\"name\"")
	p.In(" title=\"", name, "\">")
	if module != "" && strings.HasPrefix(name, module) {
		p.In("<span class=\"mod\">", module, "</span>")
		name = name[len(module):]
	}
	p.In("<span class=\"loc\">", name, "</span></span>")
	for _, n := range numbers {
		p.In("<span class=\"num\">", n, "</span>")
	}
	p.Raw("</div>")
}

// sizes returns the dimensions of the rows of ephemeral instances.
func (m *model) sizes() sizes {
	if m.dense {
		return narrow
	}
	return roomy
}

// row draws an ephemeral instance or a provider: its windows over the whole height, the calls at their ends,
// and the uses inside. Later shapes lie on top, so labels are drawn last.
func (p *page) row(m *model, ro row) {
	sz := m.sizes()
	h := sz.height(ro.laneCount)
	p.Raw("<div class=\"row\">")
	p.who(ro.name, ro.module, Duration(ro.open), Duration(ro.used))
	p.Raw(`<svg height="`, count(h), `" aria-hidden="true">`)
	for _, w := range ro.windows {
		c, words := markup("window"), "open"
		if w.unclosed {
			c, words = "window bad", "open, and not closed as far as this run tells"
		}
		p.bar(m, c, w.from, w.to, 2, h-4, ro.name+": "+words)
	}
	for _, c := range ro.calls {
		if c.op != event.OpRenew {
			p.call(m, "call", ro.name, c, h)
		}
	}
	for i, u := range ro.uses {
		p.bar(m, class(u.op)+" use", u.from, u.to, sz.y(ro.lanes[i]), sz.lane, "used by "+u.user+" ("+verb(u.op)+")")
	}
	for _, c := range ro.calls { // on top of the uses, which last while it is renewed
		if c.op == event.OpRenew {
			p.call(m, "renewal", ro.name, c, h)
		}
	}
	for i, u := range ro.uses {
		if !m.dense {
			p.label(m, u.from, u.to, sz.y(ro.lanes[i]), u.user)
		}
	}
	for _, t := range ro.deferred {
		p.mark(m, "deferred", t, h/2, ro.name+": deferred, not opened yet")
	}
	p.Raw("</svg></div>\n")
}

// call draws a call to open, renew or close an instance, with a cross at its end if it failed.
func (p *page) call(m *model, c markup, name string, s span, h int) {
	words := name + ": " + string(s.op) + ended(s.outcome)
	if s.outcome.bad() {
		c += " bad"
	}
	p.bar(m, c, s.from, s.to, 2, h-4, words)
	if s.outcome == failed {
		p.mark(m, "failed", s.to, h/2, words)
	}
}

// ended returns the end of a tooltip about an operation that did not succeed, "" for one that did.
func ended(o outcome) string {
	switch o {
	case failed:
		return ", failed"
	case running:
		return ", not ended"
	case putOff:
		return ", deferred by the provider"
	default:
		return ""
	}
}

// bar draws an interval, from y down over h pixels. c is its style class, words its tooltip, to which the
// times are added.
func (p *page) bar(m *model, c markup, from, to time.Time, y, h int, words string) {
	x0, x1 := m.scale.x(from), m.scale.x(to)
	p.Raw(`<rect class="`, c, `" x="`, percent(x0), `" y="`, count(y), `" width="`, percent(x1-x0), `" height="`, count(h), `"><title>`)
	p.Text(words)
	p.Raw("\n")
	p.Text(m.at(from) + " – " + m.at(to) + " (" + Duration(to.Sub(from)) + ")")
	p.Raw("</title></rect>")
}

// label writes a name into a bar, cut to the width of the bar; nothing if hardly a letter would be left. The
// width of the window is not known, so the bar is taken to be as narrow as the smallest layout makes it.
func (p *page) label(m *model, from, to time.Time, y int, name string) {
	room := int(((m.scale.x(to)-m.scale.x(from))*pixels - 6) / letter)
	if n := utf8.RuneCountInString(name); n > room {
		if room < 6 {
			return
		}
		name = string([]rune(name)[:room-1]) + "…"
	}
	p.Raw(`<text class="in" x="`, percent(m.scale.x(from)), `" dx="4" y="`, count(y+10), `">`)
	p.Text(name)
	p.Raw("</text>")
}

// mark draws a symbol at a time, centred at y pixels. id is one that symbols defines. words is its tooltip.
func (p *page) mark(m *model, id markup, t time.Time, y int, words string) {
	p.Raw(`<use href="#`, id, `" class="`, id, `" x="`, percent(m.scale.x(t)), `" y="`, count(y), `"><title>`)
	p.Text(words)
	p.Raw("\n")
	p.Text(m.at(t))
	p.Raw("</title></use>")
}

// operations draws the operations on resources: a row for each object, or, if there are many objects, all
// operations together in as many lanes as ran at once. A part of another operation, such as refreshing during
// planning, is drawn inside it.
func (p *page) operations(m *model) {
	if len(m.objects) <= manyObjects {
		for _, o := range m.objects {
			p.Raw("<div class=\"row\">")
			p.who(o.name, o.module)
			p.Raw(`<svg height="`, count(roomy.height(1)), `" aria-hidden="true">`)
			depth := nesting(o.ops)
			for i, s := range o.ops {
				p.operation(m, o.name, s, roomy.pad+3*depth[i], roomy.lane-6*depth[i])
			}
			p.Raw("</svg></div>\n")
		}
		return
	}
	// In a shared row, an operation lies in the lane of the one that it is part of: outer is that one's
	// index.
	type placed struct {
		name string
		span
		depth, outer int
	}
	var all []placed
	var outer []int // indices of those that are in no other
	for _, o := range m.objects {
		depth := nesting(o.ops)
		for i, s := range o.ops {
			if depth[i] == 0 {
				outer = append(outer, len(all))
			}
			all = append(all, placed{o.name, s, depth[i], len(outer) - 1})
		}
	}
	lanes, n := pack(len(outer), objectLanes, func(i int) (time.Time, time.Time) { return all[outer[i]].from, all[outer[i]].to })
	p.Raw("<div class=\"row\">")
	p.who(plural(len(m.objects), "object")+", "+plural(len(all), "operation"), "")
	p.Raw(`<svg height="`, count(roomy.height(n)), `" aria-hidden="true">`)
	for _, o := range all {
		p.operation(m, o.name, o.span, roomy.y(lanes[o.outer])+3*o.depth, roomy.lane-6*o.depth)
	}
	p.Raw("</svg></div>\n")
}

// nesting returns for each operation of an object 1 if it is part of the preceding one, such as refreshing
// during planning, else 0.
func nesting(ops []span) []int {
	depth := make([]int, len(ops))
	outer := -1
	for i, s := range ops {
		if outer >= 0 && !s.to.After(ops[outer].to) && !s.from.Before(ops[outer].from) {
			depth[i] = 1
			continue
		}
		outer = i
	}
	return depth
}

// operation draws an operation on a resource from y down, with a mark if it failed.
func (p *page) operation(m *model, name string, s span, y, h int) {
	words := name + ": " + operationText(s) + ended(s.outcome)
	c := class(s.op)
	if s.outcome.bad() {
		c += " bad"
	}
	p.bar(m, c, s.from, s.to, y, h, words)
	if s.outcome == failed {
		p.mark(m, "failed", s.to, y+h/2, words)
	}
}

// operationText returns the name of an operation, with the type of a provisioner.
func operationText(s span) string {
	if s.provider == "" {
		return string(s.op)
	}
	return string(s.op) + " (" + s.provider + ")"
}
