package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"
)

// TestQueryJSON lists objects through terraform-exec, which wants a Terraform that has queries, and has
// configuration written for them.
func TestQueryJSON(t *testing.T) {
	fromMirror(t)
	t.Setenv("MAYFLY_COMPATIBILITY", "terraform-1.16")
	tf := project(t, map[string]string{
		"main.tf":         "terraform {\n  required_providers {\n    sim = { source = \"mayfly.dev/test/sim\" }\n  }\n}\n",
		"all.tfquery.hcl": "variable \"n\" {}\n\nlist \"sim_thing\" \"all\" {\n  include_resource = true\n  config {\n    prefix  = \"x\"\n    made_up = var.n\n  }\n}\n",
	})
	ctx := t.Context()
	if err := tf.Init(ctx); err != nil {
		t.Fatal(err)
	}
	messages, err := tf.QueryJSON(ctx, tfexec.Var("n=2"), tfexec.GenerateConfigOut("generated.tf"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	total := 0
	for m := range messages {
		if m.Err != nil {
			t.Fatal(m.Err)
		}
		switch m := m.Msg.(type) {
		case tfjson.ListResourceFoundMessage:
			found = append(found, m.ListResourceFound.DisplayName)
			if m.ListResourceFound.ResourceObject["name"] != m.ListResourceFound.Identity["name"] || !strings.Contains(m.ListResourceFound.Config, "sim_thing") {
				t.Errorf("got %+v, want the name as identity and a configuration of sim_thing", m.ListResourceFound)
			}
		case tfjson.ListCompleteMessage:
			total = m.ListComplete.Total
		}
	}
	if got := strings.Join(found, ", "); got != "The thing x0, The thing x1" || total != 2 {
		t.Errorf("got %d results: %s, want 2: the things x0 and x1", total, got)
	}
	if text, err := os.ReadFile(filepath.Join(tf.WorkingDir(), "generated.tf")); err != nil || strings.Count(string(text), "import {") != 2 {
		t.Errorf("generated.tf: got %v, %s, want two import blocks", err, text)
	}
}
