package complete

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/state"
)

// Directory is a working directory, as far as it can be known while a command line is being typed. Its
// methods lock nothing, run nothing, write nothing and reach no remote system. Where there is an error, there
// are no names.
type Directory interface {
	// Root returns what can be read of the root module, which may be being edited; nil if nothing can.
	Root() *config.Module
	// State returns the state of the selected workspace, or the one in a file that is named in its place. It
	// is empty if it cannot be read.
	State(file string) *state.State
	// Workspaces returns the names of the workspaces.
	Workspaces() []string
}

// optionValues lists values of an option. None leaves it to the shell, which knows files.
func (c *Completer) optionValues(name string) []proposal {
	switch name {
	case "target", "exclude":
		return slices.Concat(c.declared(), c.modules(), c.instances())
	case "replace":
		return c.instances()
	case "var":
		return c.variables()
	}
	return nil
}

// arguments lists what may be an argument of a command.
func (c *Completer) arguments(command string) []proposal {
	switch command {
	case "workspace select", "workspace delete":
		return proposed(c.Open().Workspaces())
	case "state show", "taint", "untaint":
		return c.instances()
	case "state list", "state rm", "state mv":
		return slices.Concat(c.modules(), c.instances())
	case "import":
		return c.declared()
	case "output":
		return proposed(slices.Sorted(maps.Keys(c.state().Outputs)))
	}
	return nil
}

// state reads the state that the command line is about.
func (c *Completer) state() *state.State {
	file := ""
	for _, word := range c.words {
		if name, path, ok := strings.Cut(word, "="); ok && (name == "-state" || name == "--state") {
			file = path
		}
	}
	return c.Open().State(file)
}

// instances lists the resource instances in the state.
func (c *Completer) instances() []proposal {
	var out []proposal
	for i := range c.state().AllInstances() {
		out = append(out, proposal{word: i.String()})
	}
	return out
}

// modules lists the module instances that have something in the state.
func (c *Completer) modules() []proposal {
	seen := map[string]bool{}
	for m := range c.state().ByModule() {
		for _, part := range m.Path() {
			if !part.IsRoot() {
				seen[part.String()] = true
			}
		}
	}
	return proposed(slices.Sorted(maps.Keys(seen)))
}

// declared lists the resources and module calls of the root module.
func (c *Completer) declared() []proposal {
	root := c.Open().Root()
	if root == nil {
		return nil
	}
	var names []string
	for r := range root.Resources {
		names = append(names, r.String())
	}
	for name := range root.Calls {
		names = append(names, "module."+name)
	}
	slices.Sort(names)
	return proposed(names)
}

// variables lists the input variables, to be followed by a value.
func (c *Completer) variables() []proposal {
	root := c.Open().Root()
	if root == nil {
		return nil
	}
	var out []proposal
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		out = append(out, proposal{name + "=", root.Variables[name].Description})
	}
	return out
}

func proposed(words []string) []proposal {
	var out []proposal
	for _, word := range words {
		out = append(out, proposal{word: word})
	}
	return out
}

// expandHome does what a shell would have done to a path that begins with a tilde.
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return path
}
