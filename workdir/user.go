package workdir

import (
	"slices"
	"strings"
	"sync"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
)

// User has the settings of the user, from the CLI configuration and the environment. The files are read once,
// when the first of their settings is needed: they may be pipes. Its methods may be called concurrently.
type User struct {
	files *files
	// config returns the CLI configuration, which is never nil.
	config func() (*cliconfig.Config, diag.List)
}

// NewUser returns the settings that environment variables, in the form of os.Environ, lead to.
func NewUser(environ []string) *User {
	f := filesIn(environ)
	return &User{f, sync.OnceValues(func() (*cliconfig.Config, diag.List) { return cliconfig.Load(f.environment()) })}
}

// Compatible returns the engine that the user wants the program to be taken for: the environment variable
// MAYFLY_COMPATIBILITY wins over the argument of the CLI configuration. It is zero without either. Errors are
// about this setting only.
func (u *User) Compatible() (mayfly.Engine, diag.List) {
	if text := u.files.vars[compat.Variable]; text != "" {
		e, err := compat.Parse(text)
		if err != nil {
			return e, diag.Errorf("Invalid "+compat.Variable, "%s, or unset the environment variable.", strings.TrimSuffix(diag.Sentence(err), "."))
		}
		return e, nil
	}
	c, diags := u.config()
	return c.Compatible, slices.DeleteFunc(slices.Clone(diags), func(d diag.Diagnostic) bool {
		_, about := d.Extra.(cliconfig.NoEngine)
		return !about
	})
}

// engine returns the engine that the program is taken for. A wrong setting is reported by Compatible.
func (u *User) engine() mayfly.Engine {
	e, _ := u.Compatible()
	return e.OrDefault()
}
