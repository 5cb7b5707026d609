package childenv

import (
	"slices"
	"testing"
)

func TestE5NoSecretVariables(t *testing.T) {
	environ := []string{
		"PATH=/bin", "AWS_SECRET_ACCESS_KEY=k", "TF_CLI_ARGS=-no-color", "TF_VAR_size=1", "TF_VAR_password=x", "TF_ENCRYPTION=x",
		"TF_CLI_ARGS_apply=-var=password=x", "TF_CLI_ARGS_plan=-var 'password'=\"x\"", `TF_CLI_ARGS_show="-v"ar pass\word=x`,
		"TF_CLI_ARGS_destroy=-'var' 'password =x'", "TF_CLI_ARGS_import=-var-file=x", "TF_CLI_ARGS_init='-backend-config=token=x'",
	}
	before := slices.Clone(environ)
	for _, test := range []struct {
		name      string
		got, want []string
	}{
		{"one", Without(environ, func(name string) bool { return name == "password" }), environ[:4]},
		{"all", WithoutVariables(environ), environ[:3]},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, test.got, test.want)
		}
	}
	if !slices.Equal(environ, before) {
		t.Errorf("the environment: got %q, want %q", environ, before)
	}
}
