package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

func (a *app) workspaceCommand() *cli.Command {
	return a.group("workspace", "Workspace management", "Each workspace has a state of its own for the same configuration.",
		a.workspaceDeleteCommand(), a.workspaceListCommand(), a.workspaceNewCommand(), a.workspaceSelectCommand(), a.workspaceShowCommand())
}

// workspaces is what the workspace commands work on.
type workspaces struct {
	dir     *directory
	store   store.Store
	names   []string
	current string
	fromEnv bool
}

func (a *app) workspaces(ctx context.Context) (*workspaces, diag.List) {
	d := a.directory()
	if diags := d.loadRoot(); diags.HasErrors() {
		return nil, diags
	}
	b, diags := d.backend()
	if diags.HasErrors() {
		return nil, diags
	}
	w := &workspaces{dir: d, store: b.store(stateFlags{})}
	if w.current, w.fromEnv, diags = d.workspace(); diags.HasErrors() {
		return nil, diags
	}
	names, err := w.store.Workspaces(ctx)
	if err != nil {
		return nil, diag.Errorf("Cannot list the workspaces", "%s", diag.Sentence(err))
	}
	w.names = names
	return w, nil
}

const overridden = "The environment variable TF_WORKSPACE selects the workspace. To select another one, unset it."

func (a *app) workspaceListCommand() *cli.Command {
	return a.messageCommand("list", "List workspaces", "", "Lists the workspaces; the selected one is marked.", nil, func(ctx context.Context, _ []string) int {
		w, diags := a.workspaces(ctx)
		if !a.report(diags) {
			return exitError
		}
		a.verbatim = false // the list is a message of its own
		for _, s := range a.streams() {
			s.Workspaces(w.names, w.current)
		}
		if a.stream != nil {
			return exitOK
		}
		for _, name := range w.names {
			mark := " "
			if name == w.current {
				mark = "*"
			}
			a.say("%s %s", mark, name)
		}
		a.say("")
		if w.fromEnv {
			a.say("The environment variable TF_WORKSPACE decides which workspace is in use.")
		}
		return exitOK
	})
}

func (a *app) workspaceShowCommand() *cli.Command {
	return a.command("show", "Show the name of the current workspace", "", "Writes the name of the selected workspace.", nil, func(context.Context, []string) int {
		name, _, diags := a.directory().workspace()
		if !a.report(diags) {
			return exitError
		}
		a.say("%s", name)
		return exitOK
	})
}

func (a *app) workspaceSelectCommand() *cli.Command {
	create := false
	return a.messageCommand("select", "Select a workspace", "NAME", "Selects the workspace that commands in this directory work on.",
		[]cli.Flag{boolFlag("or-create", "Create the workspace if there is none of that name.", &create)},
		func(ctx context.Context, args []string) int {
			if len(args) != 1 {
				return a.argsError("workspace select", "the name of a workspace")
			}
			name := args[0]
			w, diags := a.workspaces(ctx)
			if !a.report(diags) {
				return exitError
			}
			if w.fromEnv {
				return a.fail("Cannot select a workspace", overridden)
			}
			if !slices.Contains(w.names, name) {
				if create {
					return a.newWorkspace(ctx, w, name, nil)
				}
				return a.fail("Workspace not found", "Workspace %q doesn't exist.%s\n\nYou can create this workspace with the \"new\" subcommand or include the \"-or-create\" flag with the \"select\" subcommand.", name, w.similar(name))
			}
			if name == w.current {
				return exitOK
			}
			if err := w.dir.selectWorkspace(name); err != nil {
				return a.fail("Cannot select a workspace", "The file %s could not be written: %s.", w.dir.workspacePath(), diag.Reason(err))
			}
			a.say("%s", a.paintDone("Switched to workspace \""+name+"\"."))
			return exitOK
		})
}

func (a *app) workspaceNewCommand() *cli.Command {
	var lock lockFlags
	from := ""
	flags := append(lock.flags(), stringFlag("state", "Copy the state in `FILE` into the new workspace.", &from))
	return a.messageCommand("new", "Create a new workspace", "NAME", "Creates a workspace and selects it.", flags, func(ctx context.Context, args []string) int {
		if len(args) != 1 {
			return a.argsError("workspace new", "the name of a workspace")
		}
		if err := store.CheckWorkspaceName(args[0]); err != nil {
			return a.fail("Invalid workspace name", "%s", diag.Sentence(err))
		}
		var file *state.File
		if from != "" {
			var diags diag.List
			if file, diags = stateFile(from); !a.report(diags) {
				return exitError
			}
		}
		w, diags := a.workspaces(ctx)
		if !a.report(diags) {
			return exitError
		}
		if w.fromEnv {
			return a.fail("Cannot select a workspace", overridden)
		}
		return a.newWorkspace(ctx, w, args[0], file)
	})
}

