// Package coverage shows which points of a module a test suite has exercised: as a table for people, as the
// document of a message, and as an HTML page. All three count outcomes: a resource has two, planned and
// applied, a conditional expression its two branches.
//
// It shows names and positions only. It may import eval/coverage, and writes to the writers that it is given.
package coverage

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
)

// Report is the coverage of a module's points. It is immutable.
type Report struct {
	files []file
	total share
}

// file has the points of a file, by position.
type file struct {
	name   string
	kinds  []share // by kind
	total  share
	points []coverage.Point
}

// share is how many of a number of outcomes came.
type share struct {
	Exercised int `json:"exercised"`
	Total     int `json:"total"`
}

// add counts the outcomes of a point.
func (s *share) add(p coverage.Point) {
	for _, came := range p.Came {
		s.Total++
		if came {
			s.Exercised++
		}
	}
}

// String returns the share as people read it, "-" if there is nothing to count.
func (s share) String() string {
	if s.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", s.Exercised, s.Total)
}

// percent returns the share in whole percent. Only full coverage has 100.
func (s share) percent() int { return 100 * s.Exercised / max(s.Total, 1) }

// New returns the report about the points of a set.
func New(set *coverage.Set) *Report {
	r := &Report{}
	for _, p := range set.Points() {
		if n := len(r.files); n == 0 || r.files[n-1].name != p.Range.Filename {
			r.files = append(r.files, file{name: p.Range.Filename, kinds: make([]share, len(coverage.Kinds()))})
		}
		f := &r.files[len(r.files)-1]
		f.points = append(f.points, p)
		f.kinds[p.Kind].add(p)
		f.total.add(p)
		r.total.add(p)
	}
	return r
}

// names are the kinds in the plural, as columns name them.
var names = [...]string{
	coverage.Resource: "resources", coverage.Conditional: "conditionals", coverage.Repetition: "repetitions",
	coverage.Output: "outputs", coverage.Condition: "conditions",
}

// gap names the outcomes of a point that no test exercised; "" if there are none.
func gap(p coverage.Point) string {
	var never []string
	for i, o := range p.Kind.Outcomes() {
		if !p.Came[i] {
			never = append(never, o)
		}
	}
	if len(never) == 0 {
		return ""
	}
	return "never " + strings.Join(never, " or ")
}

// position returns where a point is within its file: the line, and the column too if others may be beside it.
func position(p coverage.Point) string {
	at := p.Range.Start
	if p.Kind == coverage.Conditional {
		return fmt.Sprintf("%d:%d", at.Line, at.Column)
	}
	return strconv.Itoa(at.Line)
}

// Summary returns the sentence about everything.
func (r *Report) Summary() string {
	if r.total.Total == 0 {
		return "Coverage: nothing was planned that tests could exercise."
	}
	return fmt.Sprintf("Coverage: %d of %d outcomes exercised (%d %%).", r.total.Exercised, r.total.Total, r.total.percent())
}

// Text writes a table with the counts of each file, and the points that no test exercised, with their
// positions. It fails if w fails.
func (r *Report) Text(w io.Writer) error {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s\n", r.Summary())
	if len(r.files) > 0 {
		r.table(&out)
	}
	first := true
	for _, f := range r.files {
		for _, p := range f.points {
			if missing := gap(p); missing != "" {
				if first {
					out.WriteString("\nNot exercised:\n")
					first = false
				}
				fmt.Fprintf(&out, "  %s:%s  %s: %s\n", f.name, position(p), p.Name, missing)
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// table writes the counts, a line for each file.
func (r *Report) table(out *strings.Builder) {
	width := len("file")
	for _, f := range r.files {
		width = max(width, len(f.name))
	}
	columns := append(slices.Clone(names[:]), "total")
	fmt.Fprintf(out, "\n  %-*s", width, "file")
	for _, c := range columns {
		out.WriteString("  " + c)
	}
	out.WriteString("\n")
	for _, f := range r.files {
		fmt.Fprintf(out, "  %-*s", width, f.name)
		for i, s := range append(slices.Clone(f.kinds), f.total) {
			fmt.Fprintf(out, "  %*s", max(len(columns[i]), 5), s)
		}
		out.WriteString("\n")
	}
}

// document is the report in a message.
type document struct {
	share
	Files []documentFile `json:"files"`
}

// documentFile is a file of the report. Kinds has the kinds in the file.
type documentFile struct {
	Path string `json:"path"`
	share
	Kinds  map[string]share `json:"kinds"`
	Points []documentPoint  `json:"points"`
}

// documentPoint is a point with all of its outcomes.
type documentPoint struct {
	Kind     string          `json:"kind"`
	Name     string          `json:"name"`
	Line     int             `json:"line"`
	Column   int             `json:"column"`
	Outcomes map[string]bool `json:"outcomes"`
}

// JSON returns the report as a document.
func (r *Report) JSON() (json.RawMessage, error) {
	doc := document{share: r.total, Files: []documentFile{}}
	for _, f := range r.files {
		out := documentFile{Path: f.name, share: f.total, Kinds: map[string]share{}}
		for k, s := range f.kinds {
			if s.Total > 0 {
				out.Kinds[names[k]] = s
			}
		}
		for _, p := range f.points {
			point := documentPoint{
				Kind: strings.TrimSuffix(names[p.Kind], "s"), Name: p.Name, Line: p.Range.Start.Line, Column: p.Range.Start.Column, Outcomes: map[string]bool{},
			}
			for i, o := range p.Kind.Outcomes() {
				point.Outcomes[strings.ReplaceAll(o, " ", "_")] = p.Came[i]
			}
			out.Points = append(out.Points, point)
		}
		doc.Files = append(doc.Files, out)
	}
	return json.Marshal(doc)
}
