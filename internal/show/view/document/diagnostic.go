package document

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Diagnostic is a diagnostic in the form of the JSON documents. Text for people is written from it too, so
// both show the same. Range is nil for a diagnostic about no place in a file, Snippet if the source text is
// not known.
type Diagnostic struct {
	Severity string   `json:"severity"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail"`
	Address  string   `json:"address,omitempty"`
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
	// Difference has the sides of a failed comparison in a test.
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is two values that should be equal. In JSON, it has the form of a change from one to the other.
type Difference struct{ diag.Difference }

// MarshalJSON implements json.Marshaler.
func (d Difference) MarshalJSON() ([]byte, error) {
	sides := sidesJSON(d.Left, d.Right, nil)
	return json.Marshal(map[string]json.RawMessage{
		"before": sides.Before, "after": sides.After, "after_unknown": json.RawMessage("false"),
		"before_sensitive": sides.BeforeSensitive, "after_sensitive": sides.AfterSensitive,
	})
}

// Range is a range of source text. The end is the position behind the last character.
type Range struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// Pos is a position in a source file: line and column count from 1, in grapheme clusters, byte from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Snippet is the source text around a range: whole lines, the first of which is StartLine. Context is the
// header of the block around it, nil outside of blocks. The offsets are in bytes from the start of Code.
type Snippet struct {
	Context              *string           `json:"context"`
	Code                 string            `json:"code"`
	StartLine            int               `json:"start_line"`
	HighlightStartOffset int               `json:"highlight_start_offset"`
	HighlightEndOffset   int               `json:"highlight_end_offset"`
	Values               []ExpressionValue `json:"values"`
	FunctionCall         *FunctionCall     `json:"function_call,omitempty"`
}

// ExpressionValue describes a value that the expression used: Traversal refers to it, and Statement completes
// a sentence about it, such as "is a string". Secrets are described by their kind (E24).
type ExpressionValue struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"`
}

// Diagnostics converts a list, sorted by source position; list stays as it is. The result is never nil: it is
// encoded as an array. src may be nil. Costs are linear in the length of the list and of the files that it is
// about.
func Diagnostics(list diag.List, src Sources) []Diagnostic {
	out := make([]Diagnostic, 0, len(list))
	list = list.Sorted()
	c := &snippets{sources: src, files: map[string]*hcl.File{}, code: map[lines]string{}}
	for i := range list {
		out = append(out, c.convert(&list[i]))
	}
	return out
}

// snippets cuts snippets out of source files. It parses a file at most once, to name the block around a
// position, and copies the same lines once: a generated file may be one long line with many errors.
type snippets struct {
	sources Sources
	files   map[string]*hcl.File
	code    map[lines]string
}

// lines is a key of the cache of copied text: a range of whole lines of a file, as byte offsets.
type lines struct {
	filename   string
	start, end int
}

// convert converts one diagnostic. An empty range is widened by one column, since an underline needs
// something to underline. Without the source text there is no snippet.
func (c *snippets) convert(d *diag.Diagnostic) Diagnostic {
	out := Diagnostic{Severity: d.Severity.String(), Summary: d.Summary, Detail: d.Detail, Address: d.Address}
	if a, ok := d.Extra.(diag.Assertion); ok && a.Difference != nil {
		out.Difference = &Difference{*a.Difference}
	}
	if d.Subject == nil {
		return out
	}
	highlight := *d.Subject
	if highlight.Empty() {
		highlight.End.Byte++
		highlight.End.Column++
	}
	out.Range = &Range{Filename: highlight.Filename, Start: position(highlight.Start), End: position(highlight.End)}
	text := d.Source
	if text == nil {
		text = c.sources[highlight.Filename]
	}
	if text != nil {
		out.Snippet = c.snippet(d, text, highlight)
	}
	return out
}

func position(p hcl.Pos) Pos { return Pos{p.Line, p.Column, p.Byte} }

// snippet returns the lines around the highlighted range, or around the diagnostic's context if it has a
// wider one, with the offsets of the highlight in them and the values of the expression.
func (c *snippets) snippet(d *diag.Diagnostic, text []byte, highlight hcl.Range) *Snippet {
	around := highlight
	if d.Context != nil && d.Context.Filename == highlight.Filename {
		around = hcl.RangeOver(highlight, *d.Context)
	}
	s := &Snippet{StartLine: around.Start.Line, Values: append(valuesInPlay(d), partsInPlay(d, text)...), FunctionCall: calledFunction(d)}
	start, end := lineBounds(text, around)
	at := lines{highlight.Filename, start, end}
	if _, known := c.code[at]; !known {
		c.code[at] = strings.ReplaceAll(strings.TrimSuffix(string(text[start:end]), "\n"), "\r\n", "\n")
	}
	s.Code = c.code[at]
	s.HighlightStartOffset = clamp(highlight.Start.Byte-start, 0, len(s.Code))
	s.HighlightEndOffset = clamp(highlight.End.Byte-start, s.HighlightStartOffset, len(s.Code))
	if file := c.file(highlight.Filename, text); file != nil {
		// A diagnostic that starts where a block starts is about the block, which is not nested in another.
		if context := blockHeader(file, highlight.Start.Byte-1); context != "" {
			s.Context = &context
		}
	}
	return s
}

