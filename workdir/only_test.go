package workdir

import (
	"fmt"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/tfeserver"
)

// TestOnlyWorkspace selects the workspace that a cloud block names, and the default one after the block has
// gone.
func TestOnlyWorkspace(t *testing.T) {
	t.Chdir(t.TempDir())
	s := tfeserver.Start(t)
	filetest.Write(t, "settings", fmt.Sprintf("host \"states.example.com\" {\n  services = { \"tfe.v2\" = %q }\n}\n", s.API()))
	environ := []string{"TF_CLI_CONFIG_FILE=settings", "TF_TOKEN_states_example_com=" + tfeserver.Token}
	s.Add("app")
	for _, test := range []struct{ block, want string }{
		{"cloud {\n  hostname = \"states.example.com\"\n  organization = \"org\"\n  workspaces {\n    name = \"app\"\n  }\n}", "app [app]"},
		{"backend \"local\" {}", "default [default]"},
		{"backend \"remote\" {\n  hostname = \"states.example.com\"\n  organization = \"org\"\n  workspaces {\n    name = \"app\"\n  }\n}", "default [default]"},
	} {
		filetest.Write(t, "main.tf", "terraform {\n"+test.block+"\n}\n")
		d := New(Options{Environ: environ})
		wants(t, d.LoadRoot(t.Context()), "")
		_, diags := d.Backend.Init(t.Context(), BackendOptions{Migrate: true})
		wants(t, diags, "")
		w, diags := d.Workspaces(t.Context())
		wants(t, diags, "")
		if got := fmt.Sprint(w.Current, " ", w.Names); got != test.want {
			t.Errorf("%s\n%s, want %s", test.block, got, test.want)
		}
	}
}
