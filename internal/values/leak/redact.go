package leak

import (
	"io"
	"strings"
)

// Withheld stands for a value that was found.
const Withheld = "(ephemeral value)"

// Redact returns a message or log line with every value in it replaced by Withheld.
func (g *Guard) Redact(s string) string {
	out, _ := g.redact(s, false)
	return out
}

// RedactDocument is Redact for a document made from values that were looked at one by one, such as a state:
// only values are replaced that are both ephemeral and confidential. It returns b itself and false if there
// are none.
func (g *Guard) RedactDocument(b []byte) ([]byte, bool) {
	out, found := g.redact(asText(b), true)
	if !found {
		return b, false
	}
	return []byte(out), true
}

// Writer returns a writer that passes documents on to w as RedactDocument returns them. Each is written at
// once: a value in two calls of Write is not found.
func (g *Guard) Writer(w io.Writer) io.Writer { return writer{g, w} }

type writer struct {
	guard *Guard
	to    io.Writer
}

// Write implements io.Writer.
func (w writer) Write(b []byte) (int, error) {
	out, changed := w.guard.RedactDocument(b)
	n, err := w.to.Write(out)
	if changed && err == nil {
		n = len(b)
	}
	return min(n, len(b)), err
}

// redact returns s with hidden values replaced, and whether there were any; values that overlap are replaced
// as one. With document set, only those are replaced that are ephemeral by mark, and confidential, and no
// single lines of them.
func (g *Guard) redact(s string, document bool) (string, bool) {
	var sb strings.Builder
	start, end := -1, 0 // of the text to be replaced next; before it, sb has s up to the last end
	for m := range g.matches(s, !document) {
		if document && !(m.isConfidential() && m.isEphemeral()) || !m.isHidden() {
			continue
		}
		if start >= 0 && m.Start < end {
			end = max(end, m.End)
			continue
		}
		if start >= 0 {
			sb.WriteString(Withheld)
		}
		sb.WriteString(s[end:m.Start])
		start, end = m.Start, m.End
	}
	if start < 0 {
		return s, false
	}
	sb.WriteString(Withheld)
	sb.WriteString(s[end:])
	return sb.String(), true
}
