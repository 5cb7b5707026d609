package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/pattern"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// Level is the severity of a finding.
type Level string

// The levels. Only a problem needs something to be done.
const (
	OK      Level = "ok"
	Note    Level = "note"
	Problem Level = "problem"
)

// Finding is one thing that was looked at.
type Finding struct {
	Level   Level  `json:"level"`
	Subject string `json:"subject"` // the examined thing
	Text    string `json:"text"`    // the finding, on one line
	// WayOut is the advice for a problem, on one line.
	WayOut string `json:"way_out,omitempty"`
	// Milliseconds is how long an answer took; nil if nothing was asked.
	Milliseconds *int64 `json:"milliseconds,omitempty"`
}

// Group is the findings about one topic.
type Group struct {
	Name     string    `json:"name"` // for programs
	Title    string    `json:"title"`
	Findings []Finding `json:"findings"`
}

// Report is everything that was found.
type Report struct {
	FormatVersion string  `json:"format_version"`
	Problems      int     `json:"problems"`
	Notes         int     `json:"notes"`
	Groups        []Group `json:"groups"`
}

// count sets the numbers of problems and notes.
func (r *Report) count() {
	r.Problems, r.Notes = 0, 0
	for _, g := range r.Groups {
		for _, f := range g.Findings {
			switch f.Level {
			case Problem:
				r.Problems++
			case Note:
				r.Notes++
			case OK:
			}
		}
	}
}

// JSON returns the report as a document.
func (r *Report) JSON() ([]byte, error) { return json.Marshal(r) }

// Text writes the report for people.
func (r *Report) Text(w io.Writer, o view.Options) error {
	var out strings.Builder
	for _, g := range r.Groups {
		out.WriteString(o.Bold(g.Title) + "\n")
		for _, f := range g.Findings {
			took := ""
			if f.Milliseconds != nil {
				took = fmt.Sprintf(" (%d ms)", *f.Milliseconds)
			}
			const used = 10 // by the mark with the spaces around it
			fmt.Fprintf(&out, "  %s %s\n", mark(f.Level, o), o.Hanging(f.Subject+": "+f.Text+took, used))
			if f.WayOut != "" {
				fmt.Fprintf(&out, "%*s→ %s\n", used, "", o.Hanging(f.WayOut, used+2))
			}
		}
		out.WriteString("\n")
	}
	out.WriteString(o.Hanging(r.summary(o), 0) + "\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// mark returns the word for a level, in a column of its own.
func mark(l Level, o view.Options) string {
	word := fmt.Sprintf("%-7s", l)
	switch l {
	case OK:
		return o.Success(word)
	case Problem:
		return o.Bold(word)
	default:
		return word
	}
}

// summary returns the last line.
func (r *Report) summary(o view.Options) string {
	switch r.Problems {
	case 0:
		return o.Success("No problem was found.")
	case 1:
		return o.Bold("1 problem was found.") + " What to do about it is in the line with the arrow."
	default:
		return o.Bold(fmt.Sprintf("%d problems were found.", r.Problems)) + " What to do about each is in the line with the arrow."
	}
}

func ok(subject, format string, args ...any) Finding {
	return Finding{Level: OK, Subject: subject, Text: line(fmt.Sprintf(format, args...))}
}

func note(subject, format string, args ...any) Finding {
	return Finding{Level: Note, Subject: subject, Text: line(fmt.Sprintf(format, args...))}
}

func problem(subject, text, wayOut string) Finding {
	return Finding{Level: Problem, Subject: subject, Text: line(text), WayOut: line(wayOut)}
}

// took adds to a finding how long the answer took.
func (f Finding) took(since time.Time) Finding {
	n := time.Since(since).Milliseconds()
	f.Milliseconds = &n
	return f
}

// of returns the findings that diagnostics are: problems for errors, each with the same way out unless its
// text has a better one, notes for warnings.
func of(subject string, list diag.List, wayOut string) []Finding {
	var out []Finding
	for _, d := range list {
		detail, wayOut := d.Detail, wayOut
		if d.Severity == diag.Error {
			detail, wayOut = apart(detail, wayOut)
		}
		text := d.Summary
		if detail != "" {
			text += ": " + detail
		}
		if d.Subject != nil {
			text = diag.Place(*d.Subject) + ": " + text
		}
		if d.Severity == diag.Error {
			out = append(out, problem(subject, text, wayOut))
			continue
		}
		out = append(out, note(subject, "%s", text))
	}
	return out
}

// command matches the end of a text that names a command to run: a paragraph, or a sentence.
var command = pattern.New(`(?:\n\n|(\.) |^)[^\n.]*\b[Rr]un:\s+(mayfly [^\n]+)$`)

// apart takes the command that a text ends with out of it, if the way out is to run that command or, in place
// of it, no more than another one. The list in such a text needs no introduction then.
func apart(text, wayOut string) (rest, way string) {
	found := command().FindStringSubmatchIndex(text)
	if found == nil {
		return text, wayOut
	}
	run, only := text[found[4]:found[5]], strings.HasPrefix(wayOut, "Run: ")
	if !only && !strings.HasSuffix(wayOut, "run: "+run) {
		return text, wayOut
	}
	if only {
		wayOut = "Run: " + run
	}
	if rest = text[:found[0]]; found[2] >= 0 {
		rest = text[:found[3]]
	}
	if intro, items, ok := strings.Cut(rest, ":\n  - "); ok && !strings.Contains(intro, "\n") {
		rest = items
	}
	return rest, wayOut
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// number returns a number with the noun that it counts.
func number(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
