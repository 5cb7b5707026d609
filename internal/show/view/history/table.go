package history

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Table writes the answer to a statement as a table, with a line for each row. It fails if w fails.
func Table(w io.Writer, table *store.Table) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells []string) { fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t ")) }
	names := make([]string, len(table.Columns))
	for i, name := range table.Columns {
		names[i] = onOneLine(name)
	}
	line(names)
	for _, row := range table.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = onOneLine(text(v))
		}
		line(cells)
	}
	return t.Flush()
}

// onOneLine returns a text without line breaks and tabs, which would end the cell.
func onOneLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(view.Visible(s))
}

// text returns a value of a table as text.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case time.Time:
		return when(v)
	case json.RawMessage:
		return string(v)
	case []string:
		return strings.Join(v, ", ")
	}
	return fmt.Sprint(v)
}

// TableJSON returns the document of the answer to a statement. It fails if two columns have the same name.
func TableJSON(table *store.Table) ([]byte, error) {
	doc := struct {
		FormatVersion string           `json:"format_version"`
		Columns       []string         `json:"columns"`
		Rows          []map[string]any `json:"rows"`
	}{formatVersion, append([]string{}, table.Columns...), []map[string]any{}}
	for _, row := range table.Rows {
		object := make(map[string]any, len(row))
		for i, v := range row {
			name := table.Columns[i]
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("two columns of the answer have the name %q. Name one of them with AS", name)
			}
			if at, is := v.(time.Time); is {
				v = moment(at)
			}
			object[name] = v
		}
		doc.Rows = append(doc.Rows, object)
	}
	return json.MarshalIndent(doc, "", "  ")
}
