package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/workdir"
)

// workspacePrefix begins an argument that names a workspace rather than a file.
const workspacePrefix = "workspace:"

// diffCommand returns the command state diff. It locks nothing: states are replaced in one step.
func (c *stateCommands) diffCommand(a *app) *cli.Command {
	show, detailed := false, false
	m := &machineFlags{}
	return a.command("diff", "Show how two states differ", "A [B]",
		"Compares two states, the older one first. Each is a state file, \"-\" for standard input, \"workspace:NAME\", or a moment in the history of a backend that keeps one: "+momentUsage+". Without a history of outputs, only objects are compared. Without B, A is compared with the state of the selected workspace.",
		append(m.flags("a JSON document, with sensitive values,"),
			boolFlag("show-sensitive", "Show sensitive values.", &show),
			boolFlag("detailed-exitcode", "Exit with status 0 if the states do not differ, 1 on errors, 2 if they differ.", &detailed),
		),
		func(ctx context.Context, args []string) int {
			c.out.view.ShowSensitive = show
			if !m.begin(c.out) {
				return exitError
			}
			if len(args) == 0 || len(args) > 2 || len(args) == 2 && args[0] == "-" && args[1] == "-" {
				return c.out.argsError("state diff", "one or two states: files, \"-\" for standard input once, or \"workspace:NAME\"")
			}
			names, files, unknown := append(args, "the selected workspace")[:2], [2]*state.File{}, false
			for i := range names {
				of, ok := append(args, "")[i], false
				if c.isMoment(ctx, of) {
					var p *store.Past
					if p, ok = c.past(ctx, of); ok {
						files[i], unknown = fileOf(p), unknown || !p.Results
					}
				} else {
					files[i], ok = c.named(ctx, of)
				}
				if !ok {
					return exitError
				}
			}
			if unknown {
				withoutResults(files[:])
			}
			diff, code := c.diff(ctx, m, names, files)
			if code == exitOK && detailed && !diff.Empty() {
				return exitChanges
			}
			return code
		})
}

// withoutResults takes outputs and checks out of states: the history of a moment does not have them.
func withoutResults(files []*state.File) {
	for i, f := range files {
		if f != nil {
			only := *f
			only.State = f.State.Copy()
			only.State.Outputs, only.State.Checks = nil, nil
			files[i] = &only
		}
	}
}

// diff compares two states and writes the outcome.
func (c *stateCommands) diff(ctx context.Context, m *machineFlags, names []string, files [2]*state.File) (*document.StateDiff, int) {
	states := [2]*state.State{{}, {}}
	for i, f := range files {
		if f != nil {
			states[i] = f.State
		}
	}
	s, diags := c.wd.reader(ctx, states[0].With(states[1]))
	defer s.close()
	if !c.out.report(diags) {
		return nil, exitError
	}
	diff, err := document.CompareStates(states[0], states[1], s.Schemas(ctx))
	if err != nil {
		return nil, c.out.fail("States cannot be compared", "%s.", diag.Sentence(err))
	}
	if done, code := c.out.documented(m, func() ([]byte, error) { return document.StateDiffOf(diff, files[0], files[1]) }); done {
		return diff, code
	}
	return diff, c.out.wrote(view.StateDiff(c.out.env.Stdout, diff, names[0], names[1], c.out.view))
}

// named reads the state that an argument names: the selected workspace's for "". It returns nil for a state
// without content, and false after an error, which was reported.
func (c *stateCommands) named(ctx context.Context, name string) (*state.File, bool) {
	if name == "" {
		file, diags := c.wd.dir().Backend.ReadState(ctx, workdir.StateFiles{})
		return file, c.out.report(diags)
	}
	if workspace, ok := strings.CutPrefix(name, workspacePrefix); ok {
		w, diags := c.wd.dir().Workspaces(ctx)
		if !c.out.report(diags) {
			return nil, false
		}
		file, diags := w.Read(ctx, workspace)
		return file, c.out.report(diags)
	}
	src, err := c.in.readFileOrStdin(name)
	if err != nil {
		c.out.fail("Failed to read a state", "The file %s could not be read: %s.", name, diag.Reason(err))
		return nil, false
	}
	file, err := c.wd.dir().ReadStateFile(ctx, src)
	if err != nil {
		c.out.fail("Failed to read a state", "The file %s cannot be read as a state: %s.", name, err)
		return nil, false
	}
	return file, true
}
