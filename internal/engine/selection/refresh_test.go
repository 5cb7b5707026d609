package selection

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// TestUnrefreshed reports targets to be refreshed, as errors only where another address was meant.
func TestUnrefreshed(t *testing.T) {
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte("resource \"t\" \"name\" {}\nresource \"t\" \"many\" {\n  count = 2\n}\n")}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for text, c := range map[string]struct {
		severity diag.Severity
		detail   string
	}{
		"t.name":      {diag.Warning, `refreshes nothing. The state has no such object.`},
		"t.naem":      {diag.Error, "Did you mean t.name?"},
		"x.elsewhere": {diag.Warning, "Neither the configuration nor the state has that address."},
		`t.many["k"]`: {diag.Error, "Without a key, the address is that of all instances."},
	} {
		target, err := addr.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		got := Unrefreshed(tree, []addr.Target{target})
		if len(got) != 1 || got[0].Severity != c.severity || !strings.Contains(got[0].Detail, c.detail) {
			t.Errorf("%s: got %v, want %v with %q", text, got, c.severity, c.detail)
		}
	}
	if got := Unrefreshed(tree, nil); got != nil {
		t.Errorf("got %v without targets, want nothing", got)
	}
}
