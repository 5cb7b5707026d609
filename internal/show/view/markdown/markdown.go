// Package markdown writes the content of a report as Markdown, for a comment on a pull request: a heading
// with the numbers, errors and warnings, the changes with their diffs in blocks that unfold, and the outcomes
// of tests.
//
// A document keeps within the limits of the hosts. If the content does not fit, the document leaves out
// pieces from the end and says so: first the details of changes, then changes as a whole. Changes are listed
// by how much harm they can do.
//
// Texts of the run can't become markup. They are in blocks whose fence is longer than any in the text, or in
// elements of HTML, on one line and escaped, within which hosts look for no Markdown, mentions or references.
//
// In reading order: markdown.go chooses the sections and fits them into the limit, section.go makes its
// parts, escape.go writes texts. It may import report, which has cleaned all texts already.
package markdown

import (
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/show/view/report"
)

const (
	// Limit is how many bytes a document has at most: GitHub takes 65,536 characters for a comment.
	Limit = 65_000
	// reserved is the room for the note about missing pieces.
	reserved = 700
	// maxDetail bounds the details of one change, so that it leaves room for others.
	maxDetail = 12_000
	// maxName bounds the names in the heading.
	maxName = 200
)

// Write writes a document. It fails if w fails.
func Write(w io.Writer, c report.Content) error {
	var doc strings.Builder
	header(&doc, c)
	sections := sectionsOf(c)
	fit(sections, Limit-reserved-doc.Len())
	for _, s := range sections {
		s.write(&doc)
	}
	footer(&doc, sections)
	_, err := io.WriteString(w, doc.String())
	return err
}

// header writes the heading and the lines below it.
func header(doc *strings.Builder, c report.Content) {
	summary := inAll(c)
	if c.Tests != nil || summary == "" {
		summary = c.Summary
	}
	if summary == "" {
		fmt.Fprintf(doc, "### %s\n\n", prose(c.Title))
	} else {
		fmt.Fprintf(doc, "### %s: %s\n\n", prose(c.Title), prose(strings.TrimPrefix(strings.TrimSuffix(summary, "."), c.Title+": ")))
	}
	if c.Rounds > 1 {
		fmt.Fprintf(doc, "<p>The changes of %d rounds.</p>\n", c.Rounds)
	}
	for _, line := range []string{c.Ended, c.Banner} {
		if line != "" {
			fmt.Fprintf(doc, "<p><b>%s</b></p>\n", prose(line))
		}
	}
	var where []string
	for _, part := range []struct{ name, text string }{{"directory ", c.Directory}, {"workspace ", c.Workspace}, {"", c.Where}} {
		if part.text != "" {
			where = append(where, part.name+code(shorten(part.text, maxName)))
		}
	}
	if len(where) > 0 {
		fmt.Fprintf(doc, "<p>%s</p>\n", strings.Join(where, ", "))
	}
	doc.WriteByte('\n')
}

// inAll counts the changes, in the order of their sections, and the actions that they trigger.
func inAll(c report.Content) string {
	counts := map[string]int{}
	for _, r := range c.Rows {
		if !settled(c, r) {
			counts[r.Kind]++
		}
	}
	var parts []string
	for _, k := range kinds {
		if n := counts[k.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k.counted))
		}
	}
	switch {
	case c.Actions == 1:
		parts = append(parts, "1 action to invoke")
	case c.Actions > 1:
		parts = append(parts, fmt.Sprintf("%d actions to invoke", c.Actions))
	}
	return strings.Join(parts, ", ")
}

// form is how much of a piece is shown.
type form uint8

const (
	omitted form = iota
	short
	full
)

// fit selects the pieces that room bytes can hold. Short forms come first: a list of everything is worth more
// than the details of something. Details end with the first that has no room, so that none less important is
// shown in its place.
func fit(sections []*section, room int) {
	for _, s := range sections {
		room -= len(s.title) + len(s.open) + len(s.end)
	}
	for _, s := range sections {
		for _, p := range s.pieces {
			if len(p.short) <= room {
				p.shown = short
				room -= len(p.short)
			}
		}
	}
	for _, s := range sections {
		for _, p := range s.pieces {
			more := len(p.full) - len(p.short)
			switch {
			case p.shown == omitted || p.full == "":
				continue
			case more > room:
				return
			}
			p.shown = full
			room -= more
		}
	}
}

// footer says how much is left out.
func footer(doc *strings.Builder, sections []*section) {
	details, whole := 0, 0
	for _, s := range sections {
		for _, p := range s.pieces {
			switch {
			case p.shown == omitted:
				whole += p.counts
			case p.shown == short && p.full != "":
				details++
			}
		}
	}
	if details+whole == 0 {
		return
	}
	doc.WriteString("<p><b>A comment has no room for everything.</b> ")
	if details > 0 {
		fmt.Fprintf(doc, "The details of %d entries are left out. ", details)
	}
	if whole > 0 {
		fmt.Fprintf(doc, "%d more entries are not listed. ", whole)
	}
	doc.WriteString("The output of the run has all of them, and so has the page that <code>-html=FILE</code> writes of a plan.</p>\n")
}
