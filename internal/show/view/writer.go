package view

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// writer turns nodes into text. It writes to memory, so nothing fails. In its methods, at is the column of
// the symbol on the first line of an item; the item's content begins two columns further right.
type writer struct {
	strings.Builder
	o       Options
	outline *outline // notes where values are written; nil for not at all
}

// pad indents by n columns.
func (w *writer) pad(n int) {
	if n > 0 {
		w.WriteString(strings.Repeat(" ", n))
	}
}

// margin begins a line: it indents to the column and writes the symbol of the effect and a space.
func (w *writer) margin(at int, e effect) {
	w.pad(at)
	switch e {
	case added:
		w.WriteString(w.o.paint(green, "+") + " ")
	case removed:
		w.WriteString(w.o.paint(red, "-") + " ")
	case changed:
		w.WriteString(w.o.paint(yellow, "~") + " ")
	default:
		w.WriteString("  ")
	}
}

// comment writes a line that is a remark and no part of the object.
func (w *writer) comment(at int, format string, args ...any) {
	w.pad(at)
	w.WriteString(w.o.paint(dim, fmt.Sprintf(format, args...)))
	w.WriteByte('\n')
}

// hiddenCount writes how many unchanged items are left out, if any. noun is the word for one of them.
func (w *writer) hiddenCount(at, n int, noun string) {
	if n == 0 {
		return
	}
	if n > 1 {
		noun += "s"
	}
	defer w.incidental()()
	w.comment(at, "# (%d unchanged %s hidden)", n, noun)
}

// arrow writes the arrow between the value before and the value after.
func (w *writer) arrow() { w.WriteString(" " + w.o.paint(yellow, "->") + " ") }

// forced notes at the end of a line that the change of this value forces a replacement.
func (w *writer) forced(n *node) {
	if n.forces && n.effect != same {
		w.WriteString(" " + w.o.paint(red, "# forces replacement"))
	}
}

// gone notes that a removed value becomes null. Elements of lists and sets don't: they are no longer there.
func (w *writer) gone(n *node, nulls bool) {
	if nulls && n.effect == removed {
		w.WriteString(" " + w.o.paint(dim, "-> null"))
	}
}

// warnSensitivity writes the note above a value whose sensitivity changes.
func (w *writer) warnSensitivity(at int, n *node) {
	lines := [2]string{}
	switch n.secret {
	case becomesSensitive:
		lines = [2]string{"# Warning: this attribute value will be marked as sensitive and will not", "# display in UI output after applying this change."}
	case becomesPublic:
		lines = [2]string{"# Warning: this attribute value will no longer be marked as sensitive", "# after applying this change."}
	default:
		return
	}
	w.outline.warned()
	if n.effect == changed && n.unchangedValue() {
		lines[1] += " The value is unchanged."
	}
	for _, l := range lines {
		w.pad(at)
		w.WriteString(w.o.paint(yellow, l))
		w.WriteByte('\n')
	}
}

// unchangedValue reports whether only the sensitivity of a value changes.
func (n *node) unchangedValue() bool {
	switch b := n.body.(type) {
	case hidden:
		return b.text == sameSensitive
	case leaf:
		return b.before == b.after
	default:
		return false
	}
}

// item writes an attribute as NAME = VALUE; the value may cover several lines.
func (w *writer) item(it named, width, at int, nulls bool, end string) {
	w.warnSensitivity(at, it.node)
	w.margin(at, it.node.effect)
	w.WriteString(it.name)
	padded := w.incidental() // hidden names count for the width
	w.pad(width - ansi.StringWidth(it.name))
	padded()
	w.WriteString(" = ")
	defer w.outline.within(it.name)()
	it.node.body.write(w, it.node, at, nulls)
	w.WriteString(end + "\n")
}

// widest returns the width of the longest name, in columns of a terminal.
func widest(items []named) int {
	width := 0
	for _, it := range items {
		width = max(width, ansi.StringWidth(it.name))
	}
	return width
}