// similar suggests an existing workspace for a name that is not one.
func (w *workspaces) similar(name string) string {
	if near := nearest(name, w.names); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

func (a *app) newWorkspace(ctx context.Context, w *workspaces, name string, content *state.File) int {
	err := w.store.CreateWorkspace(ctx, name)
	if errors.Is(err, store.ErrWorkspaceExists) {
		return a.fail("Workspace already exists", "Workspace %q already exists. To select it, run: mayfly workspace select %s", name, name)
	}
	if err == nil && content != nil {
		err = copyState(ctx, w.store, name, content)
	}
	if err != nil {
		return a.fail("Cannot create the workspace", "%s", diag.Sentence(err))
	}
	if err := w.dir.selectWorkspace(name); err != nil {
		return a.fail("Cannot select a workspace", "The file %s could not be written: %s.", w.dir.workspacePath(), diag.Reason(err))
	}
	a.say("%s", a.paintDone("Created and switched to workspace \""+name+"\"!"))
	if content == nil {
		a.say("\nThe new workspace has a state of its own, which is empty: \"mayfly plan\" does not see\nwhat was created in other workspaces.")
	}
	return exitOK
}

func (a *app) workspaceDeleteCommand() *cli.Command {
	var lock lockFlags
	force := false
	flags := append(lock.flags(), boolFlag("force", "Delete it even if its state has resources, which are then forgotten.", &force))
	return a.messageCommand("delete", "Delete a workspace", "NAME", "Deletes a workspace with its state.", flags, func(ctx context.Context, args []string) int {
		if len(args) != 1 {
			return a.argsError("workspace delete", "the name of a workspace")
		}
		w, diags := a.workspaces(ctx)
		if !a.report(diags) {
			return exitError
		}
		return a.deleteWorkspace(ctx, w, args[0], force, lock)
	})
}

func (a *app) deleteWorkspace(ctx context.Context, w *workspaces, name string, force bool, lock lockFlags) int {
	switch {
	case name == w.current && name != store.DefaultWorkspace:
		return a.fail("Workspace is your active workspace", "Workspace %q is the selected one. Select another one before you delete it.", name)
	case !slices.Contains(w.names, name):
		return a.fail("Workspace not found", "Workspace %q doesn't exist.%s", name, w.similar(name))
	}
	unlock, diags := a.lockWorkspace(ctx, w, name, lock)
	if !a.report(diags) {
		return exitError
	}
	err := w.store.DeleteWorkspace(ctx, name, force)
	if failed := unlock(); err == nil {
		err = failed
	}
	switch {
	case errors.Is(err, store.ErrNotEmpty):
		a.report(w.notEmpty(ctx, name))
		return exitError
	case err != nil:
		return a.fail("Cannot delete the workspace", "%s", diag.Sentence(err))
	}
	a.say("%s", a.paintDone("Deleted workspace \""+name+"\"!"))
	return exitOK
}

// notEmpty says what would be lost with a workspace.
func (w *workspaces) notEmpty(ctx context.Context, name string) diag.List {
	var objects []addr.Object
	m, err := w.store.Manager(name)
	if err == nil {
		var f *state.File
		if f, err = m.Read(ctx); f != nil {
			objects = f.State.Managed()
		}
	}
	if err != nil {
		return diag.Errorf("Cannot delete the workspace", "%s", diag.Sentence(err))
	}
	return diag.Errorf("Workspace is not empty",
		"Workspace %q is currently tracking the following resource instances:%s\n\nWithout the workspace, Mayfly would lose track of them while they continue to exist. Destroy them first:\n  mayfly workspace select %s\n  mayfly destroy\n\nTo leave them behind, use -force.",
		name, listed("- ", objects), name)
}

// listed writes items one a line, each after a marker; of many, only the first ones and the number of the
// others.
func listed[T fmt.Stringer](marker string, items []T) string {
	const most = 20
	var sb strings.Builder
	for _, item := range items[:min(len(items), most)] {
		sb.WriteString("\n  " + marker + item.String())
	}
	if more := len(items) - most; more > 0 {
		fmt.Fprintf(&sb, "\n  %sand %d more", marker, more)
	}
	return sb.String()
}

// lockWorkspace keeps others from using the state of a workspace until unlock is called.
func (a *app) lockWorkspace(ctx context.Context, w *workspaces, name string, lock lockFlags) (unlock func() error, diags diag.List) {
	if !lock.lock || name == store.DefaultWorkspace { // which is not deleted anyway
		return func() error { return nil }, nil
	}
	m, err := w.store.Manager(name)
	var info store.LockInfo
	if err == nil {
		info, err = store.NewLockInfo("workspace delete", mayfly.CompatibleVersion, time.Now(), rand.Reader)
	}
	var id string
	if err == nil {
		id, err = store.LockWithRetry(ctx, m, info, lock.timeout)
	}
	if held := (*store.LockError)(nil); errors.As(err, &held) {
		return nil, diag.Errorf("Error acquiring the state lock", "%s\n\nWait until the other operation has ended, or use -lock=false if you are sure that there is none.", err)
	}
	if err != nil {
		return nil, diag.Errorf("Error acquiring the state lock", "%s", diag.Sentence(err))
	}
	return func() error { return m.Unlock(context.WithoutCancel(ctx), id) }, nil
}
