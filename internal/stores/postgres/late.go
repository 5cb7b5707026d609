//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"

	"github.com/mayfly-iac/mayfly/addr"
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
