package mayfly

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Claim claims the parts of the state that applying a plan needs, if several runs may change the state at the
// same time; otherwise it does nothing, because the state is locked. It waits as long as the options of Begin
// say. Apply calls it unless it was called before. If rows have changed that the plan relies on, nothing is
// claimed, and Stale finds that in the diagnostics: Reread the state then, and plan again.
func (o *Operation) Claim(ctx context.Context, planned *plan.Plan) diag.List {
	if o.p.claimer() == nil || o.lock != "" {
		return nil
	}
	if planned.Scope == nil {
		return append(o.take(ctx, false), store.RecoveredBy(o.p.opt.State.Store).Diags()...)
	}
	return o.claim(ctx, planned.Scope)
}

// claim claims a scope.
func (o *Operation) claim(ctx context.Context, scope *state.Scope) diag.List {
	info, err := o.info()
	if err == nil {
		err = spanned(ctx, "claim state", func(ctx context.Context) error {
			held, err := o.locking.Claim(ctx, o.p.claimer(), scope, info)
			if err == nil {
				o.lock, o.writes = held.ID, held.Writes
			}
			return err
		})
	}
	if err != nil {
		return notClaimed(o, err)
	}
	found := store.RecoveredBy(o.p.opt.State.Store).Diags()
	return slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return slices.Contains(o.told, d.Detail) })
}

// claimChange claims the parts of the state in which s, a changed copy, differs from it. Objects of some
// instances were imported.
func (o *Operation) claimChange(s *state.State, imported []string) diag.List {
	if o.p.claimer() == nil || o.lock != "" {
		return nil
	}
	scope := plan.ScopeOfChange(o.State(), s)
	scope.Imported = imported
	return o.claim(o.outlasting(), scope)
}

// notClaimed reports that a part of the state could not be claimed.
func notClaimed(o *Operation, err error) diag.List {
	var claimed *store.ClaimedError
	var stale *store.StaleError
	switch {
	case errors.As(err, &stale):
		diags := diag.Errorf("Plan is stale", "%s\n\n%s. Make a new plan.", capitalized(stale), spared(o))
		diags[0].Extra = stale
		return diags
	case errors.As(err, &claimed):
		text := capitalized(claimed) + "\n\n" + spared(o) + ". Wait until the other runs have ended, or let Mayfly wait with -lock-timeout=5m."
		for _, c := range claimed.Conflicts {
			if !c.Waiting {
				text += " If you are sure that a run does not run any more, free its claims:\n  mayfly force-unlock " + c.Run.ID
				break
			}
		}
		return diag.Errorf("Parts of the state are claimed", "%s", text)
	}
	return notLocked(err, false)
}

// spared says, without a period, that an apply that does not begin has changed nothing. There may have been
// one before it.
func spared(o *Operation) string {
	if o.began {
		return "Nothing more was changed"
	}
	return "Nothing was changed"
}

// capitalized returns the text of an error that ends with a list.
func capitalized(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// Stale returns the error among diagnostics of Claim or Apply that says that a plan is stale; nil if there is
// none.
func Stale(diags diag.List) *store.StaleError {
	for _, d := range diags {
		if stale, is := d.Extra.(*store.StaleError); is {
			return stale
		}
	}
	return nil
}

// release gives claims back after the run that has used them, so that another plan may follow. A lock that
// was taken at the beginning stays.
func (o *Operation) release() diag.List {
	if o.writes == nil {
		return nil
	}
	o.writes, o.reread = nil, true
	return o.unlock()
}
