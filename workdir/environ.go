package workdir

import (
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/config"
)

// unquote removes what can stand between the name of a variable and its value in the words of a shell.
var unquote = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// childEnviron is the environment for provider processes and provisioners: without the variables that give
// values to ephemeral variables, since only what the configuration passes them to may see those.
func childEnviron(environ []string, root *config.Module) []string {
	var secret []string
	for name, v := range root.Variables {
		if v.Ephemeral {
			secret = append(secret, name)
		}
	}
	if len(secret) == 0 {
		return environ
	}
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, text, _ := strings.Cut(kv, "=")
		text = unquote.Replace(text)
		return slices.ContainsFunc(secret, func(s string) bool {
			return name == "TF_VAR_"+s || strings.HasPrefix(name, "TF_CLI_ARGS") && strings.Contains(text, s+"=")
		})
	})
}
