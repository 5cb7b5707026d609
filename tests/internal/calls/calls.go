// Package calls reads and writes a table of expressions with their outcomes in two engines.
//
// It may import nothing of this module.
package calls

import (
	"fmt"
	"regexp"
	"strings"
)

// Call is an expression with its outcome.
type Call struct {
	Expr string
	Outcome
	// Ours is the outcome in this engine where it differs; its fields are empty where they don't.
	Ours Outcome
	// Why says why a value or a verdict differs. Errors may differ without a reason.
	Why string
}

// Outcome is the result of evaluating an expression: a value and its type, or an error.
type Outcome struct{ Value, Type, Error string }

// Marks at the beginning of lines.
const (
	markExpr  = "> "
	markValue = "= "
	markType  = ": "
	markError = "! "
	markOurs  = "+"
	markWhy   = "# "
)

// Parse reads a table. Lines before the first expression are comments.
func Parse(text string) (head string, table []Call, err error) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if expr, ok := strings.CutPrefix(line, markExpr); ok {
			table = append(table, Call{Expr: expr})
			continue
		}
		if len(table) == 0 {
			head += line + "\n"
			continue
		}
		call := &table[len(table)-1]
		to := &call.Outcome
		if rest, ok := strings.CutPrefix(line, markOurs); ok {
			line, to = rest, &call.Ours
		}
		switch {
		case strings.HasPrefix(line, markValue):
			to.Value = line[2:]
		case strings.HasPrefix(line, markType):
			to.Type = line[2:]
		case strings.HasPrefix(line, markError):
			to.Error = line[2:]
		case strings.HasPrefix(line, markWhy):
			call.Why = line[2:]
		default:
			return "", nil, fmt.Errorf("line %d is not understood: %q", i+1, line)
		}
	}
	return head, table, nil
}

// Format writes a table.
func Format(head string, table []Call) string {
	var b strings.Builder
	b.WriteString(head)
	for _, c := range table {
		b.WriteString(markExpr + c.Expr + "\n")
		c.write(&b, "")
		c.Ours.write(&b, markOurs)
		if c.Why != "" {
			b.WriteString(markWhy + c.Why + "\n")
		}
	}
	return b.String()
}

func (o Outcome) write(b *strings.Builder, before string) {
	for _, part := range [][2]string{{markValue, o.Value}, {markType, o.Type}, {markError, o.Error}} {
		if part[1] != "" {
			b.WriteString(before + part[0] + part[1] + "\n")
		}
	}
}

// Differing returns the fields of ours that differ from theirs, and whether more differs than the text of an
// error.
func Differing(theirs, ours Outcome) (_ Outcome, matters bool) {
	matters = (theirs.Error == "") != (ours.Error == "") || theirs.Value != ours.Value || theirs.Type != ours.Type
	for _, part := range [][2]*string{{&theirs.Value, &ours.Value}, {&theirs.Type, &ours.Type}, {&theirs.Error, &ours.Error}} {
		if *part[0] == *part[1] {
			*part[1] = ""
		}
	}
	return ours, matters
}

var space = regexp.MustCompile(`\s+`)

// OneLine returns a text on one line.
func OneLine(text string) string { return strings.TrimSpace(space.ReplaceAllString(text, " ")) }

// Error returns the text of an error: its summary and the first sentence of its detail.
func Error(summary, detail string) string {
	detail = OneLine(detail)
	if end := strings.Index(detail, ". "); end >= 0 {
		detail = detail[:end+1]
	}
	return summary + ": " + detail
}