func clamp(n, low, high int) int { return min(max(n, low), high) }

// lineBounds returns the byte offsets of the whole lines around the range.
func lineBounds(text []byte, rng hcl.Range) (start, end int) {
	start = clamp(rng.Start.Byte, 0, len(text))
	end = clamp(rng.End.Byte, start, len(text))
	start = bytes.LastIndexByte(text[:start], '\n') + 1
	if end > start && text[end-1] == '\n' {
		return start, end
	}
	if i := bytes.IndexByte(text[end:], '\n'); i >= 0 {
		return start, end + i
	}
	return start, len(text)
}

// file parses a file once and keeps the result, errors included. It returns nil for typed input, which is
// not a file, and for text that is nested too deeply to parse; such snippets name no block.
func (c *snippets) file(name string, text []byte) *hcl.File {
	file, ok := c.files[name]
	if ok {
		return file
	}
	switch {
	case strings.HasPrefix(name, "<"), !config.Parseable(text, name):
	case strings.HasSuffix(name, ".json"):
		file, _ = hcljson.Parse(text, name)
	default:
		file, _ = hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	}
	c.files[name] = file
	return file
}

// valuesInPlay describes the values of the references in the diagnostic's expression, each once, sorted by
// name. The result is never nil.
func valuesInPlay(d *diag.Diagnostic) []ExpressionValue {
	out := []ExpressionValue{}
	if d.Expression == nil {
		return out
	}
	seen := map[string]bool{}
	for _, t := range d.Expression.Variables() {
		// A longer reference may fail to resolve where a shorter one explains why.
		for ; len(t) > 0; t = t[:len(t)-1] {
			text := diag.Reference(t)
			statement, ok := statementOn(d, t, text)
			if !ok {
				continue
			}
			if statement != "" && !seen[text] {
				seen[text] = true
				out = append(out, ExpressionValue{text, statement})
			}
			break
		}
	}
	slices.SortFunc(out, func(a, b ExpressionValue) int { return strings.Compare(a.Traversal, b.Traversal) })
	return out
}

// longestPart is how many bytes the text of a part of an expression has at most, for it to be shown.
const longestPart = 80

// partsInPlay describes the values of those parts of the diagnostic's expression that are not references.
// Parts that are long or on several lines are left out.
func partsInPlay(d *diag.Diagnostic, text []byte) []ExpressionValue {
	var out []ExpressionValue
	for _, p := range d.Parts {
		if p.Range.Filename != d.Subject.Filename || !p.Range.CanSliceBytes(text) {
			continue
		}
		if part := p.Range.SliceBytes(text); len(part) <= longestPart && !bytes.ContainsAny(part, "\r\n") {
			out = append(out, ExpressionValue{string(part) + p.Path, p.Statement})
		}
	}
	return out
}

// statementOn describes the value of a reference in the diagnostic's expression, "" if there is nothing to
// add; ok is false if the value cannot be determined.
func statementOn(d *diag.Diagnostic, t hcl.Traversal, text string) (statement string, ok bool) {
	if statement, ok := d.Statements[text]; ok {
		return statement, true
	}
	if d.EvalContext == nil {
		return "", false
	}
	v, diags := t.TraverseAbs(d.EvalContext)
	if diags.HasErrors() {
		return "", false
	}
	return value.Statement(v, d.AboutUnknown()), true
}

// Validation returns the document of the validate command, indented. It is a document for errors too:
// programs read from it whether the configuration is valid.
func Validation(list diag.List, src Sources) ([]byte, error) {
	doc := struct {
		FormatVersion string       `json:"format_version"`
		Valid         bool         `json:"valid"`
		ErrorCount    int          `json:"error_count"`
		WarningCount  int          `json:"warning_count"`
		Diagnostics   []Diagnostic `json:"diagnostics"`
	}{FormatVersion: "1.0", Valid: !list.HasErrors(), Diagnostics: Diagnostics(list, src)}
	for i := range list {
		if list[i].Severity == diag.Error {
			doc.ErrorCount++
		} else {
			doc.WarningCount++
		}
	}
	return json.MarshalIndent(doc, "", "  ")
}
