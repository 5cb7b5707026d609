package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
)

// sensitiveCommand returns the command state sensitive. It locks nothing, and shows no value.
func (c *stateCommands) sensitiveCommand(a *app) *cli.Command {
	var files stateFlags
	m := &machineFlags{}
	return a.command("sensitive", "List what is sensitive in the state", "", "Lists the attributes and outputs that are sensitive in the state, by provider and type, with the objects that have a value there. It shows no value.",
		append(m.flags("a JSON document"),
			stringFlag("state", "Read the state from `FILE`. For the local backend.", &files.State),
		),
		func(ctx context.Context, args []string) int {
			if !m.begin(c.out) {
				return exitError
			}
			if len(args) > 0 {
				return c.out.argsError("state sensitive", "no arguments")
			}
			file, diags := c.wd.dir().Backend.ReadState(ctx, files.StateFiles)
			if !c.out.report(diags) {
				return exitError
			}
			if file == nil && files.State != "" {
				return c.out.fail("No state file was found!", "The file of the option -state does not exist.")
			}
			if file == nil {
				file = &state.File{State: state.New()}
			}
			s, diags := c.wd.reader(ctx, file.State)
			defer s.close()
			if !c.out.report(diags) {
				return exitError
			}
			found, err := document.SensitiveOf(file.State, s.Schemas(ctx))
			if err != nil {
				return c.out.fail("State cannot be read", "%s.", diag.Sentence(err))
			}
			if done, code := c.out.documented(m, func() ([]byte, error) { return document.SensitiveJSON(found) }); done {
				return code
			}
			return c.out.wrote(view.StateSensitive(c.out.env.Stdout, found, c.out.view))
		})
}
