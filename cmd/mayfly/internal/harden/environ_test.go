package harden

import (
	"os"
	"slices"
	"testing"
)

func TestTakeEnviron(t *testing.T) {
	taken := []string{"TF_VAR_secret", "TF_CLI_ARGS_apply", "TF_ENCRYPTION"}
	kept := []string{"TF_LOG", "TF_TOKEN_example_com", "OTHER"}
	for _, name := range slices.Concat(taken, kept) {
		t.Setenv(name, "-var=x")
	}
	all := TakeEnviron()
	for _, name := range slices.Concat(taken, kept) {
		if !slices.Contains(all, name+"=-var=x") {
			t.Errorf("%s is not returned", name)
		}
		if _, set := os.LookupEnv(name); set == slices.Contains(taken, name) {
			t.Errorf("%s is set for children: %v", name, set)
		}
	}
}
