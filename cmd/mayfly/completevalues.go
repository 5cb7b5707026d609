package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/config"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// completion finds names in the working directory while a command line is being typed: in the configuration
// of the root module, and in state files that the local backend has. It locks nothing, runs nothing, writes
// nothing and reaches no remote system; where there is an error, there are no names.
type completion struct {
	dir       *directory
	stateFile string // what -state says
}

func (a *app) completion(before []string) *completion {
	c := &completion{dir: a.directory()}
	for _, word := range before {
		if name, path, ok := strings.Cut(word, "="); ok && (name == "-state" || name == "--state") {
			c.stateFile = path
		}
	}
	return c
}

// root reads what can be read of the root module, which somebody may be editing.
func (c *completion) root() *config.Module {
	root, _ := c.dir.loader.LoadModule(".", addr.RootModule)
	return root
}

// store finds the local backend: the one that init has recorded, or that of the configuration.
func (c *completion) store() store.Store {
	record, recorded, diags := c.dir.recorded()
	if diags.HasErrors() {
		return nil
	}
	b := record.backendConfig
	if root := c.root(); !recorded && root != nil {
		if b, diags = declaredBackend(root, nil); diags.HasErrors() {
			return nil
		}
	}
	return local.New(local.Options{Path: b.path, WorkspaceDir: b.workspaceDir, State: c.stateFile})
}

func (c *completion) workspaces(ctx context.Context) []proposal {
	s := c.store()
	if s == nil {
		return nil
	}
	names, err := s.Workspaces(ctx)
	if err != nil {
		return nil
	}
	var out []proposal
	for _, name := range names {
		out = append(out, proposal{word: name})
	}
	return out
}

// state reads the state of the selected workspace; an empty one if that cannot be done.
func (c *completion) state() *state.State {
	name, _, diags := c.dir.workspace()
	if s := c.store(); s != nil && !diags.HasErrors() {
		if m, err := s.Manager(name); err == nil {
			if file, err := m.Read(context.Background()); err == nil && file != nil {
				return file.State
			}
		}
	}
	return state.New()
}

// instances lists the resource instances in the state.
func (c *completion) instances() []proposal {
	var out []proposal
	for i := range c.state().AllInstances() {
		out = append(out, proposal{word: i.String()})
	}
	return out
}

// modules lists the module instances that have something in the state.
func (c *completion) modules() []proposal {
	seen := map[string]bool{}
	for m := range c.state().ByModule() {
		for _, part := range m.Path() {
			if !part.IsRoot() {
				seen[part.String()] = true
			}
		}
	}
	return sorted(seen)
}

// declared lists the resources and module calls of the root module.
func (c *completion) declared() []proposal {
	root := c.root()
	if root == nil {
		return nil
	}
	seen := map[string]bool{}
	for r := range root.Resources {
		seen[r.String()] = true
	}
	for name := range root.Calls {
		seen["module."+name] = true
	}
	return sorted(seen)
}

// variables lists the input variables, to be followed by a value.
func (c *completion) variables() []proposal {
	root := c.root()
	if root == nil {
		return nil
	}
	var out []proposal
	for _, name := range slices.Sorted(maps.Keys(root.Variables)) {
		out = append(out, proposal{name + "=", root.Variables[name].Description})
	}
	return out
}

func (c *completion) outputs() []proposal {
	seen := map[string]bool{}
	for name := range c.state().Outputs {
		seen[name] = true
	}
	return sorted(seen)
}

func sorted(words map[string]bool) []proposal {
	var out []proposal
	for _, word := range slices.Sorted(maps.Keys(words)) {
		out = append(out, proposal{word: word})
	}
	return out
}

// home is the user's home directory, "" if unknown.
func (a *app) home() string {
	if home := a.vars["HOME"]; home != "" {
		return home
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// expandHome does what a shell would have done to a path that begins with a tilde.
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(home, rest)
	}
	return path
}
