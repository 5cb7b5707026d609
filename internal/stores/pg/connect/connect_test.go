package connect

import (
	"errors"
	"strings"
	"testing"

	"github.com/lib/pq"
)

// TestExplain has advice on errors of connections, and leaves others as they are.
func TestExplain(t *testing.T) {
	other := errors.New("broken pipe")
	for _, row := range []struct {
		name string
		err  error
		want string // in the text; "" for no advice
	}{
		{"encryption", pq.ErrSSLNotSupported, "sslmode=disable"},
		{"password", &pq.Error{Code: "28P01"}, "PGPASSWORD"},
		{"user", &pq.Error{Code: "28000"}, "PGUSER"},
		{"database", &pq.Error{Code: "3D000"}, "Create the database"},
		{"a rule of a table", &pq.Error{Code: "23505"}, ""},
		{"the network", other, ""},
	} {
		got := Explain(row.err)
		if !errors.Is(got, row.err) || !strings.Contains(got.Error(), row.want) || row.want == "" && got != row.err {
			t.Errorf("%s: got %q, want %q in it", row.name, got, row.want)
		}
	}
}
