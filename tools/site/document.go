package main

import (
	"bytes"
	"fmt"
	"html/template"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads and writes Markdown as GitHub does.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(html.WithXHTML(), renderer.WithNodeRenderers(util.Prioritized(scrolling{}, 1))))

// document is a Markdown file that was read.
type document struct {
	source string
	text   []byte
	root   ast.Node
	links  []*link // in order
	html   []int   // lines with HTML, which is not shown
}

// read reads a document: its title, headings and sections.
func (p *page) read(source []byte) {
	d := &document{source: p.source, text: source, root: markdown.Parser().Parse(text.NewReader(source))}
	p.document, p.title = d, path.Base(p.source)
	ids := map[string]int{}
	current := section{}
	var words strings.Builder
	end := func() {
		current.text = strings.Join(strings.Fields(words.String()), " ")
		p.sections = append(p.sections, current)
		words.Reset()
	}
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			d.plain(&words, n)
			continue
		}
		next := heading{Level: h.Level, Text: d.textOf(h)}
		next.ID = anchor(next.Text)
		if again := ids[next.ID]; again > 0 {
			ids[next.ID]++
			next.ID += "-" + strconv.Itoa(again)
		} else {
			ids[next.ID] = 1
		}
		h.SetAttributeString("id", []byte(next.ID))
		if h.Level == 1 && len(p.headings) == 0 {
			p.title = next.Text
		}
		p.headings = append(p.headings, next)
		if current.id != "" || words.Len() > 0 {
			end()
		}
		current = section{heading: next.Text, id: next.ID}
	}
	end()
	dropEmptyHeads(d.root)
	d.findLinks()
}

// anchor returns the name of a heading as GitHub makes it.
func anchor(heading string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			out.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(r)
		}
	}
	return out.String()
}

// dropEmptyHeads removes the heads of tables that have none, which Markdown writes as empty cells.
func dropEmptyHeads(root ast.Node) {
	var empty []ast.Node
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if head, ok := n.(*tables.TableHeader); ok && entering {
			for cell := head.FirstChild(); cell != nil; cell = cell.NextSibling() {
				if cell.HasChildren() {
					return ast.WalkSkipChildren, nil
				}
			}
			empty = append(empty, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range empty {
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// textOf returns the text within a node.
func (d *document) textOf(n ast.Node) string {
	var out strings.Builder
	d.plain(&out, n)
	return strings.TrimSpace(out.String())
}

// plain writes the text within a node, with spaces where blocks and cells end.
func (d *document) plain(out *strings.Builder, root ast.Node) {
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(d.text))
				if n.SoftLineBreak() || n.HardLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				out.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				out.Write(n.Label(d.text))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				out.Write(n.Lines().Value(d.text))
			}
		}
		if !entering && (n.Type() == ast.TypeBlock) {
			out.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
}

// link is a link or an image in a document.
type link struct {
	to      string // as it is written
	source  string // the path of its target in the repository, "" if it leads elsewhere
	text    string
	whole   bool   // it leads to a page and not to a heading in it
	section string // the text of the last heading of the second level before it
	line    int
	set     func(to string) // changes it
}

// findLinks collects the links of a document.
func (d *document) findLinks() {
	current := ""
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var destination *[]byte
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level <= 2 {
				current = ""
			}
			if n.Level == 2 {
				current = d.textOf(n)
			}
			return ast.WalkContinue, nil
		case *ast.Link:
			destination = &n.Destination
		case *ast.Image:
			destination = &n.Destination
		case *ast.HTMLBlock, *ast.RawHTML:
			d.html = append(d.html, d.lineOf(n, ""))
			return ast.WalkContinue, nil
		default:
			return ast.WalkContinue, nil
		}
		to := string(*destination)
		l := &link{to: to, text: d.textOf(n), section: current, line: d.lineOf(n, to), set: func(to string) { *destination = []byte(to) }}
		name, fragment, _ := strings.Cut(to, "#")
		l.whole = fragment == ""
		if name != "" && !strings.Contains(name, ":") {
			l.source = path.Join(path.Dir(d.source), name)
		}
		d.links = append(d.links, l)
		return ast.WalkContinue, nil
	})
}

// lineOf returns the line of a link in the text, or the line of the block that a node is in.
func (d *document) lineOf(n ast.Node, to string) int {
	from := 0
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			from = n.Lines().At(0).Start
			break
		}
	}
	if i := bytes.Index(d.text[from:], []byte("("+to)); to != "" && i > 0 {
		from += i
	}
	return 1 + bytes.Count(d.text[:from], []byte("\n"))
}

// render returns the document in HTML.
func (d *document) render() []byte {
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, d.text, d.root); err != nil {
		panic(fmt.Sprintf("rendering %s: %s", d.source, err)) // a buffer has no errors
	}
	return out.Bytes()
}

// show makes a page of a file that is not a document.
func (p *page) show(source []byte) {
	p.title = path.Base(p.source)
	id := anchor(p.title)
	p.headings = []heading{{Level: 1, Text: p.title, ID: id}}
	p.body = fmt.Appendf(nil, "<h1 id=\"%s\">%s</h1>\n<p class=\"path\">%s</p>\n%s", id, template.HTMLEscapeString(p.title), template.HTMLEscapeString(p.source), code(source))
}

// code returns a block of code, which scrolls if it is too wide.
func code(source []byte) string {
	return `<pre tabindex="0"><code>` + template.HTMLEscapeString(string(source)) + "</code></pre>\n"
}

// scrolling writes elements that may be wider than a screen so that they scroll by themselves, with keys too.
type scrolling struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (scrolling) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	block := func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(code(n.Lines().Value(source)))
		}
		return ast.WalkSkipChildren, nil
	}
	r.Register(ast.KindFencedCodeBlock, block)
	r.Register(ast.KindCodeBlock, block)
	r.Register(ast.KindCodeSpan, codeSpan)
	r.Register(tables.KindTableCell, cell)
	r.Register(tables.KindTable, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString(`<div class="scroll" tabindex="0" role="group" aria-label="Table">` + "\n<table>\n")
			if _, ok := n.FirstChild().(*tables.TableHeader); !ok {
				_, _ = w.WriteString("<tbody>\n")
			}
		} else {
			_, _ = w.WriteString("</table>\n</div>\n")
		}
		return ast.WalkContinue, nil
	})
}

// cell writes a cell without alignment. An empty one in the head is a heading of nothing.
func cell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	name := "td"
	if _, head := n.Parent().(*tables.TableHeader); head && n.HasChildren() {
		name = "th"
	}
	if !entering {
		_, _ = fmt.Fprintf(w, "</%s>", name)
	} else if name == "th" {
		_, _ = w.WriteString(`<th scope="col">`)
	} else {
		_, _ = w.WriteString("<td>")
	}
	return ast.WalkContinue, nil
}

// maxUnbroken is how many letters of code are kept on one line, so that no line ends after the hyphen of an
// option.
const maxUnbroken = 20

// codeSpan writes code within a line.
func codeSpan(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		d := &document{text: source}
		words := d.textOf(n)
		class := ""
		if utf8.RuneCountInString(words) <= maxUnbroken {
			class = ` class="short"`
		}
		_, _ = fmt.Fprintf(w, "<code%s>%s</code>", class, template.HTMLEscapeString(words))
	}
	return ast.WalkSkipChildren, nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
