//go:build !mayfly_no_postgres

package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// acknowledged are the transactions of a run that the server has acknowledged. A server that takes over
// without the last ones, as a replica for which the primary server did not wait, has less.
type acknowledged struct {
	mu      sync.Mutex
	batches map[int64]*batch // the last ones, by number
	last    int64            // the number of the newest; 0 for none
	commits int              // that the row of the run counts at least
	ended   bool             // the end of the last run is stored
}

var (
	// errBehind says that the server cannot take a batch, since it does not have the one before.
	errBehind = fmt.Errorf("%w: the server does not have what came before", store.ErrLockLost)
	// errForgotten says that the server has no record of a run.
	errForgotten = fmt.Errorf("%w: the server has no record of this run any more. It has taken over, or was restored, without its last transactions", store.ErrLockLost)
	// errForgetful says that results are gone that are in no batch.
	errForgetful = errors.New("the server has lost outputs, results of checks or other changes of this run that it had acknowledged: " +
		"it has taken over, or was restored, without its last transactions. Plan again: the plan shows what is missing")
)

// batch notes that the server has a batch.
func (a *acknowledged) batch(number int64, b *batch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.batches == nil {
		a.batches = map[int64]*batch{}
	}
	if a.batches[number], a.last = b, number; !b.kept {
		a.commits += b.rows
	}
	delete(a.batches, number-mostBatches)
}

// mostBatches is how many batches a run can send again: a replica that takes over lacks the last moments.
const mostBatches = 10_000

// change notes a change that is in no batch.
func (a *acknowledged) change() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.commits++
}

// end notes that the end of a run is stored.
func (a *acknowledged) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.commits, a.ended = 0, true
}

// fenceAll is (*claim).fence. It also fails with errBehind if the server has less batches of the run than it
// has acknowledged, and with errForgetful if other changes are missing. repeated says that the end of the run
// may be stored, which begins to count anew.
func fenceAll(t *tx, c *claim, repeated bool) error {
	c.sure.mu.Lock()
	last, least := c.sure.last, c.sure.commits
	c.sure.mu.Unlock()
	var status string
	var has int64
	var commits int
	there, err := t.one(`SELECT state, batch, commits FROM mayfly.runs WHERE id = $1 FOR NO KEY UPDATE`, []any{c.run}, &status, &has, &commits)
	switch {
	case err != nil:
		return err
	case !there:
		return errForgotten
	case status != "claimed":
		return errUnclaimed
	case has < last:
		return errBehind
	case commits < least && !(repeated && commits == 0):
		return errForgetful
	}
	return nil
}

// sendLost sends the acknowledged batches again that come before a number and that the server does not have.
// j.flushing is held, or the journal has ended.
func sendLost(j *journal, before int64) error {
	var status string
	var has int64
	err := j.again(context.Background(), reading, func(t *tx) error { // an interrupted run still has results
		there, err := t.one(`SELECT state, batch FROM mayfly.runs WHERE id = $1`, []any{j.run}, &status, &has)
		if err == nil && !there {
			err = errForgotten
		}
		return err
	})
	for n := has + 1; n < before && err == nil; n++ {
		j.sure.mu.Lock()
		b := j.sure.batches[n]
		j.sure.mu.Unlock()
		if b == nil {
			return errBehind
		}
		err = sendAs(j, b, n)
	}
	return err
}

// sendAllLost sends all acknowledged batches again that the server does not have.
func sendAllLost(j *journal) error {
	j.flushing <- struct{}{}
	defer func() { <-j.flushing }()
	return sendLost(j, j.sure.last+1)
}

// writeAll calls write, which stores the end of a run, after sending batches that the server has lost.
func writeAll(j *journal, write func() error) error {
	err := write()
	if errors.Is(err, errBehind) {
		if err = sendAllLost(j); err == nil {
			err = write()
		}
	}
	return err
}

// unsaved returns the changes of a run that could not be stored at its end, of which some were to be stored
// then. If the server has forgotten the run, all results are missing there.
func unsaved(j *journal, last []state.ObjectChange, err error) (all []state.ObjectChange) {
	if !errors.Is(err, errForgotten) {
		return last
	}
	j.sure.mu.Lock()
	defer j.sure.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(j.sure.batches)) {
		all = append(all, j.sure.batches[n].changes...)
	}
	return append(all, last...)
}

// checkEnded fails if the server has lost the end of the run, which has given its claims back: nothing can be
// sent again then. there says that the row of the run had claims, with these numbers.
func checkEnded(t *tx, c *claim, there bool, batch int64, commits int) error {
	c.sure.mu.Lock()
	last, ended := c.sure.last, c.sure.ended
	c.sure.mu.Unlock()
	if !ended {
		return nil
	}
	if !there {
		if found, err := t.one(`SELECT 1 FROM mayfly.runs WHERE id = $1`, []any{c.run}, new(int)); err != nil || found {
			return err
		}
		return errForgetful
	}
	if batch < last || commits > 0 {
		return errForgetful
	}
	return nil
}
