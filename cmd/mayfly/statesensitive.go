package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
)

// stateSensitiveCommand returns the command state sensitive. It locks nothing, and shows no value.
func stateSensitiveCommand(a *app) *cli.Command {
	var files stateFlags
	m := &machineFlags{}
	return a.command("sensitive", "List what is sensitive in the state", "", "Lists the attributes and outputs that are sensitive in the state, by provider and type, with the objects that have a value there. It shows no value.",
		append(m.flags("a JSON document"),
			stringFlag("state", "Read the state from `FILE`. For the local backend.", &files.State),
		),
		func(ctx context.Context, args []string) int {
			if !m.begin(a) {
				return exitError
			}
			if len(args) > 0 {
				return a.argsError("state sensitive", "no arguments")
			}
			file, diags := a.directory().ReadState(ctx, files.StateFiles)
			if !a.report(diags) {
				return exitError
			}
			if file == nil && files.State != "" {
				return a.fail("No state file was found!", "The file of the option -state does not exist.")
			}
			if file == nil {
				file = &state.File{State: state.New()}
			}
			s, diags := a.reader(ctx, file.State)
			defer s.close()
			if !a.report(diags) {
				return exitError
			}
			found, err := document.SensitiveOf(file.State, s.Schemas(ctx))
			if err != nil {
				return a.fail("State cannot be read", "%s.", diag.Sentence(err))
			}
			if done, code := a.documented(m, func() ([]byte, error) { return document.SensitiveJSON(found) }); done {
				return code
			}
			return a.wrote(view.StateSensitive(a.env.Stdout, found, a.view))
		})
}
