package usage

import (
	"fmt"
	"strings"
)

// Width is the number of columns of help, whatever the width of the terminal: its lines are read in
// documentation too.
const Width = 78

// table writes rows of a name and its description under a title; nothing without rows. The names are in one
// column.
func table(out *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	fmt.Fprintf(out, "\n%s:\n\n", title)
	for _, r := range rows {
		text := indent(wrap(r[1], Width-width-4), strings.Repeat(" ", width+4))
		fmt.Fprintf(out, "  %-*s  %s\n", width, r[0], strings.TrimLeft(text, " "))
	}
}

// wrap breaks a text at spaces only, so that options and addresses stay whole.
func wrap(text string, width int) string {
	var out strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			out.WriteByte('\n')
			column = 0
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += len(word)
	}
	return out.String()
}

// indent returns a text with each of its lines indented.
func indent(s, by string) string { return by + strings.ReplaceAll(s, "\n", "\n"+by) }
