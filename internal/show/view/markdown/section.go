package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/report"
)

// section is a part of the document with a title. Pieces that are shown in short follow the others, between
// open and end.
type section struct {
	title, open, end string
	pieces           []*piece
}

// piece is a change, a diagnostic or the outcome of a test, or several that are alike.
type piece struct {
	short string
	full  string // "" if there are no details
	// counts is how many entries it stands for.
	counts int
	shown  form
}

// kind is a kind of change, as rows of reports have it.
type kind struct{ kind, title, counted string }

// kinds are in the order of the document: the most harmful comes first, and keeps its details longest.
var kinds = []kind{
	{"delete", "Destroy", "to destroy"},
	{"replace", "Replace", "to replace"},
	{"forget", "Forget", "to forget"},
	{"update", "Change in place", "to change"},
	{"drift", "Changed outside", "changed outside"},
	{"import", "Import", "to import"},
	{"move", "Move", "to move"},
	{"create", "Create", "to create"},
	{"read", "Read during apply", "to read"},
	{"invoke", "Invoke", "to invoke"},
	{report.Deferred, "Deferred to a later plan", "deferred"},
	{"object", "Objects", "objects"},
}

// sectionsOf returns the sections of a document that have something in them.
func sectionsOf(c report.Content) []*section {
	c.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(r report.Row) bool { return settled(c, r) })
	out := []*section{notes(c), failures(c), failedRows(c)}
	for i, k := range kinds {
		if k.kind == "drift" {
			out = append(out, outputs(c)) // others rely on them
		}
		out = append(out, rows(c, kinds[i]))
	}
	return slices.DeleteFunc(append(out, tests(c)), func(s *section) bool { return len(s.pieces) == 0 })
}

// settled reports whether a row is of something that was deferred in an earlier round: the last plan has it,
// or defers it again.
func settled(c report.Content, r report.Row) bool {
	return r.Kind == report.Deferred && r.Round < c.Rounds
}

// list returns a section whose short pieces are items of a list.
func list(title string) *section {
	return &section{title: "#### " + title + "\n\n", open: "<ul>\n", end: "</ul>\n\n"}
}

// write writes a section as far as it was decided to be shown.
func (s *section) write(doc *strings.Builder) {
	doc.WriteString(s.title)
	listed := false
	for _, p := range s.pieces {
		if p.shown == full {
			doc.WriteString(p.full)
		}
		listed = listed || p.shown == short
	}
	if !listed {
		return
	}
	doc.WriteString(s.open)
	for _, p := range s.pieces {
		if p.shown == short {
			doc.WriteString(p.short)
		}
	}
	doc.WriteString(s.end)
}

// details returns a block that unfolds. head and after are markup.
func details(head, language, text, after string) string {
	text, left := clip(text)
	if language == "diff" {
		text = diff(text)
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "<details><summary>%s</summary>\n\n%s\n</details>\n", head, block(language, text))
	if left > 0 {
		fmt.Fprintf(&sb, "<p>%d more lines of it are left out.</p>\n", left)
	}
	sb.WriteString(after + "\n")
	return sb.String()
}

// item returns an item of a list.
func item(text string) string { return "<li>" + text + "</li>\n" }

// notes returns the diagnostics, errors first.
func notes(c report.Content) *section {
	s := list("Errors and warnings")
	for _, bad := range []bool{true, false} {
		for _, n := range c.Notes {
			if n.Bad != bad {
				continue
			}
			first, _, _ := strings.Cut(strings.Trim(n.Text, "\n"), "\n")
			head := code(shorten(first, maxName))
			s.pieces = append(s.pieces, &piece{short: item(head), full: details(head, "", n.Text, ""), counts: 1})
		}
	}
	return s
}

// unlucky reports whether a change was begun and not finished well.
func unlucky(r report.Row) bool {
	return r.Outcome != "" && r.Outcome != report.Done && r.Outcome != report.NotBegun
}

// failedRows returns the changes that went wrong.
func failedRows(c report.Content) *section {
	s := list("Failed")
	s.add(c, unlucky)
	return s
}