// write implements body: both values with an arrow if they differ, else one.
func (b leaf) write(w *writer, n *node, _ int, nulls bool) {
	switch n.effect {
	case removed:
		w.value(b.before)
		w.gone(n, nulls)
	case changed:
		if b.before != b.after {
			w.value(b.before)
			w.arrow()
		}
		w.value(b.after)
	default:
		w.value(b.after)
	}
	w.forced(n)
}

// value writes the text of a value. Null is dimmed, since it means that there is none.
func (w *writer) value(text string) {
	switch text {
	case "null":
		w.WriteString(w.o.paint(dim, text))
	case "true", "false", unknownText:
		w.WriteString(text)
	default:
		defer w.valued()()
		w.WriteString(text)
	}
}

// write implements body: a placeholder. Nothing of the value shows, not even its length.
func (b hidden) write(w *writer, n *node, _ int, nulls bool) {
	text := b.text
	if text == sameSensitive {
		text = sensitiveText
	}
	w.WriteString(text)
	w.gone(n, nulls)
	w.forced(n)
}

// write implements body: the whole value before, an arrow, and the whole value after.
func (b pair) write(w *writer, n *node, at int, _ bool) {
	b.before.body.write(w, b.before, at, false)
	w.arrow()
	b.after.body.write(w, b.after, at, false)
	w.forced(n)
}

// write implements body. Unchanged elements of a changed list are counted instead of shown; with context,
// the neighbours of changes are kept. Of many elements in a row that are written alike, the first is shown.
func (b sequence) write(w *writer, n *node, at int, nulls bool) {
	if len(b.items) == 0 {
		w.WriteString("[]")
		w.gone(n, nulls)
		w.forced(n)
		return
	}
	w.WriteByte('[')
	w.forced(n)
	w.WriteByte('\n')
	skipped, alike := 0, 0
	for i, it := range b.items {
		if it.effect == same && n.effect == changed && !(b.context && b.besideChange(i)) {
			skipped++
			continue
		}
		if alike--; alike > 0 {
			continue
		}
		if b.context {
			w.hiddenCount(at+6, skipped, "element")
			skipped = 0
		}
		w.warnSensitivity(at+4, it)
		w.margin(at+4, it.effect)
		it.body.write(w, it, at+4, false)
		w.WriteString(",\n")
		if alike = w.alike(b.items[i:]); alike > 1 {
			w.comment(at+6, "# (%d more like it)", alike-1)
		}
	}
	w.hiddenCount(at+6, skipped, "element")
	w.pad(at + 2)
	w.WriteByte(']')
	w.gone(n, nulls)
}

// alike returns how many elements at the beginning are written like the first, if they are so many that the
// others are left out, and otherwise 1. Only elements of one line are compared.
func (w *writer) alike(items []*node) int {
	if !w.o.Fold || w.outline != nil {
		return 1
	}
	switch items[0].body.(type) {
	case leaf, hidden:
	default:
		return 1
	}
	n := 1
	for n < len(items) && *items[n] == *items[0] {
		n++
	}
	if n <= foldAbove {
		return 1
	}
	return n
}

// besideChange reports whether the element before or after the one at i changes.
func (b sequence) besideChange(i int) bool {
	return i > 0 && b.items[i-1].effect != same || i+1 < len(b.items) && b.items[i+1].effect != same
}

// write implements body. Unchanged items of a changed map or object are counted at the end unless they are
// to be kept.
func (b mapping) write(w *writer, n *node, at int, nulls bool) {
	if len(b.items) == 0 {
		w.WriteString("{}")
		w.gone(n, nulls)
		w.forced(n)
		return
	}
	w.WriteByte('{')
	w.forced(n)
	w.WriteByte('\n')
	width, end := 0, ""
	if b.align {
		width = widest(b.items)
	}
	if b.commas {
		end = ","
	}
	skipped := 0
	for _, it := range b.items {
		if it.node.effect == same && n.effect == changed && !it.keep {
			skipped++
			continue
		}
		w.item(it, width, at+4, b.nulls, end)
	}
	w.hiddenCount(at+6, skipped, b.noun)
	w.pad(at + 2)
	w.WriteByte('}')
	w.gone(n, nulls)
}

