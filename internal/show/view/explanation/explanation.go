// Package explanation renders the answers of package explain, for people and as JSON.
//
// It may import explain and view. It must not know plans and configurations.
package explanation

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/engine/explain"
	"github.com/mayfly-iac/mayfly/internal/show/view"
)

// shown is the number of points of a section that Text writes.
const shown = 12

// document is the JSON document of answers.
type document struct {
	FormatVersion string            `json:"format_version"`
	Answers       []*explain.Answer `json:"answers"`
}

// JSON returns the document of answers on one line.
func JSON(answers []*explain.Answer) ([]byte, error) {
	return json.Marshal(document{"1.0", answers})
}

// Text writes an answer for people, in a few lines. It fails if w fails.
func Text(w io.Writer, a *explain.Answer, o view.Options) error {
	var sb strings.Builder
	sb.WriteString(o.Bold(a.Address) + " " + a.Headline + "." + at(a.Declared) + "\n")
	section(&sb, o, "Why", a.Why)
	section(&sb, o, "Where its values come from", a.From)
	section(&sb, o, "Sensitive and ephemeral", a.Marks)
	section(&sb, o, "Used by", a.Users)
	_, err := io.WriteString(w, sb.String())
	return err
}

// section writes the points of a section, each as an item of a list; nothing if there are none.
func section(sb *strings.Builder, o view.Options, title string, points []explain.Point) {
	if len(points) == 0 {
		return
	}
	sb.WriteString("\n" + o.Bold(title+":") + "\n")
	for i, p := range points {
		if i == shown {
			fmt.Fprintf(sb, "  - and %d more, which -json lists\n", len(points)-i)
			return
		}
		sb.WriteString("  - " + Line(p) + "\n")
	}
}

// Line returns a point as one line: its text, its place, and where its value comes from.
func Line(p explain.Point) string {
	text := p.Text + at(p.Place)
	for _, hop := range p.Chain {
		text += " ← " + hop.Name
		if hop.Place != nil && (p.Place == nil || *hop.Place != *p.Place) {
			text += at(hop.Place)
		}
	}
	return text
}

// at returns a place after a space, "" for none.
func at(p *explain.Place) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", p.File, p.Line)
}
