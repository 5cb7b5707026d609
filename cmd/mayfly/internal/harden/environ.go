package harden

import (
	"os"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/base/childenv"
)

// TakeEnviron returns the environment of this process in the form of os.Environ, and removes from the process
// the variables that only this program is meant to read. The programs that libraries run, such as those that
// give credentials for a cloud, then don't inherit it.
func TakeEnviron() []string {
	all := os.Environ()
	inherited := childenv.WithoutVariables(all)
	for _, kv := range all {
		if !slices.Contains(inherited, kv) {
			name, _, _ := strings.Cut(kv, "=")
			_ = os.Unsetenv(name) // fails only for names that no variable can have
		}
	}
	return all
}
