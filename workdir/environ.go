package workdir

import (
	"github.com/mayfly-iac/mayfly/internal/base/childenv"
	"github.com/mayfly-iac/mayfly/internal/language/config"
)

// providerEnviron is the environment of provider processes: without the values of ephemeral and sensitive
// variables, or of all if the root module is not known.
func providerEnviron(environ []string, root *config.Module) []string {
	return environWithout(environ, root, func(v *config.Variable) bool { return v.Ephemeral || v.Sensitive })
}

// commandEnviron is the environment of provisioners. Unlike the providers', it has the values of sensitive
// variables: commands that run this program or another engine depend on them.
func commandEnviron(environ []string, root *config.Module) []string {
	return environWithout(environ, root, func(v *config.Variable) bool { return v.Ephemeral })
}

func environWithout(environ []string, root *config.Module, secret func(*config.Variable) bool) []string {
	if root == nil {
		return childenv.WithoutVariables(environ)
	}
	return childenv.Without(environ, func(name string) bool {
		v := root.Variables[name]
		return v != nil && secret(v)
	})
}
