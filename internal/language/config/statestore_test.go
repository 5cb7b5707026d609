package config

import (
	"strings"
	"testing"
)

const requiredSim = "  required_providers {\n    sim = { source = \"mayfly.dev/test/sim\" }\n  }\n"

func TestStateStoreBlock(t *testing.T) {
	tree, diags := (&Loader{FS: mapFS(map[string]string{
		"a.tf": "terraform {\n  state_store \"sim_files\" {\n    provider \"sim\" { region = \"x\" }\n    dir = \"d\"\n  }\n}\n",
		"b.tf": "terraform {\n" + requiredSim + "}\n",
	})}).Load(".")
	if diags.HasErrors() {
		t.Fatal(show(diags))
	}
	b := tree.Root.Backend
	if b.Type != "sim_files" || b.Store == nil || b.Store.Name != "sim" || b.Store.Source.String() != "mayfly.dev/test/sim" {
		t.Fatalf("backend: got %+v, want sim_files in the store sim of mayfly.dev/test/sim", b)
	}
	own, _ := b.Body.JustAttributes()
	theirs, _ := b.Store.Body.JustAttributes()
	if len(own) != 1 || own["dir"] == nil || len(theirs) != 1 || theirs["region"] == nil {
		t.Errorf("arguments: got %v and %v, want dir and region", own, theirs)
	}
}

func TestStateStoreMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no provider":     {requiredSim + "state_store \"s\" {}\n", "Missing provider of a state store"},
		"two providers":   {requiredSim + "state_store \"s\" {\nprovider \"sim\" {}\nprovider \"sim\" {}\n}\n", "Duplicate provider block"},
		"not required":    {"state_store \"s\" {\nprovider \"sim\" {}\n}\n", "Provider of the state store is not required"},
		"nearly required": {requiredSim + "state_store \"s\" {\nprovider \"sin\" {}\n}\n", `Did you mean "sim"?`},
		"a backend too":   {requiredSim + "state_store \"s\" {\nprovider \"sim\" {}\n}\nbackend \"http\" {}\n", "Both a backend and a state_store configuration are present"},
		"a cloud too":     {requiredSim + "cloud {}\nstate_store \"s\" {\nprovider \"sim\" {}\n}\n", "Both a cloud and a state_store configuration are present"},
		"twice":           {requiredSim + "state_store \"s\" {\nprovider \"sim\" {}\n}\nstate_store \"s\" {\nprovider \"sim\" {}\n}\n", "Duplicate state_store configuration"},
		"a wrong name":    {requiredSim + "state_store \"s\" {\nprovider \"si m\" {}\n}\n", "Invalid provider local name"},
	} {
		_, diags := (&Loader{FS: mapFS(map[string]string{"main.tf": "terraform {\n" + c.text + "}\n"})}).Load(".")
		if got := show(diags); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, diags := (&Loader{FS: mapFS(map[string]string{
		"main.tf": "module \"m\" {\n  source = \"./m\"\n}\n", "m/m.tf": "terraform {\n" + requiredSim + "state_store \"s\" {\nprovider \"sim\" {}\n}\n}\n",
	})}).Load(".")
	if got := show(diags); diags.HasErrors() || !strings.Contains(got, "The state_store block in module.m has no effect") {
		t.Errorf("in a module: %s", got)
	}
}
