package view

import (
	"hash/maphash"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// outline notes, while a block is written, which parts of its text are values. The rest is its shape: two
// blocks of one shape show the same attributes with the same effects, and differ in nothing but those values.
// A nil outline notes nothing.
type outline struct {
	spans   []span
	names   []string // of the values being written, from the outside in
	warning bool     // the block has a warning of its own
}

// span is a part of a text. It is a value of the attribute at path, or no part of the shape if path is "".
type span struct {
	from, to int
	path     string
}

func nothing() {}

// within notes that text written until the returned function is called belongs to a name, as written.
func (o *outline) within(name string) (end func()) {
	if o == nil {
		return nothing
	}
	if bare := strings.Trim(name, `"`); hclsyntax.ValidIdentifier(bare) {
		name = bare
	}
	o.names = append(o.names, name)
	return func() { o.names = o.names[:len(o.names)-1] }
}

// warned notes that the block has a warning.
func (o *outline) warned() {
	if o != nil {
		o.warning = true
	}
}

// valued notes that text written until the returned function is called is a value.
func (w *writer) valued() (end func()) {
	if w.outline == nil {
		return nothing
	}
	return w.noted(strings.Join(w.outline.names, "."))
}

// incidental is like valued, for text that depends on hidden attributes.
func (w *writer) incidental() (end func()) {
	if w.outline == nil {
		return nothing
	}
	return w.noted("")
}

func (w *writer) noted(path string) (end func()) {
	from := w.Len()
	return func() { w.outline.spans = append(w.outline.spans, span{from, w.Len(), path}) }
}

// split returns the shape of a text that was traced, and of each value in it a hash.
func (o *outline) split(text string, seed maphash.Seed) (shape string, values []uint64) {
	var sb strings.Builder
	at := 0
	for _, s := range o.spans {
		sb.WriteString(text[at:s.from])
		at = s.to
		if s.path != "" {
			sb.WriteByte(0) // no text has it: control characters are escaped
			values = append(values, maphash.String(seed, text[s.from:s.to]))
		}
	}
	sb.WriteString(text[at:])
	return sb.String(), values
}

// paths returns the paths of the values that split returns.
func (o *outline) paths() []string {
	var out []string
	for _, s := range o.spans {
		if s.path != "" {
			out = append(out, s.path)
		}
	}
	return out
}
