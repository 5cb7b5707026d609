package workdir

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/value"
)

func TestSnapshot(t *testing.T) {
	s := snapshot{"main.tf": []byte("a"), "m/x.tf": []byte("b"), "../up/y.tf": []byte("c")}
	for dir, want := range map[string]string{".": "main.tf", "m": "x.tf", "./m": "x.tf", "../up": "y.tf"} {
		entries, err := s.ReadDir(dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != want || entries[0].IsDir() {
			t.Errorf("%s: %v, %v", dir, entries, err)
		}
	}
	if entries, err := s.ReadDir("empty"); err != nil || len(entries) > 0 {
		t.Errorf("directory without files: %v, %v", entries, err)
	}
	if b, err := s.ReadFile("./m/x.tf"); err != nil || string(b) != "b" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := s.ReadFile("x.tf"); !os.IsNotExist(err) {
		t.Errorf("absent file: %v", err)
	}
}

func TestE5ChildEnviron(t *testing.T) {
	root := &config.Module{Variables: map[string]*config.Variable{"password": {Name: "password", Ephemeral: true}, "size": {Name: "size"}}}
	got := childEnviron([]string{
		"PATH=/bin", "TF_VAR_password=x", "TF_VAR_size=1", "TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_apply=-var=password=x", "TF_CLI_ARGS_plan=-var size=1",
		"TF_CLI_ARGS_destroy=-var 'password'=\"x\"", `TF_CLI_ARGS_init=-var pass\word=x`,
	}, root)
	want := []string{"PATH=/bin", "TF_VAR_size=1", "TF_CLI_ARGS=-no-color", "TF_CLI_ARGS_plan=-var size=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func sealed(t *testing.T, v cty.Value) value.Durable {
	t.Helper()
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