// write implements body: the content in braces. Unchanged parts of a block that changes are counted.
func (b nested) write(w *writer, n *node, at int, nulls bool) {
	w.WriteByte('{')
	w.forced(n)
	w.WriteByte('\n')
	w.content(b, at, n.effect == changed)
	w.pad(at + 2)
	w.WriteByte('}')
	w.gone(n, nulls)
}

// content writes the attributes and nested blocks of a block that begins at the column. With hide,
// unchanged ones are counted instead.
func (w *writer) content(b nested, at int, hide bool) {
	width, skipped, shown := widest(b.attrs), 0, false
	for _, it := range b.attrs {
		_, writeOnly := it.node.body.(writeOnlyValue)
		switch {
		// It has no value, so it is not counted among unchanged ones either.
		case hide && it.node.effect == same && writeOnly:
		case hide && it.node.effect == same && !it.keep:
			skipped++
		default:
			w.item(it, width, at+4, true, "")
			shown = true
		}
	}
	w.hiddenCount(at+6, skipped, "attribute")
	shown = shown || skipped > 0
	skipped = 0
	for _, g := range b.blocks {
		first := true
		for _, it := range g.items {
			if hide && it.node.effect == same {
				skipped++
				continue
			}
			if first && shown {
				w.WriteByte('\n')
			}
			first, shown = false, true
			w.block(g.name, it, at+4)
		}
	}
	if skipped > 0 {
		if shown {
			w.WriteByte('\n')
		}
		w.hiddenCount(at+6, skipped, "block")
	}
}

// block writes a nested block: its type, its label if there is one, and its content.
func (w *writer) block(name string, it blockItem, at int) {
	w.margin(at, it.node.effect)
	w.WriteString(name + " ")
	if it.label != "" {
		w.WriteString(it.label + " ")
	}
	defer w.outline.within(name)()
	it.node.body.write(w, it.node, at, false)
	w.WriteByte('\n')
}

// secretBlock is written in place of the content of a sensitive block.
type secretBlock struct{}

// write implements body: braces with a remark.
func (secretBlock) write(w *writer, n *node, at int, _ bool) {
	w.WriteByte('{')
	w.forced(n)
	w.WriteByte('\n')
	w.comment(at+4, "# At least one attribute in this block is (or was) sensitive,")
	w.comment(at+4, "# so its contents will not be displayed.")
	w.pad(at + 2)
	w.WriteByte('}')
}

// writeOnlyValue is written in place of a write-only attribute, whose value exists only in the provider.
type writeOnlyValue struct{}

// write implements body: words in place of the value, which no plan has (E63).
func (writeOnlyValue) write(w *writer, n *node, _ int, nulls bool) {
	w.WriteString("(write-only attribute)")
	w.gone(n, nulls)
	w.forced(n)
}

// write implements body: a here document with a symbol in the margin of each line that was added or
// removed.
func (b heredoc) write(w *writer, n *node, at int, nulls bool) {
	w.WriteString("<<-EOT")
	w.forced(n)
	w.WriteByte('\n')
	written := w.valued()
	for _, l := range b.lines {
		w.margin(at+4, l.effect)
		w.WriteString(visible(l.text))
		w.WriteByte('\n')
	}
	written()
	w.pad(at + 2)
	w.WriteString("EOT")
	w.gone(n, nulls)
}

// write implements body: the document in a call of jsonencode, with a note if only its white space changes.
func (b encoded) write(w *writer, n *node, at int, nulls bool) {
	w.WriteString("jsonencode(")
	switch {
	case b.space && n.forces:
		w.WriteString(" " + w.o.paint(red, "# whitespace changes force replacement"))
	case b.space:
		w.WriteString(" " + w.o.paint(dim, "# whitespace changes"))
	default:
		w.forced(n)
	}
	w.WriteByte('\n')
	e := b.doc.effect
	if e != changed {
		e = same
	}
	w.margin(at+4, e)
	b.doc.body.write(w, b.doc, at+4, false)
	w.WriteByte('\n')
	w.pad(at + 2)
	w.WriteByte(')')
	w.gone(n, nulls)
}
