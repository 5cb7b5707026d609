package report

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/internal/hypertext"
	"github.com/mayfly-iac/mayfly/plan"
)

const (
	maxDrawn  = 80   // nodes from which the order is only a table
	maxListed = 2000 // lines of the table
	// The sizes of the drawing, in pixels.
	boxWidth, boxHeight, columnGap, rowGap = 230, 26, 56, 12
	maxLabel                               = 29 // letters
)

// orders writes the order of each round, if there is an order in one of them.
func (p *page) orders(rounds []round) {
	var out []order
	several := false
	for i, r := range rounds {
		if r.graph == nil {
			continue
		}
		o := order{round: i + 1}
		o.nodes, o.waits = blocksOf(r.graph)
		several = several || len(o.nodes) > 1
		if len(o.nodes) > 0 {
			out = append(out, o)
		}
	}
	if !several {
		return
	}
	p.Raw("<section id=\"order\"><h2>Order</h2>\n")
	for _, o := range out {
		if len(rounds) > 1 {
			p.Raw("<h3>Round ", hypertext.Count(o.round), "</h3>\n")
		}
		p.order(o.nodes, o.waits)
	}
	p.Raw("</section>\n")
}

// order is the order of a round: its blocks, and those that each of them waits for.
type order struct {
	round int
	nodes []string
	waits map[string][]string
}

// order writes which block waits for which: a drawing if it can be read, and a table. Providers and closing
// steps are left out.
func (p *page) order(nodes []string, waits map[string][]string) {
	if len(nodes) <= maxDrawn {
		p.drawing(nodes, waits)
	}
	if len(nodes) == 1 {
		return // it waits for nothing
	}
	p.Raw("<details><summary>What waits for what, as a table (", hypertext.Count(len(nodes)), " blocks)</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What waits for what\">",
		"<table>\n<thead><tr><th scope=\"col\">Block</th><th scope=\"col\">waits for</th></tr></thead>\n<tbody>\n")
	for i, n := range nodes {
		if i == maxListed {
			p.Raw("<tr><td colspan=\"2\">and ", hypertext.Count(len(nodes)-i), " more</td></tr>\n")
			break
		}
		p.In("<tr><th scope=\"row\">", label(n), "</th><td>")
		var names []string
		for _, w := range waits[n] {
			names = append(names, label(w))
		}
		p.Text(strings.Join(names, ", "))
		p.Raw("</td></tr>\n")
	}
	p.Raw("</tbody>\n</table></div></details>\n")
}

// blocksOf returns the nodes of resources, sorted, and which of them each waits for.
func blocksOf(g *plan.Graph) (nodes []string, waits map[string][]string) {
	waits = map[string][]string{}
	for _, n := range g.Nodes() {
		if g.Kind(n) != plan.ResourceNode {
			continue
		}
		nodes = append(nodes, n)
		for _, d := range g.Dependencies(n) {
			if g.Kind(d) == plan.ResourceNode {
				waits[n] = append(waits[n], d)
			}
		}
	}
	return nodes, waits
}

// label returns the name of a node for people.
func label(n string) string { return strings.TrimSuffix(n, " (expand)") }

// columns assigns each node to the column after those that it waits for. The order of a plan has no cycle; a
// node that were in one would stay in the first column.
func columns(nodes []string, waits map[string][]string) [][]string {
	at := map[string]int{}
	var place func(n string) int
	place = func(n string) int {
		if c, ok := at[n]; ok {
			return c
		}
		at[n] = 0
		c := 0
		for _, w := range waits[n] {
			c = max(c, place(w)+1)
		}
		at[n] = c
		return c
	}
	var out [][]string
	for _, n := range nodes {
		c := place(n)
		for len(out) <= c {
			out = append(out, nil)
		}
		out[c] = append(out[c], n)
	}
	return out
}

// point is a position in the drawing, in pixels.
type point struct{ x, y int }

// layout places the boxes in columns, each near the boxes that it waits for.
func layout(nodes []string, waits map[string][]string) (at map[string]point, width, height int) {
	at = map[string]point{}
	for c, column := range columns(nodes, waits) {
		middle := func(n string) int { // of the boxes that it waits for
			sum := 0
			for _, w := range waits[n] {
				sum += at[w].y
			}
			return sum / max(1, len(waits[n]))
		}
		slices.SortStableFunc(column, func(a, b string) int { return middle(a) - middle(b) })
		for i, n := range column {
			at[n] = point{8 + c*(boxWidth+columnGap), 8 + i*(boxHeight+rowGap)}
			width, height = max(width, at[n].x+boxWidth+8), max(height, at[n].y+boxHeight+8)
		}
	}
	return at, width, height
}

// drawing draws the order from left to right.
func (p *page) drawing(nodes []string, waits map[string][]string) {
	at, width, height := layout(nodes, waits)
	p.Raw(`<div class="drawing scroll" tabindex="0" role="region" aria-label="Drawing of the order"><svg role="img" aria-label="What waits for what, from left to right; the table below says the same" width="`, hypertext.Count(width), `" height="`, hypertext.Count(height), `">`, "\n")
	for _, n := range nodes {
		for _, w := range waits[n] {
			a, b := at[w], at[n]
			x0, y0, x1, y1 := a.x+boxWidth, a.y+boxHeight/2, b.x, b.y+boxHeight/2
			m := max((x1-x0)/2, columnGap/2)
			p.Raw(`<path class="edge" d="M`, hypertext.Count(x0), " ", hypertext.Count(y0), "C", hypertext.Count(x0+m), " ", hypertext.Count(y0), " ", hypertext.Count(x1-m), " ", hypertext.Count(y1), " ", hypertext.Count(x1), " ", hypertext.Count(y1), `"/>`)
		}
	}
	for _, n := range nodes {
		text := label(n)
		class := hypertext.Markup("box")
		if strings.HasSuffix(n, " (destroy)") || strings.HasSuffix(n, " (forget)") {
			class = "box gone"
		}
		p.Raw("\n<g><rect class=\"", class, `" x="`, hypertext.Count(at[n].x), `" y="`, hypertext.Count(at[n].y), `" width="`, hypertext.Count(boxWidth), `" height="`, hypertext.Count(boxHeight), `"/>`,
			`<text class="node" x="`, hypertext.Count(at[n].x+8), `" y="`, hypertext.Count(at[n].y+17), `">`)
		if letters := []rune(text); len(letters) > maxLabel {
			p.Text("…" + string(letters[len(letters)-maxLabel+1:]))
		} else {
			p.Text(text)
		}
		p.In("</text><title>", text, "</title></g>")
	}
	p.Raw("\n</svg></div>\n")
}
