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

// showFlags are the options of the show command. Scripts written for related programs name the subject by its
// type, others give the file as an argument.
type showFlags struct {
	machineFlags
	showSensitive, concise bool
	state, config          bool // the subject, if one of them is set
	plan, module           string
	pageFlags
}

// showCommand is the command show.
type showCommand struct {
	out *output
	wd  *workingDir
}

// command returns the command show. Most other programs read its JSON documents of plans and states.
func (c *showCommand) command(a *app) *cli.Command {
	f := &showFlags{}
	flags := append(append(a.in.variableFlags(), f.machineFlags.flags("a JSON document, with sensitive values,")...),
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
		flags, func(ctx context.Context, args []string) int { return c.show(ctx, f, args) })
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

// show shows the subject that the options name, else the given file, which may be a plan or a state.
func (c *showCommand) show(ctx context.Context, f *showFlags, args []string) int {
	c.out.document, c.out.view.ShowSensitive = f.json, f.showSensitive
	f.beside = append(f.files(), fileOption{"-plan", f.plan, true})
	for _, name := range args {
		f.beside = append(f.beside, fileOption{"the argument", name, true})
	}
	if !f.begin(c.out) || !c.out.report(f.check(args)) {
		return exitError
	}
	return c.out.paged(f.pageFlags, "", func() int { return c.showWhat(ctx, f, args) })
}

// showWhat shows the subject that the options or the argument name.
func (c *showCommand) showWhat(ctx context.Context, f *showFlags, args []string) int {
	switch {
	case f.config:
		return c.showConfig(ctx, f)
	case f.module != "":
		return c.showModule(ctx, f)
	case f.plan != "":
		saved, diags := c.wd.dir().Plans.Open(ctx, f.plan)
		if !c.out.report(diags) {
			return exitError
		}
		return c.showPlan(ctx, f, saved)
	case len(args) == 0:
		file, diags := c.wd.dir().Backend.ReadState(ctx, workdir.StateFiles{})
		if !c.out.report(diags) {
			return exitError
		}
		if c.out.page != nil {
			c.out.page.Workspace, _, _ = c.wd.dir().Workspace() // it was found before
		}
		return c.showState(ctx, f, file)
	}
	saved, file, diags := c.wd.dir().Saved(ctx, args[0])
	switch {
	case !c.out.report(diags):
		return exitError
	case saved != nil:
		return c.showPlan(ctx, f, saved)
	}
	return c.showState(ctx, f, file)
}

// showState shows a state; nil stands for none. The providers' schemas say which attributes are sensitive;
// for a provider that is not installed, only those count that were stored as sensitive.
func (c *showCommand) showState(ctx context.Context, f *showFlags, file *state.File) int {
	var st *state.State
	if file != nil {
		st = file.State
	}
	s, diags := c.wd.reader(ctx, st)
	defer s.close()
	if !c.out.report(diags) {
		return exitError
	}
	schemas := s.Schemas(ctx)
	if err := c.out.page.State(st, schemas); err != nil {
		return c.out.wrote(err)
	}
	if done, code := c.out.documented(&f.machineFlags, func() ([]byte, error) { return document.State(st, schemas, c.out.versions()) }); done {
		return code
	}
	if st == nil {
		c.out.say("No state.")
		return exitOK
	}
	if st.Empty() {
		c.out.say("The state file is empty. No resources are represented.")
		return exitOK
	}
	return c.out.wrote(view.State(c.out.env.Stdout, st, schemas, c.out.view))
}
