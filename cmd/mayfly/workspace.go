package main

import (
	"context"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/show/view/document"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/workdir"
)

// workspaceCommand returns the command workspace.
func workspaceCommand(a *app) *cli.Command {
	return a.group("workspace", "Workspace management", "Each workspace has a state of its own for the same configuration.",
		workspaceDeleteCommand(a), workspaceListCommand(a), workspaceNewCommand(a), workspaceSelectCommand(a), workspaceShowCommand(a))
}

// workspaceListCommand returns the command workspace list. Scripts and terraform-exec parse its lines: the
// selected workspace is marked by an asterisk, the others are indented. For programs, it is a message or, for
// those that take this program for Terraform, a document.
func workspaceListCommand(a *app) *cli.Command {
	out, wd, m := a.out, a.wd, &machineFlags{}
	return a.command("list", "List workspaces", "", "Lists the workspaces; the selected one is marked.", m.streamFlags(), func(ctx context.Context, _ []string) int {
		begin := m.beginMessages
		asTerraform := out.env.compatible.Name == compat.Terraform
		if asTerraform {
			out.document, begin = m.json, m.begin
		}
		if !begin(out) {
			return exitError
		}
		w, diags := wd.dir().Workspaces(ctx)
		if !out.report(diags) {
			return exitError
		}
		if asTerraform {
			if done, code := out.documented(m, func() ([]byte, error) { return document.Workspaces(w.Names, w.Current) }); done {
				return code
			}
		}
		for _, s := range out.streams() {
			s.Workspaces(w.Names, w.Current)
		}
		if out.stream != nil {
			return exitOK
		}
		for _, name := range w.Names {
			mark := " "
			if name == w.Current {
				mark = "*"
			}
			out.say("%s %s", mark, name)
		}
		out.say("")
		if w.FromEnv {
			out.say("The environment variable TF_WORKSPACE decides which workspace is in use.")
		}
		return exitOK
	})
}

// workspaceShowCommand returns the command workspace show. It contacts no backend: the selection is recorded
// in the directory.
func workspaceShowCommand(a *app) *cli.Command {
	out, wd := a.out, a.wd
	return a.command("show", "Show the name of the current workspace", "", "Writes the name of the selected workspace.", nil, func(context.Context, []string) int {
		name, _, diags := wd.dir().Workspace()
		if !out.report(diags) {
			return exitError
		}
		out.say("%s", name)
		return exitOK
	})
}

// workspaceSelectCommand returns the command workspace select. Selecting the current workspace does nothing,
// unless TF_WORKSPACE selects it: then the choice would have no effect, which is reported.
func workspaceSelectCommand(a *app) *cli.Command {
	out, wd := a.out, a.wd
	create := false
	return a.messageCommand("select", "Select a workspace", "NAME", "Selects the workspace that commands in this directory work on.",
		[]cli.Flag{boolFlag("or-create", "Create the workspace if there is none of that name.", &create)},
		func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return out.argsError("workspace select", "the name of a workspace")
			}
			name := args[0]
			w, diags := wd.dir().Workspaces(ctx)
			if !out.report(diags) {
				return exitError
			}
			switch {
			case create && !slices.Contains(w.Names, name):
				return createWorkspace(ctx, out, w, name, nil)
			case name == w.Current && !w.FromEnv:
				return exitOK
			}
			if !out.report(w.Select(name)) {
				return exitError
			}
			out.say("%s", out.view.Success("Switched to workspace \""+name+"\"."))
			return exitOK
		})
}

// workspaceNewCommand returns the command workspace new. The file to copy is read before the workspace is
// created, so that an error leaves nothing behind.
func workspaceNewCommand(a *app) *cli.Command {
	out, wd := a.out, a.wd
	var lock lockFlags
	from := ""
	flags := append(lock.flags(), stringFlag("state", "Copy the state in `FILE` into the new workspace.", &from))
	return a.messageCommand("new", "Create a new workspace", "NAME", "Creates a workspace and selects it.", flags, func(ctx context.Context, args []string) int {
		if len(args) != 1 {
			return out.argsError("workspace new", "the name of a workspace")
		}
		if err := store.CheckWorkspaceName(args[0]); err != nil {
			return out.fail("Invalid workspace name", "%s", diag.Sentence(err))
		}
		var file *state.File
		if from != "" {
			var diags diag.List
			if file, diags = wd.dir().SavedState(ctx, from); !out.report(diags) {
				return exitError
			}
		}
		w, diags := wd.dir().Workspaces(ctx)
		if !out.report(diags) {
			return exitError
		}
		return createWorkspace(ctx, out, w, args[0], file)
	})
}

// createWorkspace creates a workspace, selects it and reports that. content is its state, nil for an empty
// one.
func createWorkspace(ctx context.Context, out *output, w *workdir.Workspaces, name string, content *state.File) int {
	if !out.report(w.Create(ctx, name, content)) {
		return exitError
	}
	out.say("%s", out.view.Success("Created and switched to workspace \""+name+"\"!"))
	if content == nil {
		out.say("\nThe new workspace has a state of its own, which is empty: \"mayfly plan\" does\nnot see what was created in other workspaces.")
	}
	return exitOK
}

// workspaceDeleteCommand returns the command workspace delete. It asks nothing: a state with resources is
// refused unless -force is given.
func workspaceDeleteCommand(a *app) *cli.Command {
	out, wd := a.out, a.wd
	var lock lockFlags
	force := false
	flags := append(lock.flags(), boolFlag("force", "Delete it even if its state has resources, which are then forgotten.", &force))
	return a.messageCommand("delete", "Delete a workspace", "NAME", "Deletes a workspace with its state.", flags, func(ctx context.Context, args []string) int {
		if len(args) != 1 {
			return out.argsError("workspace delete", "the name of a workspace")
		}
		w, diags := wd.dir().Workspaces(ctx)
		if !out.report(diags) {
			return exitError
		}
		if !out.report(w.Delete(ctx, args[0], workdir.DeleteOptions{Force: force, Locking: lock.locking(out)})) {
			return exitError
		}
		out.say("%s", out.view.Success("Deleted workspace \""+args[0]+"\"!"))
		return exitOK
	})
}
