//go:build !mayfly_no_postgres

package postgres

import (
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// members adds the members of resources that this program does not know to a state with all objects. A newer
// program may have written them.
func (t *tx) members(workspace int64, st *state.State) error {
	found := map[string][]byte{}
	err := t.rows(func(scan func(...any) error) error {
		var resource string
		var sealed bool
		var body []byte
		err := scan(&resource, &sealed, &body)
		if err == nil {
			found[resource], err = t.plain(sealed, body)
		}
		return err
	}, `SELECT resource, sealed, body FROM mayfly.members WHERE workspace = $1`, workspace)
	if err != nil || len(found) == 0 {
		return err
	}
	var have []addr.AbsResource
	for a := range st.Resources {
		if found[a.String()] != nil {
			have = append(have, a)
		}
	}
	for _, a := range have {
		if err := st.SetUnknownMembers(a, found[a.String()]); err != nil {
			return err
		}
	}
	return nil
}

// putMembers stores the unknown members of all resources of a state, of which none are stored yet.
func (t *tx) putMembers(workspace int64, st *state.State) error {
	var rows resultRows
	for a, r := range st.Resources {
		if members := r.UnknownMembers(); members != nil {
			body, sealed, err := t.seal(members)
			if err != nil {
				return err
			}
			rows.keys, rows.sealed, rows.bodies = append(rows.keys, a.String()), append(rows.sealed, sealed), append(rows.bodies, body)
		}
	}
	_, err := t.exec(`INSERT INTO mayfly.members (workspace, resource, sealed, body) SELECT $1, r.key, r.sealed, r.body FROM unnest($2::text[], $3::bool[], $4::bytea[]) r(key, sealed, body)`,
		workspace, pq.StringArray(rows.keys), pq.BoolArray(rows.sealed), pq.ByteaArray(rows.bodies))
	return err
}
