package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/mayfly-iac/mayfly/cmd/mayfly/internal/term"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/workdir"
)

// forceUnlockCommand returns the command force-unlock. A second argument is accepted if it is the working
// directory, for compatibility.
func forceUnlockCommand(a *app) *cli.Command {
	out, in, wd, signals := a.out, a.in, a.wd, a.signals
	var ask inputFlag
	force := false
	flags := append(in.variableFlags(), boolFlag("force", "Don't ask for approval.", &force))
	return a.messageCommand("force-unlock", "Release a stuck lock on the current workspace", "LOCK_ID",
		"Removes the lock that a run which ended abnormally has left on the state of the selected workspace. Nothing else is changed. The lock on a local state ends with the process that holds it, and cannot be taken from one that is running.",
		append(flags, ask.flags(out.env.vars)...), func(ctx context.Context, args []string) int {
			if len(args) == 0 || len(args) > 2 || len(args) == 2 && !isWorkingDir(args[1]) {
				return out.argsError("force-unlock", "one argument, the ID of the lock; for another directory, use -chdir")
			}
			ctx, stop := signals.Once(ctx)
			defer stop()
			return forceUnlock(ctx, out, in, wd, args[0], force, ask.input)
		})
}

// forceUnlock removes the lock after approval. It checks the ID before it asks, so that a person does not
// approve something that fails.
func forceUnlock(ctx context.Context, out *output, in *input, wd *workingDir, id string, force, input bool) int {
	m, diags := wd.dir().Backend.State(ctx, workdir.StateFiles{})
	if !out.report(diags) {
		return exitError
	}
	begun := unfinished(ctx, m, id)
	_, claims := m.(store.Claimer)
	const hint = "To remove the lock without being asked, use -force."
	if !force {
		name, _, _ := wd.dir().Workspace()
		if !out.report(unlockDiags(store.CheckUnlock(ctx, m, id), id)) {
			return exitError
		}
		if !input {
			return out.fail("Approval required", "With -input=false, Mayfly does not ask. %s", hint)
		}
		yes, asked := in.approved(ctx, term.Question{
			Title: "Do you really want to force-unlock?",
			Text:  out.view.Program + unlockText(name, claims) + begun + "\n\nOnly 'yes' will be accepted to confirm.",
		}, hint)
		switch {
		case !asked:
			return exitError
		case !yes:
			out.say("force-unlock cancelled.")
			return exitError
		}
	}
	if !out.report(unlockDiags(store.ForceUnlock(ctx, m, id), id)) {
		return exitError
	}
	if claims {
		out.say("%s%s\n\nThe parts of the state that the run had claimed are free. Plans that were made before\nare stale if they need the objects of its operations. The next plan lists the operations.\nIf one of them has a result after all, plans show it until a newer one is recorded.", out.view.Success(out.view.Program+" state has been successfully unlocked!"), begun)
		return exitOK
	}
	out.say("%s%s\n\nThe state has been unlocked, so other commands can lock it again. If the run\nthat held the lock was killed, the next command reports what became of its\nchanges.", out.view.Success(out.view.Program+" state has been successfully unlocked!"), begun)
	return exitOK
}

// unlockText describes the effects of unlocking on the state of a workspace and the run that holds it.
func unlockText(workspace string, claims bool) string {
	if claims {
		return " will free the parts of the state of the workspace \"" + workspace + "\" that the run\nhas claimed. If the run is alive after all, it begins nothing more, and results that come\nlater are kept beside the state."
	}
	return " will remove the lock on the state of the workspace \"" + workspace + "\", and the run\nthat holds it, if there is one, continues without it. This allows others to change\nthe state at the same time, which can damage it."
}

// unfinished returns a paragraph about the operations that the run with a lock has begun and not ended; "" if
// there are none, or none are known.
func unfinished(ctx context.Context, m store.Manager, id string) string {
	u, ok := m.(store.Unfinisher)
	if !ok {
		return ""
	}
	begun, err := u.Unfinished(ctx, id)
	if err != nil || len(begun) == 0 {
		return "" // unlocking reports the error
	}
	text := "\n\nThe run has begun these operations and not ended them:"
	for _, o := range begun {
		text += fmt.Sprintf("\n  - %s (%s)", o.Object, o.Action)
	}
	return text
}

// unlockDiags converts the error of an unlock; it returns nil for nil. id is the one that was given. If the
// state has another lock, the error shows it and the command that removes it.
func unlockDiags(err error, id string) diag.List {
	var held *store.LockError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotLocked):
		return diag.Errorf("Failed to unlock state", "This state is not locked, so there is no lock with the ID %s. Check that this is the directory and the workspace in which the lock was reported.", id)
	case errors.As(err, &held) && held.Info != nil && held.Info.ID != id:
		return diag.Errorf("Failed to unlock state", "The lock on this state has a different ID than %s, so it was not removed:\n\n%s\n\nIf you are sure that the run that holds it has ended, remove the lock:\n  mayfly force-unlock %s", id, held.Info, diag.Argument(held.Info.ID))
	case errors.As(err, &held) && held.Info != nil && held.Err != nil:
		return diag.Errorf("State locked by another local process", "%s Wait until it has ended, or end it.\n\n%s", diag.Sentence(held.Err), held.Info)
	}
	return diag.Errorf("Failed to unlock state", "%s", diag.Sentence(err))
}

// isWorkingDir reports whether a path names the working directory, however it is written.
func isWorkingDir(path string) bool {
	given, err := os.Stat(path)
	if err != nil {
		return false
	}
	present, err := os.Stat(".")
	return err == nil && os.SameFile(given, present)
}
