package main

import (
	"context"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan/planfile"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/view"
)

// showFlags are the options of the show command.
type showFlags struct {
	variableFlags
	json, showSensitive, concise bool
	state, config                bool
	plan                         string
}

func (a *app) showCommand() *cli.Command {
	f := &showFlags{}
	flags := append(f.variableFlags.flags(),
		boolFlag("json", "Write a JSON document.", &f.json),
		boolFlag("show-sensitive", "Show sensitive values.", &f.showSensitive),
		boolFlag("state", "Show the state. It is what is shown if nothing else is named.", &f.state),
		stringFlag("plan", "Show this saved plan.", &f.plan),
		boolFlag("config", "Show the configuration, with -json.", &f.config),
		boolFlag("concise", "Accepted for compatibility.", &f.concise),
	)
	return a.command("show", "Show the current state or a saved plan", "[FILE]",
		"Shows the state of the selected workspace, or a file with a saved plan or a state.",
		flags, func(ctx context.Context, args []string) int { return a.show(ctx, f, args) })
}

func (a *app) show(ctx context.Context, f *showFlags, args []string) int {
	a.document, a.view.ShowSensitive = f.json, f.showSensitive
	if len(args) > 1 {
		return a.argsError("show", "at most one argument, a file with a saved plan or a state")
	}
	path, ok := f.target(args)
	switch {
	case !ok:
		return a.fail("Conflicting options", "Name one of what to show: a file, -state, -plan or -config.")
	case f.config:
		return a.showConfig(ctx, f.json)
	case path == "":
		file, diags := a.readState(ctx, stateFlags{})
		if !a.report(diags) {
			return exitError
		}
		return a.showState(ctx, file, f.json)
	}
	isPlan, err := planfile.IsFile(path)
	if err != nil {
		return a.fail("Failed to read the given file", "The file %s could not be read: %s.", path, pathReason(err))
	}
	if isPlan || f.plan != "" {
		return a.showPlan(ctx, path, f.json)
	}
	file, diags := stateFile(path)
	if !a.report(diags) {
		return exitError
	}
	return a.showState(ctx, file, f.json)
}

func stateFile(path string) (*state.File, diag.List) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, diag.Errorf("Failed to read the given file", "The file %s could not be read: %s.", path, pathReason(err))
	}
	f, err := state.Read(src)
	if err != nil {
		return nil, diag.Errorf("Failed to read the given file", "The file %s is neither a saved plan nor a state: %s.", path, err)
	}
	return f, nil
}

func (a *app) showState(ctx context.Context, file *state.File, asJSON bool) int {
	var st *state.State
	if file != nil {
		st = file.State
	}
	s, diags := a.reader(ctx, st)
	defer s.close()
	if !a.report(diags) {
		return exitError
	}
	schemas := s.schemas(ctx)
	if asJSON {
		return a.writeDocument(view.StateJSON(st, schemas, a.versions()))
	}
	if st == nil || st.Empty() {
		a.say("%s", map[bool]string{true: "No state.", false: "The state file is empty. No resources are represented."}[st == nil])
		return exitOK
	}
	return a.wrote(view.State(a.env.Stdout, st, schemas, a.view))
}

// reader opens a session that only serves to look up schemas for what a state holds, so the configuration isn't read. Providers that aren't
// installed are no error here: their objects are shown by their values.
func (a *app) reader(ctx context.Context, st *state.State) (*session, diag.List) {
	d := a.directory()
	d.tree = emptyTree()
	s, diags := a.open(ctx, d, place{}, nil, nil, 0)
	if diags.HasErrors() {
		return s, diags
	}
	if ds := s.useProviders(st); ds.HasErrors() {
		s.selections = nil
	}
	return s, diags
}