// rows returns the changes of a kind that did not go wrong.
func rows(c report.Content, k kind) *section {
	wanted := func(r report.Row) bool { return r.Kind == k.kind && !unlucky(r) }
	n := 0
	for _, r := range c.Rows {
		if wanted(r) {
			n++
		}
	}
	s := list(fmt.Sprintf("%s: %d", k.title, n))
	s.add(c, wanted)
	return s
}

// alike is equal for rows that are shown as one.
type alike struct {
	fold    int
	outcome string
}

// few is how many rows that are alike are shown one by one, as in the text of a plan.
const few = 10

// add adds pieces for the rows that are wanted. Many that are alike are one piece.
func (s *section) add(c report.Content, wanted func(report.Row) bool) {
	groups := map[alike][]report.Row{}
	of := func(r report.Row) alike { return alike{r.Fold, r.Outcome} }
	for _, r := range c.Rows {
		if wanted(r) && r.Fold > 0 {
			groups[of(r)] = append(groups[of(r)], r)
		}
	}
	seen := map[alike]bool{}
	for _, r := range c.Rows {
		group := groups[of(r)]
		switch {
		case !wanted(r):
		case len(group) <= few:
			s.pieces = append(s.pieces, change(c, r, "", 1))
		case !seen[of(r)]:
			seen[of(r)] = true
			others := group[1:]
			line := fmt.Sprintf("%d more like it, among %s to %s: each %s", len(others), code(others[0].Address), code(others[len(others)-1].Address), prose(c.Folds[r.Fold-1]))
			s.pieces = append(s.pieces, change(c, r, line, len(group)))
		}
	}
}

// change returns the piece of a change. others is the note about the changes that it stands for, as markup.
func change(c report.Content, r report.Row, others string, counts int) *piece {
	head := code(r.Address)
	if r.Headline != "" {
		head += " " + prose(r.Headline)
	}
	if c.Rounds > 1 && r.Kind != report.Deferred {
		head += fmt.Sprintf(" in round %d", r.Round)
	}
	if r.Outcome != "" {
		head += " (" + prose(r.Outcome)
		if r.Took != "" {
			head += " in " + code(r.Took)
		}
		head += ")"
	}
	text := r.Text
	for i := len(r.Why) - 1; i >= 0; i-- {
		text = "  # " + oneLine(r.Why[i]) + "\n" + text
	}
	after, tail := "", ""
	if others != "" {
		after, tail = "<p>"+others+"</p>\n", "; "+others
	}
	return &piece{short: item(head + tail), full: details(head, "diff", text, after), counts: counts}
}

// outputs returns the changed outputs, or the outputs of a state.
func outputs(c report.Content) *section {
	s := list("Outputs")
	if c.Outputs != "" {
		s.pieces = []*piece{{short: item("Outputs"), full: details("Outputs", "diff", c.Outputs, ""), counts: 1}}
	}
	return s
}

// failures returns the texts about tests, failed ones first.
func failures(c report.Content) *section {
	s := list("What tests report")
	for _, bad := range []bool{true, false} {
		for _, t := range c.Tests {
			if t.Text == "" || t.Bad != bad {
				continue
			}
			head := code(t.File)
			if t.Run != "" {
				head += " run " + code(t.Run)
			}
			head += ": " + prose(t.Verdict)
			s.pieces = append(s.pieces, &piece{short: item(head), full: details(head, "", t.Text, ""), counts: 1})
		}
	}
	return s
}

// tests returns the table of all test files and runs.
func tests(c report.Content) *section {
	s := &section{
		title: "#### Tests\n\n", open: "<table>\n<tr><th>File</th><th>Run</th><th>Status</th><th>Time</th></tr>\n", end: "</table>\n\n",
	}
	for _, t := range c.Tests {
		run, status := "", prose(t.Verdict)
		if t.Run != "" {
			run = code(t.Run)
		}
		if t.Bad {
			status = "<b>" + status + "</b>"
		}
		s.pieces = append(s.pieces, &piece{short: "<tr><td>" + code(t.File) + "</td><td>" + run + "</td><td>" + status + "</td><td>" + prose(t.Took) + "</td></tr>\n", counts: 1})
	}
	return s
}
