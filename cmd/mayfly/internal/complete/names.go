package complete

import (
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/state"
)

// proposal is a word that may replace the one at the cursor, with a description.
type proposal struct{ word, about string }

// Completer completes command lines.
type Completer struct {
	Root *cli.Command // with all commands below it
	Home string       // of the user, "" if unknown
	// Open opens the working directory. A -chdir in the command line is carried out before.
	Open func() Directory

	words []string // before the last one, without the program and the options that stand before the command
}

// Directory reads a working directory while a command line is typed. Its methods take no locks, start no
// processes, write nothing and contact no remote system. On an error they return nothing.
type Directory interface {
	// Root returns the readable part of the root module, which may be being edited; nil if there is none.
	Root() *config.Module
	// State returns the state of the selected workspace, or the one in a file that is named in its place. It
	// is empty if it cannot be read.
	State(file string) *state.State
	// Workspaces returns the names of the workspaces.
	Workspaces() []string
}

// optionValues returns the values of an option; nil leaves completion to the shell, which completes files.
func (c *Completer) optionValues(name string) []proposal {
	switch name {
	case "target", "exclude":
		return slices.Concat(c.declared(), c.modules(), c.instances())
	case "replace", "assume-unchanged":
		return c.instances()
	case "invoke":
		return c.actions()
	case "var":
		return c.variables()
	}
	return nil
}

// arguments returns the possible arguments of a command; nil leaves completion to the shell.
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
	case "explain":
		return slices.Concat(c.declared(), c.actions(), c.explainable(), c.instances())
	case "output":
		return proposed(slices.Sorted(maps.Keys(c.state().Outputs)))
	}
	return nil
}

// state returns the state that the command line refers to: the file of -state, else the workspace's.
func (c *Completer) state() *state.State {
	file := ""
	for _, word := range c.words {
		if name, path, ok := strings.Cut(word, "="); ok && (name == "-state" || name == "--state") {
			file = path
		}
	}
	return c.Open().State(file)
}

// instances returns the resource instances in the state.
func (c *Completer) instances() []proposal {
	var out []proposal
	for i := range c.state().AllInstances() {
		out = append(out, proposal{word: i.String()})
	}
	return out
}

// modules returns the module instances with resources in the state.
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

// declared returns the resources and module calls of the root module.
func (c *Completer) declared() []proposal {
	root := c.Open().Root()
	if root == nil {
		return nil
	}
	var names []string
	for r := range root.Resources {
		if r.Mode != addr.Action {
			names = append(names, r.String())
		}
	}
	for name := range root.Calls {
		names = append(names, "module."+name)
	}
	slices.Sort(names)
	return proposed(names)
}

// actions returns the actions of the root module. One with count or for_each is still to be followed by a
// key.
func (c *Completer) actions() []proposal {
	root := c.Open().Root()
	if root == nil {
		return nil
	}
	var names []string
	for r := range root.Resources {
		if r.Mode == addr.Action {
			names = append(names, r.String())
		}
	}
	slices.Sort(names)
	return proposed(names)
}

// explainable returns the other items of the root module that can be explained: checks, variables, local
// values and outputs.
func (c *Completer) explainable() []proposal {
	root := c.Open().Root()
	if root == nil {
		return nil
	}
	var names []string
	for _, group := range []struct {
		word  string
		names iter.Seq[string]
	}{{"check", maps.Keys(root.Checks)}, {"var", maps.Keys(root.Variables)}, {"local", maps.Keys(root.Locals)}, {"output", maps.Keys(root.Outputs)}} {
		for name := range group.names {
			names = append(names, group.word+"."+name)
		}
	}
	slices.Sort(names)
	return proposed(names)
}

// variables returns the input variables, each to be followed by a value.
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

// proposed returns words as proposals without descriptions.
func proposed(words []string) []proposal {
	var out []proposal
	for _, word := range words {
		out = append(out, proposal{word: word})
	}
	return out
}

// expandHome expands a leading tilde in a path as a shell does.
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return path
}
