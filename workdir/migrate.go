package workdir

import (
	"context"
	"errors"
	"fmt"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// target says to which workspace the state of another one is copied.
type target struct{ from, to string }

// targets returns where the states of workspaces go. A location that has room for one state takes the state
// of the only workspace that has one.
func (b *Backend) targets(to location, workspaces []string) ([]target, diag.List) {
	out := make([]target, len(workspaces))
	for i, name := range workspaces {
		out[i] = target{name, name}
	}
	switch {
	case to.kind.Workspaces(b.locations.filled(to)):
		return out, nil
	case len(workspaces) > 1:
		return nil, diag.Errorf("Cannot copy the states", "The backend %q keeps the state of one workspace only, but the previous one has states in the workspaces %s. Nothing was copied. Destroy what is in all workspaces but one, or choose a backend with workspaces.",
			to.kind.Name, diag.Names(workspaces))
	}
	out[0].to = store.DefaultWorkspace
	return out, nil
}

// copying is the state of one workspace on its way; file is nil before it is read.
type copying struct {
	target
	source, sink store.Manager
	file         *state.File
}

// moving returns the states of workspaces that are to be copied from one location to another: those that the
// two do not keep in the same place.
func (b *Backend) moving(ctx context.Context, from, to location, targets []target) ([]copying, diag.List) {
	source, diags := b.store(ctx, from, StateFiles{})
	if diags.HasErrors() {
		return nil, diags
	}
	sink, ds := b.store(ctx, to, StateFiles{})
	if diags = append(diags, ds...); ds.HasErrors() {
		return nil, diags
	}
	var states []copying
	for _, t := range targets {
		c := copying{target: t}
		var err error
		if c.source, err = source.Manager(t.from); err == nil {
			c.sink, err = sink.Manager(t.to)
		}
		if err != nil {
			return nil, append(diags, notCopied(t.from, err)...)
		}
		if !store.SamePlace(c.source, c.sink) {
			states = append(states, c)
		}
	}
	return states, diags
}

// copyStates copies states. They are locked in both places until all are copied. It writes nothing if one of
// the workspaces has a state there already that would be lost. It returns the workspaces whose states it has
// copied, and the files that they came from.
func copyStates(ctx context.Context, states []copying, user *User, opt BackendOptions) (copied, left []string, diags diag.List) {
	var locks locks
	defer func() {
		for _, l := range locks {
			if err := releaseLock(ctx, l.m, l.id); err != nil {
				diags = append(diags, diag.Errorf("Error releasing the state lock", "%s", diag.Sentence(err))...)
			}
		}
	}()
	for i := range states {
		c := &states[i]
		for _, m := range []store.Manager{c.source, c.sink} {
			err := locks.take(ctx, m, user, opt.Locking)
			switch of := locks.of(err); {
			case of != nil && of == c.source:
				return nil, nil, append(diags, notCopied(c.from, errors.New("the new place is the former one, by another name. To use it by that name, run \"mayfly init -reconfigure\""))...)
			case of != nil && m == c.sink:
				// One lock is for all states that the place does not have yet, and keeps others out.
			case err != nil:
				return nil, nil, append(diags, notLocked(err, ", in a directory that was initialized for that place")...)
			}
		}
		if err := c.load(ctx); err != nil {
			return nil, nil, append(diags, notCopied(c.from, err)...)
		}
	}
	for _, c := range states {
		if err := c.sink.Write(ctx, c.file); err != nil {
			return copied, left, append(diags, diag.Errorf("Cannot copy the state", "Workspace %q of the new backend: %s.", c.to, err)...)
		}
		copied = append(copied, c.from)
		diags = append(diags, store.RecoveredBy(c.source).LeftDiags(c.from)...)
		if f, ok := c.source.(store.InFiles); ok {
			left = append(left, f.Files()...)
		}
	}
	return copied, left, diags
}

// locks are the locks of a move.
type locks []heldLock

type heldLock struct {
	m  store.Manager
	id string
}

// take locks a state. It does not wait for a lock of its own.
func (l *locks) take(ctx context.Context, m store.Manager, user *User, locking store.Locking) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	waiting := locking.Waiting
	locking.Waiting = func(held *store.LockError) {
		if l.of(held) != nil {
			stop()
		} else if waiting != nil {
			waiting(held)
		}
	}
	id, err := takeLock(ctx, m, "init", user, locking)
	if err == nil {
		*l = append(*l, heldLock{m, id})
	}
	return err
}

// of returns the state that one of the locks was taken for if an error is about that lock; nil otherwise.
func (l locks) of(err error) store.Manager {
	var held *store.LockError
	if errors.As(err, &held) && held.Info != nil {
		for _, one := range l {
			if one.id == held.Info.ID {
				return one.m
			}
		}
	}
	return nil
}

func notCopied(workspace string, err error) diag.List {
	return diag.Errorf("Cannot copy the state", "Workspace %q: %s. Nothing was copied.", workspace, err)
}

// load reads the state as it is now, and checks that it can be written without losing another one.
func (c *copying) load(ctx context.Context) (err error) {
	if c.file, err = c.source.Read(ctx); err != nil {
		return err
	}
	if c.file == nil {
		return errors.New("its state was removed meanwhile")
	}
	there, err := c.sink.Read(ctx)
	if err != nil {
		return err
	}
	if why := store.PushConflict(there, c.file); why != "" {
		return fmt.Errorf("%s. To use the state that is there, and leave the other one where it is, run \"mayfly init -reconfigure\". To replace it, run \"mayfly state pull\" with the former block and save what it prints, then with the new block \"mayfly init -reconfigure\" and \"mayfly state push -force FILE\"", why)
	}
	return nil
}

// selectTarget selects the workspace that has the state of the selected one.
func (b *Backend) selectTarget(targets []target) diag.List {
	current, fromEnv, diags := b.dir.Workspace()
	for _, t := range targets {
		if t.from == current && t.to != current && !fromEnv && !diags.HasErrors() {
			w := Workspaces{dir: b.dir}
			return w.use(t.to)
		}
	}
	return diags
}
