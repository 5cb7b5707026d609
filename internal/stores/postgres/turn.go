//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// TakeTurn stores the remaining changes of a run, as next has them, and then outputs and results of checks:
// see state.Turner.
//
// Each transaction that stores results has a turn, whose number is read together with the objects. If it has
// changed since, another run may have evaluated the same from newer objects, so these are read again. The
// results of the last turn are made from the last objects: a run that commits an object reads its objects
// after that.
//
// A run whose claims are lost, or whose results could not be sent, has no turn: its end reports that.
func (j *journal) TakeTurn(ctx context.Context, next *state.File, subjects []state.Subject, evaluate func(*state.State) state.Evaluated) error {
	j.mu.Lock()
	failed := j.failed
	j.mu.Unlock()
	if j.whole() || failed != nil {
		return nil
	}
	err := j.putRest(ctx, next.State)
	if err == nil {
		err = j.takeTurn(ctx, next.Meta, subjects, evaluate)
	}
	if errors.Is(err, store.ErrLockLost) {
		return nil
	}
	return err
}

// takeTurn evaluates and stores until no other run has had a turn in between.
func (j *journal) takeTurn(ctx context.Context, as state.Meta, subjects []state.Subject, evaluate func(*state.State) state.Evaluated) error {
	for {
		var turn int64
		var objects *state.State
		err := j.again(ctx, reading, func(t *tx) (err error) {
			if _, err = t.one(`SELECT turn FROM mayfly.evaluations WHERE workspace = $1`, []any{j.workspace}, &turn); err == nil {
				objects, err = t.objects(j.workspace, state.Part{Subjects: subjects})
			}
			return err
		})
		if err != nil {
			return err
		}
		got := evaluate(objects)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if len(got.Missing) > 0 {
			subjects = append(subjects, got.Missing...)
			continue
		}
		err = j.settle(ctx, turn, as, got)
		if errors.Is(err, errBehind) { // so objects are missing that were read
			if err = sendAllLost(j); err == nil {
				continue
			}
		}
		if !errors.Is(err, errTurn) {
			return err
		}
	}
}

// putRest stores changes of objects that no operation has made durable.
func (j *journal) putRest(ctx context.Context, next *state.State) error {
	j.mu.Lock()
	changes := slices.DeleteFunc(state.Diff(j.durable, next), func(c state.ObjectChange) bool { return !j.writes(c.Object.Instance.String()) })
	before := j.durable.Copy()
	j.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	err := j.again(ctx, nil, func(t *tx) error {
		err := j.fence(t)
		if err == nil {
			err = t.put(j.claim, before, changes)
		}
		if err == nil {
			err = countChange(t, j.claim)
		}
		return err
	})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sure.change()
	for _, c := range changes {
		c.Apply(j.durable)
	}
	return nil
}

// errTurn is returned within a transaction if another run has had the turn. It must not count as one then.
var errTurn = errors.New("another run has had the turn")

// settle stores results in the turn after the given one. It returns errTurn if another run has had that.
func (j *journal) settle(ctx context.Context, turn int64, as state.Meta, got state.Evaluated) error {
	changed := false
	err := j.again(ctx, nil, func(t *tx) error {
		err := fenceAll(t, j.claim, false)
		if err != nil {
			return err
		}
		now, err := t.turn(j.workspace)
		if err == nil && now != turn+1 {
			err = errTurn
		}
		if err != nil {
			return err
		}
		stored := &state.File{Meta: as, State: state.New()}
		if err = t.results(j.workspace, stored); err != nil {
			return err
		}
		others, err := claimedResults(t, j.claim)
		if err != nil {
			return err
		}
		next := &state.File{Meta: as, State: stored.State.Copy()}
		newer := map[string]bool{}
		for name, o := range got.Outputs {
			if !others[state.Subject{Kind: state.OneOutput, Addr: name}.Key()] {
				next.State.SetOutput(name, o)
			}
		}
		next.State.Checks = nil
		for _, r := range got.Checks {
			if !others[state.Subject{Kind: state.OneCheck, Addr: r.Config}.Key()] {
				newer[r.Config] = true
				next.State.Checks = append(next.State.Checks, r)
			}
		}
		for _, old := range stored.State.Checks {
			if !newer[old.Config] {
				next.State.Checks = append(next.State.Checks, old)
			}
		}
		changed, err = t.putResults(j.claim, stored.State, next, false)
		if err == nil && changed {
			err = countChange(t, j.claim)
		}
		return err
	})
	if err == nil && changed {
		j.sure.change()
	}
	return err
}

// countChange counts a change of a run that is not part of a batch.
func countChange(t *tx, c *claim) error {
	_, err := t.exec(`UPDATE mayfly.runs SET commits = commits + 1 WHERE id = $1`, c.run)
	return err
}

// claimedResults returns the keys of outputs and checks that other runs have claimed. Those runs store them:
// their configurations may say something else about them.
func claimedResults(t *tx, c *claim) (map[string]bool, error) {
	out := map[string]bool{}
	err := t.rows(func(scan func(...any) error) error {
		var key string
		err := scan(&key)
		out[key] = true
		return err
	}, `SELECT c.key FROM mayfly.claims c JOIN mayfly.runs r ON r.id = c.run WHERE c.workspace = $1 AND c.run <> $2 AND c.mode = 'x' AND (c.key LIKE 'output %' OR c.key LIKE 'check %')
		AND r.state = 'claimed' AND r.lease_until > clock_timestamp()`, c.workspace, c.run)
	return out, err
}
