//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// late returns the results of a workspace that came after the claims of their runs were gone.
func (t *tx) late(name string) (out []store.LateResult, err error) {
	err = t.rows(func(scan func(...any) error) error {
		var r store.LateResult
		var address, deposed, info string
		var sealed bool
		var body []byte
		if err := scan(&address, &deposed, &sealed, &body, &info, &r.At); err != nil {
			return err
		}
		var err error
		if body != nil {
			r.Change, err = t.unseal(sealed, body)
		} else {
			r.Change.Object.Deposed = addr.Deposed(deposed)
			r.Change.Object.Instance, err = addr.ParseInstance(address)
		}
		if err == nil {
			r.Run, err = store.ParseLockInfo([]byte(info))
		}
		if err != nil {
			return fmt.Errorf("reading the late result for %s: %w", address, err)
		}
		out = append(out, r)
		return nil
	}, `SELECT l.address, l.deposed, l.sealed, l.body, r.info, l.at FROM mayfly.late l JOIN mayfly.workspaces w ON w.id = l.workspace JOIN mayfly.runs r ON r.id = l.run
		WHERE w.name = $1 ORDER BY l.at, l.address, l.deposed`, name)
	return out, err
}

// sealLate encrypts late results by the present rules. Those that cannot be read stay as they are.
func (t *tx) sealLate(workspace int64) error {
	if t.opt.Cipher == nil {
		return nil
	}
	type result struct {
		run, address, deposed string
		batch                 int64
		sealed                bool
		body                  []byte
	}
	var all []result
	err := t.rows(func(scan func(...any) error) error {
		var r result
		err := scan(&r.run, &r.batch, &r.address, &r.deposed, &r.sealed, &r.body)
		all = append(all, r)
		return err
	}, `SELECT run, batch, address, deposed, sealed, body FROM mayfly.late WHERE workspace = $1 AND body IS NOT NULL`, workspace)
	for _, r := range all {
		if err != nil {
			return err
		}
		c, unreadable := t.unseal(r.sealed, r.body)
		if unreadable != nil {
			continue
		}
		if r.body, r.sealed, err = t.seal(state.EncodeChange(c)); err == nil {
			_, err = t.exec(`UPDATE mayfly.late SET sealed = $5, body = $6 WHERE run = $1 AND batch = $2 AND address = $3 AND deposed = $4`, r.run, r.batch, r.address, r.deposed, r.sealed, r.body)
		}
	}
	return err
}
