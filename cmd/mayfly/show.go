package main

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/show/view"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/workdir"
)

// showFlags are the options of the show command. Scripts written for related programs name what to show by
// its type, others give the file as an argument.
type showFlags struct {
	machineFlags
	showSensitive, concise bool
	state, config          bool // what to show, if one of them is set
	plan, module           string
	pageFlags
}

// showCommand returns the command show. Its JSON documents of plans and states are what most other programs
// read from the engine.
func (a *app) showCommand() *cli.Command {
	f := &showFlags{}
	flags := append(append(a.variableFlags(), f.machineFlags.flags("a JSON document, with sensitive values,")...),
		boolFlag("state", "Show the state of the selected workspace. That is the default.", &f.state),
		stringFlag("plan", "Show the saved plan in `FILE`.", &f.plan),
		boolFlag("config", "Show the configuration, as a JSON document.", &f.config),
		stringFlag("module", "Show the module in `DIR` by itself, as a JSON document. Nothing needs to be installed for it.", &f.module),
		boolFlag("show-sensitive", "Show sensitive values.", &f.showSensitive),
		stringFlag("html", "Write an HTML page to `FILE` with the plan, the reasons for its changes and their order, or with the state. Sensitive values are hidden.", &f.html),
		f.markdownFlag("the plan or the state"),
		boolFlag("concise", "Has no effect. Accepted for compatibility.", &f.concise),
	)
	return a.command("show", "Show the current state or a saved plan", "[FILE]",
		"Shows the state of the selected workspace, or a file with a saved plan or a state.",
		flags, func(ctx context.Context, args []string) int { return a.show(ctx, f, args) })
}

// check reports options that name more than one thing to show.
func (f *showFlags) check(args []string) diag.List {
	chosen := 0
	for _, given := range []bool{f.state, f.config, f.plan != "", f.module != ""} {
		if given {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return diag.Errorf("Conflicting object types to show", "Use only one of -state, -plan=FILE, -config and -module=DIR: each shows something different.")
	case chosen == 1 && len(args) > 0:
		return diag.Errorf("Unexpected command line arguments", "An option already selects what to show, so the argument %q is not expected.", args[0])
	case len(args) > 1:
		return diag.Errorf("Wrong number of arguments", "The command show expects at most one argument, a file with a saved plan or a state. For its usage, run: mayfly show -help")
	case f.config && !f.json:
		return diag.Errorf("JSON output required for configuration", "A configuration can only be shown as a JSON document: add -json.")
	case f.html+f.markdown != "" && (f.config || f.module != ""):
		return diag.Errorf("Nothing to write as a page", "-html and -markdown write about a plan or a state, not about a configuration.")
	case f.module != "" && !f.json:
		return diag.Errorf("JSON output required for module", "A module can only be shown as a JSON document: add -json.")
	}
	return nil
}

// show shows what the options name, else the given file, which may be a plan or a state.
func (a *app) show(ctx context.Context, f *showFlags, args []string) int {
	a.document, a.view.ShowSensitive = f.json, f.showSensitive
	f.beside = append(f.files(), fileOption{"-plan", f.plan, true})
	for _, name := range args {
		f.beside = append(f.beside, fileOption{"the argument", name, true})
	}
	if !f.begin(a) || !a.report(f.check(args)) {
		return exitError
	}
	return a.paged(f.pageFlags, "", func() int { return a.showWhat(ctx, f, args) })
}

// showWhat shows what the options or the argument name.
func (a *app) showWhat(ctx context.Context, f *showFlags, args []string) int {
	switch {
	case f.config:
		return a.showConfig(ctx, f)
	case f.module != "":
		return a.showModule(ctx, f)
	case f.plan != "":
		saved, diags := a.directory().OpenPlan(ctx, f.plan)
		if !a.report(diags) {
			return exitError
		}
		return a.showPlan(ctx, f, saved)
	case len(args) == 0:
		file, diags := a.directory().ReadState(ctx, workdir.StateFiles{})
		if !a.report(diags) {
			return exitError
		}
		if a.page != nil {
			a.page.Workspace, _, _ = a.directory().Workspace() // it was found before
		}
		return a.showState(ctx, f, file)
	}
	saved, file, diags := a.directory().Saved(ctx, args[0])
	switch {
	case !a.report(diags):
		return exitError
	case saved != nil:
		return a.showPlan(ctx, f, saved)
	}
	return a.showState(ctx, f, file)
}

// showState shows a state; nil stands for none. The providers' schemas say which attributes are sensitive;
// for a provider that is not installed, only those count that were stored as sensitive.
func (a *app) showState(ctx context.Context, f *showFlags, file *state.File) int {
	var st *state.State
	if file != nil {
		st = file.State
	}
	s, diags := a.reader(ctx, st)
	defer s.close()
	if !a.report(diags) {
		return exitError
	}
	schemas := s.Schemas(ctx)
	if err := a.page.State(st, schemas); err != nil {
		return a.wrote(err)
	}
	if done, code := a.documented(&f.machineFlags, func() ([]byte, error) { return document.State(st, schemas, a.versions()) }); done {
		return code
	}
	if st == nil {
		a.say("No state.")
		return exitOK
	}
	if st.Empty() {
		a.say("The state file is empty. No resources are represented.")
		return exitOK
	}
	return a.wrote(view.State(a.env.Stdout, st, schemas, a.view))
}
