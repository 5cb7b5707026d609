package connect

import (
	"errors"
	"strings"
	"testing"
	"time"

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
		if !errors.Is(got, row.err) || !strings.Contains(got.Error(), row.want) || row.want == "" && strings.Contains(got.Error(), "pq: ") {
			t.Errorf("%s: got %q, want %q in it", row.name, got, row.want)
		}
	}
}

// TestNamed has the name of the product where the client's begins a part of an error, and leaves other errors
// as they are.
func TestNamed(t *testing.T) {
	other := errors.New("about pq: itself")
	for _, row := range []struct {
		err  error
		want string
	}{
		{&pq.Error{Code: "42501", Message: "permission denied"}, "PostgreSQL: permission denied (42501)"},
		{errors.New("pq: could not connect to any of the hosts:\nconnecting to a:1: pq: no\npq: b"), "PostgreSQL: could not connect to any of the hosts:\nconnecting to a:1: PostgreSQL: no\nPostgreSQL: b"},
		{other, other.Error()},
	} {
		got := Named(row.err)
		if got.Error() != row.want || !errors.Is(got, row.err) {
			t.Errorf("Named(%q): got %q, want %q", row.err, got, row.want)
		}
		if again := Named(got); again.Error() != row.want {
			t.Errorf("Named(%q): got %q, want it unchanged", got, again)
		}
	}
	if got := Named(nil); got != nil {
		t.Errorf("Named(nil): got %v, want nil", got)
	}
}

// TestParse has a limited time to connect, which the string may set.
func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"host=a dbname=d":                               10 * time.Second,
		"postgres://u@a/d":                              10 * time.Second,
		"host=a connect_timeout=0":                      10 * time.Second,
		"host=a connect_timeout=2":                      2 * time.Second,
		"postgres://u@a/d?connect_timeout=30":           30 * time.Second,
		"host=a,b port=1,2 user=u dbname=d password=p1": 10 * time.Second,
	} {
		if config, _, err := Parse(text); err != nil || config.ConnectTimeout != want {
			t.Errorf("Parse(%q): got a time of %v, %v, want %v", text, config.ConnectTimeout, err, want)
		}
	}
}
