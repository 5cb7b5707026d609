package view

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// style is a way to set off text on a terminal.
type style uint8

const (
	plain style = iota
	bold
	dim
	green
	red
	yellow
	cyan
	underlined
	boldRed
	boldYellow
	boldGreen
)

// styles are the escape sequences of the styles. The colours are the named ones, which people set up in their
// terminals so that they can read them.
var styles = [...]ansi.Style{
	bold:       ansi.NewStyle().Bold(),
	dim:        ansi.NewStyle().ForegroundColor(ansi.BrightBlack),
	green:      ansi.NewStyle().ForegroundColor(ansi.Green),
	red:        ansi.NewStyle().ForegroundColor(ansi.Red),
	yellow:     ansi.NewStyle().ForegroundColor(ansi.Yellow),
	cyan:       ansi.NewStyle().ForegroundColor(ansi.Cyan),
	underlined: ansi.NewStyle().Underline(true),
	boldRed:    ansi.NewStyle().Bold().ForegroundColor(ansi.Red),
	boldYellow: ansi.NewStyle().Bold().ForegroundColor(ansi.Yellow),
	boldGreen:  ansi.NewStyle().Bold().ForegroundColor(ansi.Green),
}

// paint returns text in the style, or as it is when colours are off.
func (o Options) paint(s style, text string) string {
	if !o.Color || s == plain || text == "" {
		return text
	}
	return styles[s].Styled(text)
}

// Bold returns text in bold.
func (o Options) Bold(text string) string { return o.paint(bold, text) }

// Success returns text as the news that all went well is shown.
func (o Options) Success(text string) string { return o.paint(boldGreen, text) }

// wrap breaks text between words to fit the width. Lines that begin with a space have code, paths or lists
// that people copy, and are kept.
func (o Options) wrap(text string, used int) string {
	if o.Width <= used+10 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t") {
			lines[i] = wordwrap(o.words(line), o.Width-used)
		}
	}
	return strings.Join(lines, "\n")
}

// Hanging returns a text of one line, broken to fit behind the text before it. Its other lines are indented
// as far.
func (o Options) Hanging(text string, used int) string {
	return strings.ReplaceAll(o.wrap(text, used), "\n", "\n"+strings.Repeat(" ", used))
}

// wordwrap joins words to lines. They are broken at spaces only, so that options such as -var, addresses and
// hashes stay whole. A line leaves one column free for the cursor. Programs match the text with exactly these
// breaks.
func wordwrap(words []string, width int) string {
	var sb strings.Builder
	column, spaces := 0, 0
	for i, word := range words {
		if i > 0 {
			spaces++
		}
		if word == "" {
			continue
		}
		w := ansi.StringWidth(word)
		if column > 0 && column+spaces+w >= width {
			sb.WriteByte('\n')
			column, spaces = 0, 0
		}
		sb.WriteString(strings.Repeat(" ", spaces) + word)
		column += spaces + w
		spaces = 0
	}
	return sb.String()
}

// rule returns the line that separates sections. It leaves the last column free, as wrapped text does.
func (o Options) rule() string {
	width := o.Width
	if width <= 0 {
		width = 78
	}
	return strings.Repeat("─", width-1)
}

// visible returns s with control characters escaped, except line ends and tabs, so that stored values
// cannot move the cursor or forge output.
func visible(s string) string {
	if strings.IndexFunc(s, hostile) < 0 {
		return s
	}
	var sb strings.Builder
	for _, r := range s {
		if hostile(r) {
			q := strconv.QuoteRune(r)
			sb.WriteString(q[1 : len(q)-1])
		} else {
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// Visible is visible for packages that show something else than plans and states.
func Visible(s string) string { return visible(s) }

// hostile reports whether a character must not reach a terminal: it would control the terminal or reorder
// text.
func hostile(r rune) bool { return r != '\n' && r != '\t' && (unicode.IsControl(r) || bidi(r)) }

// bidi reports whether r reorders the text around it.
func bidi(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

// tame returns a line of a provisioner's output without escape sequences and control characters, except for
// colours.
func tame(s string) string {
	if strings.IndexFunc(s, hostile) < 0 {
		return s
	}
	var sb strings.Builder
	var state byte
	coloured := false
	for rest := s; rest != ""; {
		seq, _, n, next := ansi.DecodeSequence(rest, state, nil)
		switch {
		case isColour(seq):
			sb.WriteString(seq)
			coloured = true
		case strings.IndexFunc(seq, hostile) < 0:
			sb.WriteString(seq)
		}
		state, rest = next, rest[max(n, 1):]
	}
	if coloured {
		sb.WriteString(ansi.ResetStyle)
	}
	return sb.String()
}

// isColour reports whether seq is a complete SGR sequence: ESC [ parameters m.
func isColour(seq string) bool {
	params, ok := strings.CutPrefix(seq, "\x1b[")
	if !ok {
		return false
	}
	params, ok = strings.CutSuffix(params, "m")
	return ok && strings.Trim(params, "0123456789;:") == ""
}

// tamePlain is tame without the colours.
func tamePlain(s string) string {
	if strings.IndexFunc(s, hostile) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hostile(r) {
			return -1
		}
		return r
	}, ansi.Strip(s))
}
