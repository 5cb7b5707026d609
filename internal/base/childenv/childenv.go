// Package childenv makes the environments of the programs that a run starts: without variables that may
// contain secrets that only the configuration passes on, such as the values of ephemeral input variables.
//
// It imports the standard library only. It must not know configurations, nor which programs are started.
package childenv

import (
	"slices"
	"strings"
)

// unquote removes characters that can separate the letters of an option in the words of a shell.
var unquote = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// Without returns an environment without the values of secret input variables, without options that may give
// such values or a backend's credentials, and without settings of encryption. It does not change environ.
func Without(environ []string, secret func(variable string) bool) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, text, _ := strings.Cut(kv, "=")
		if variable, ok := strings.CutPrefix(name, "TF_VAR_"); ok {
			return secret(variable)
		}
		if strings.HasPrefix(name, "TF_CLI_ARGS") {
			text = unquote.Replace(text)
			return strings.Contains(text, "-var") || strings.Contains(text, "-backend-config")
		}
		return name == "TF_ENCRYPTION"
	})
}

// WithoutVariables is Without for programs that need no input variable, or that runs before the configuration
// is read or without it.
func WithoutVariables(environ []string) []string {
	return Without(environ, func(string) bool { return true })
}
