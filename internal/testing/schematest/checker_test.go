package schematest

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/schematest/checker"
)

// TestChecker has documents checked in the way in which programs of scripts have it done.
func TestChecker(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- checker.Serve(l, Judge) }()
	for _, c := range []struct {
		request       checker.Request
		schema, wrong string
	}{
		{checker.Request{Args: []string{"version", "-json"}, Text: []byte(`{}`)}, "version", "missing properties"},
		{checker.Request{Args: []string{"console", "-json"}, Text: []byte(`1`)}, "", ""},
		{checker.Request{Schema: "module-manifest", Text: []byte(`{"Modules": []}`)}, "module-manifest", ""},
		{checker.Request{Schema: "module-manifest", Text: []byte(`{"Modules": [], "More": 1}`)}, "module-manifest", "'More' not allowed"},
		{checker.Request{Text: []byte(`{"version": 4}`)}, "state-file", "missing properties"},
		{checker.Request{Text: []byte(`{"version": 3}`)}, "", "there is no schema"},
	} {
		schema, err := checker.Ask(socket, c.request)
		if schema != c.schema || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: got schema %q, error %v, want %q and an error with %q (none if empty)", c.request, schema, err, c.schema, c.wrong)
		}
	}
	_ = l.Close() // it has no more clients
	if err := <-served; err == nil {
		t.Error("the checker ended without a reason")
	}
	if _, err := checker.Ask(socket, checker.Request{}); err == nil {
		t.Error("a document was checked although nothing checks")
	}
}
