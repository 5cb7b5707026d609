//go:build !mayfly_no_postgres

package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state/store"
)

// TestAdviceOnLogs warns if the server logs parameters of statements and states are not encrypted.
func TestAdviceOnLogs(t *testing.T) {
	s := server.Start(t)
	for _, test := range []struct {
		options string
		cipher  store.Cipher
		warns   bool
	}{
		{"", nil, false},
		{"-c log_statement=ddl", nil, false},
		{"-c log_statement=all", nil, true},
		{"-c log_statement=mod", nil, true},
		{"-c log_min_duration_statement=100", nil, true},
		{"-c log_statement=all -c log_parameter_max_length=0", nil, false},
		{"-c log_statement=all", reversing{}, false},
	} {
		opt := postgres.Options{ConnString: s.URL(0) + "&options=" + strings.ReplaceAll(url.QueryEscape(test.options), "+", "%20"), Cipher: test.cipher}
		got := store.AdviceOf(t.Context(), open(t, opt))
		if len(got) > 0 != test.warns {
			t.Errorf("with the options %q: got %v, want a warning: %v", test.options, got, test.warns)
		}
		if len(got) > 0 && !strings.Contains(got[0].Detail, "\n  ALTER ROLE test SET log_parameter_max_length = 0") {
			t.Errorf("got the advice %q, want the statement that follows it", got[0].Detail)
		}
	}
}
