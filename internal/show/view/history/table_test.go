package history_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/show/view/history"
	"github.com/mayfly-iac/mayfly/state/store"
)

func TestTable(t *testing.T) {
	table := &store.Table{Columns: []string{"a", "b", "c"}, Rows: [][]any{{"x\ny", int64(1), nil}, {began, true, json.RawMessage(`{"k": 1}`)}, {[]string{"p", "q"}, 1.5, "\x1b[31m"}}}
	want := `a                    b  c
x\ny                 1
2030-01-02 03:04:05  true  {"k": 1}
p, q                 1.5   \x1b[31m
`
	if got := written(t, func(sb *strings.Builder) error { return history.Table(sb, table) }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := history.TableJSON(table)
	document(t, "query-result", doc, err)
	if _, err := history.TableJSON(&store.Table{Columns: []string{"a", "a"}, Rows: [][]any{{1, 2}}}); err == nil || !strings.Contains(err.Error(), "two columns") {
		t.Errorf("got the error %v of two columns with one name, want it to say so", err)
	}
}
