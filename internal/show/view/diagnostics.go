package view

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
)

// Diagnostics writes a list for people, sorted by source position: in boxes with colours, plain without.
// Warnings with the same summary are shown once, with the number of the others; warnings of checks, and
// those that nothing else stands for, are all shown. src may be nil. The values of expressions are
// redacted whatever the options say (E24). It fails if w fails.
func Diagnostics(w io.Writer, list diag.List, src document.Sources, o Options) error {
	var sb strings.Builder
	list = list.Sorted()
	var short, full []*group
	for _, g := range consolidate(list, o) {
		// Beside errors, warnings are shown in full: one of them may say why.
		if _, once := g.first.Extra.(diag.Once); o.CompactWarnings && !list.HasErrors() && !once {
			short = append(short, g)
		} else {
			full = append(full, g)
		}
	}
	first := make(diag.List, len(full))
	for i, g := range full {
		first[i] = *g.first
	}
	for i, d := range document.Diagnostics(first, src) { // in their order, since they are sorted
		writeDiagnostic(&sb, d, full[i].others, o)
	}
	if len(short) > 0 {
		compactWarnings(&sb, short, o)
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

// group is a diagnostic with the number of those that it represents.
type group struct {
	first  *diag.Diagnostic
	others int
}

// consolidate groups similar diagnostics: warnings unless the options list each of them, errors only if the
// options ask for it.
func consolidate(list diag.List, o Options) []*group {
	type kind struct {
		severity diag.Severity
		summary  string
	}
	var out []*group
	alike := map[kind]*group{}
	for i := range list {
		d := &list[i]
		// Each assertion that is not met is about something else, though all have one summary.
		_, alone := d.Extra.(diag.CheckWarning)
		_, once := d.Extra.(diag.Once)
		alone = alone || once || d.Severity == diag.Warning && o.ListWarnings || d.Severity == diag.Error && !o.ConsolidateErrors
		k := kind{d.Severity, d.Summary}
		if g := alike[k]; g != nil && !alone {
			g.others++
			continue
		}
		g := &group{first: d}
		if !alone {
			alike[k] = g
		}
		out = append(out, g)
	}
	return out
}

// compactWarnings writes one line for each group of warnings, with the place of the first, and how to get
// the full text.
func compactWarnings(sb *strings.Builder, groups []*group, o Options) {
	sb.WriteString("\n" + o.paint(boldYellow, "Warnings:") + "\n\n")
	for _, g := range groups {
		sb.WriteString("- " + visible(g.first.Summary) + "\n")
		if s := g.first.Subject; s != nil {
			fmt.Fprintf(sb, "  on %s line %d", visible(s.Filename), s.Start.Line)
			if g.others > 0 {
				fmt.Fprintf(sb, " (and %d more)", g.others)
			}
			sb.WriteByte('\n')
		} else if g.others > 0 {
			fmt.Fprintf(sb, "  (%d occurrences)\n", g.others+1)
		}
	}
	sb.WriteString("\n" + o.wrap("To see the full warning notes, run "+o.program()+" without -compact-warnings.", 0) + "\n")
}

// writeDiagnostic writes one diagnostic and the number of similar ones. The text is rendered before the
// border is drawn around it, because the border needs the lines after wrapping. Without colours nothing is
// drawn, and the summary is not wrapped: tools match it as one line.
func writeDiagnostic(sb *strings.Builder, d document.Diagnostic, others int, o Options) {
	border, label := red, o.paint(boldRed, "Error: ")
	if d.Severity == diag.Warning.String() {
		border, label = yellow, o.paint(boldYellow, "Warning: ")
	}
	used := 0
	if o.Color {
		used = 2
	}
	var text strings.Builder
	summary := visible(d.Summary)
	if o.Color {
		summary = o.wrap(summary, used)
	}
	text.WriteString(label + o.paint(bold, summary) + "\n\n")
	if writeSource(&text, d, o) {
		text.WriteByte('\n')
	}
	if d.Detail != "" {
		text.WriteString(o.wrap(visible(d.Detail), used) + "\n")
	}
	if others > 0 {
		if d.Detail != "" {
			text.WriteByte('\n')
		}
		if others == 1 {
			fmt.Fprintf(&text, "(and one more similar %s elsewhere)\n", d.Severity)
		} else {
			fmt.Fprintf(&text, "(and %d more similar %ss elsewhere)\n", others, d.Severity)
		}
	}
	body := strings.TrimRight(text.String(), "\n")
	if !o.Color {
		sb.WriteString("\n" + body + "\n")
		return
	}
	bar := o.paint(border, "│")
	sb.WriteString(o.paint(border, "╷") + "\n")
	for line := range strings.SplitSeq(body, "\n") {
		sb.WriteString(bar + " " + line + "\n")
	}
	sb.WriteString(o.paint(border, "╵") + "\n")
}

// writeSource writes the place, the code and the values of the diagnostic, and reports whether it wrote
// anything.
func writeSource(sb *strings.Builder, d document.Diagnostic, o Options) bool {
	switch {
	case d.Address != "" && d.Range != nil:
		sb.WriteString("  with " + visible(d.Address) + ",\n")
	case d.Address != "":
		sb.WriteString("  with " + visible(d.Address) + "\n")
	}
	if d.Range == nil {
		return d.Address != ""
	}
	s := d.Snippet
	fmt.Fprintf(sb, "  on %s line %d", visible(d.Range.Filename), d.Range.Start.Line)
	if s == nil {
		sb.WriteString(":\n  (source code not available)\n")
		return true
	}
	if s.Context != nil {
		sb.WriteString(", in " + visible(*s.Context))
	}
	sb.WriteString(":\n")
	writeCode(sb, s, o)
	bar := "    " + o.paint(dim, "│") + " "
	rule := "    " + o.paint(dim, "├────────────────") + "\n"
	defer writeDifference(sb, d.Difference, rule, bar, o)
	if len(s.Values) == 0 && s.FunctionCall == nil {
		return true
	}
	sb.WriteString(rule)
	if s.FunctionCall != nil {
		sb.WriteString(bar + "while calling " + o.paint(bold, s.FunctionCall.CalledAs) + s.FunctionCall.Parameters() + "\n")
	}
	for _, v := range s.Values {
		sb.WriteString(bar + o.paint(bold, visible(v.Traversal)) + " " + visible(v.Statement) + "\n")
	}
	return true
}

// writeDifference writes how the sides of a failed comparison differ, unless both are plain values: those are
// in the code, or among the values. rule precedes it, and bar each line.
func writeDifference(sb *strings.Builder, diff *document.Difference, rule, bar string, o Options) {
	if diff == nil || diff.Left.Type().IsPrimitiveType() && diff.Right.Type().IsPrimitiveType() {
		return
	}
	out := &writer{o: o}
	n := differ{}.value(diff.Left, diff.Right, free, nil)
	if n.effect == same {
		return // only the types differ
	}
	n.body.write(out, n, -2, true)
	sb.WriteString(rule + bar + "Difference:\n")
	for line := range strings.SplitSeq(strings.TrimRight(out.String(), "\n"), "\n") {
		sb.WriteString(bar + "  " + line + "\n")
	}
}

// writeCode writes the numbered lines of a snippet with the highlighted range underlined; the range may cover
// several lines. Each side of the range is shortened for itself, so that the range stays in sight.
func writeCode(sb *strings.Builder, s *document.Snippet, o Options) {
	number, start := s.StartLine, 0
	for line := range strings.SplitSeq(s.Code, "\n") {
		end := start + len(line)
		from := min(max(s.HighlightStartOffset, start), end) - start
		to := min(max(s.HighlightEndOffset, start), end) - start
		fmt.Fprintf(sb, "%4d: %s", number, visible(shortened(line[:from])))
		if s.HighlightStartOffset <= end && s.HighlightEndOffset >= start {
			sb.WriteString(o.paint(underlined, visible(shortened(line[from:to]))))
		}
		sb.WriteString(visible(shortened(line[to:])) + "\n")
		number, start = number+1, end+1
	}
}

const longestCode = 400 // characters of a line of code, on each side of the highlighted part

// shortened returns code with the middle left out if it is too long to be read, as in a file generated on
// one line. It looks only at the ends, because such a line may have many errors.
func shortened(code string) string {
	if len(code) <= longestCode || len(code) <= longestCode*utf8.UTFMax && utf8.RuneCountInString(code) <= longestCode {
		return code
	}
	head, tail := 0, len(code)
	for range longestCode / 2 {
		_, n := utf8.DecodeRuneInString(code[head:])
		head += n
		_, n = utf8.DecodeLastRuneInString(code[:tail])
		tail -= n
	}
	return code[:head] + " … " + code[tail:]
}
