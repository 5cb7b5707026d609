package workdir

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

func TestSnapshot(t *testing.T) {
	s := snapshot{"main.tf": []byte("a"), "m/x.tf": []byte("b"), "../up/y.tf": []byte("c")}
	for dir, want := range map[string]string{".": "main.tf", "m": "x.tf", "./m": "x.tf", "../up": "y.tf"} {
		entries, err := s.ReadDir(dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != want || entries[0].IsDir() {
			t.Errorf("%s: got %v, %v, want the file %s", dir, entries, err, want)
		}
	}
	if entries, err := s.ReadDir("empty"); err != nil || len(entries) > 0 {
		t.Errorf("directory without files: %v, %v", entries, err)
	}
	if b, err := s.ReadFile("./m/x.tf"); err != nil || string(b) != "b" {
		t.Errorf("got %q, %v, want \"b\"", b, err)
	}
	if _, err := s.ReadFile("x.tf"); !os.IsNotExist(err) {
		t.Errorf("absent file: %v", err)
	}
}

func TestE5Environments(t *testing.T) {
	environ := []string{"PATH=/bin", "TF_VAR_size=1", "TF_VAR_key=x", "TF_VAR_password=x"}
	root := &config.Module{Variables: map[string]*config.Variable{
		"password": {Name: "password", Ephemeral: true}, "key": {Name: "key", Sensitive: true}, "size": {Name: "size"},
	}}
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"provider", providerEnviron(environ, root), environ[:2]},
		{"command", commandEnviron(environ, root), environ[:3]},
		{"unknown module", commandEnviron(environ, nil), environ[:1]},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
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
