//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// document returns the number of a workspace, 0 for none, and the stored state without objects; nil for none.
// The results of runs that have not ended, or not as they should, count in the serial: snapshots are ordered,
// so that equal serials are equal states.
func (t *tx) document(name string) (workspace int64, f *state.File, err error) {
	var stored []byte
	var serial uint64
	found, err := t.one(`SELECT w.id, w.document, w.serial + COALESCE((SELECT sum(r.commits) FROM mayfly.runs r WHERE r.workspace = w.id AND r.folded_by IS NULL), 0)::bigint FROM mayfly.workspaces w WHERE name = $1`, []any{name}, &workspace, &stored, &serial)
	if err != nil || !found {
		return 0, nil, err
	}
	if f, err = store.Decode(stored, t.opt.Cipher); err != nil || f == nil {
		return workspace, nil, err
	}
	f.Serial = serial
	return workspace, f, t.salts(workspace, f.State)
}

// salts adds the salts of runs that have not ended.
func (t *tx) salts(workspace int64, st *state.State) error {
	return t.rows(func(scan func(...any) error) error {
		var body []byte
		if err := scan(&body); err != nil {
			return err
		}
		f, err := store.Decode(body, t.opt.Cipher)
		if err == nil && f != nil {
			st.AddSalts(f.State.Salts...)
		}
		return err
	}, `SELECT body FROM mayfly.salts WHERE workspace = $1 ORDER BY run`, workspace)
}

// read returns the state of a workspace; nil for none.
func (t *tx) read(name string) (*state.File, error) {
	workspace, f, err := t.document(name)
	if err != nil || f == nil {
		return nil, err
	}
	err = t.stream(func(scan func(...any) error) error {
		var address string
		var sealed bool
		var body []byte
		var version uuid.UUID
		if err := scan(&address, &sealed, &body, &version); err != nil {
			return err
		}
		c, err := t.unseal(sealed, body)
		if err != nil {
			return fmt.Errorf("reading the row of %s: %w", address, err)
		}
		if c.Object.Instance.String() != address {
			return fmt.Errorf("the row of %s is damaged: it has the content of %s", address, c.Object.Instance)
		}
		if c.New != nil {
			c.New.Version = state.Version(version)
		}
		c.Apply(f.State)
		return nil
	}, `SELECT address, sealed, body, version FROM mayfly.objects WHERE workspace = $1 ORDER BY address, deposed`, workspace)
	return f, err
}

// unseal reads the body of a row.
func (s *Store) unseal(sealed bool, body []byte) (c state.ObjectChange, err error) {
	switch {
	case sealed && s.opt.Cipher == nil:
		return c, fmt.Errorf("%w: it is encrypted, and the configuration has no encryption for the state", state.ErrCorrupt)
	case sealed:
		body, err = s.opt.Cipher.Unseal(body)
	case s.opt.Cipher != nil:
		err = s.opt.Cipher.CheckPlain()
	}
	if err != nil {
		return c, err
	}
	if c, err = state.DecodeChange(body); err != nil {
		return c, fmt.Errorf("%w: %w", state.ErrCorrupt, err)
	}
	return c, nil
}

// objects are changed rows of objects in the form that statements take them in.
type objects struct {
	addresses, deposed, resources, blocks []string
	dependencies                          []string // of each, one per line
	gone, sealed                          []bool
	bodies                                [][]byte
}

// add adds a change. Of several changes of one object in a statement, only the last may be added.
func (o *objects) add(s *Store, c state.ObjectChange) error {
	body, sealed := state.EncodeChange(c), false
	if s.opt.Cipher != nil && c.New != nil {
		b, err := s.opt.Cipher.Seal(body)
		if err != nil {
			return err
		}
		if b != nil {
			body, sealed = b, true
		}
	}
	if c.New == nil {
		body = nil
	}
	o.addresses, o.deposed = append(o.addresses, c.Object.Instance.String()), append(o.deposed, string(c.Object.Deposed))
	o.resources, o.blocks = append(o.resources, c.Object.Abs().String()), append(o.blocks, c.Object.Config().String())
	var blocks []string
	if c.New != nil {
		for _, b := range c.New.Dependencies {
			blocks = append(blocks, b.String())
		}
	}
	o.dependencies = append(o.dependencies, strings.Join(blocks, "\n"))
	o.gone, o.sealed, o.bodies = append(o.gone, c.New == nil), append(o.sealed, sealed), append(o.bodies, body)
	return nil
}

// args returns the parameters of a statement. Bodies are binary: the server quotes texts that it cannot
// convert in its log.
func (o *objects) args() []any {
	return []any{
		pq.StringArray(o.addresses), pq.StringArray(o.deposed), pq.StringArray(o.resources), pq.StringArray(o.blocks), pq.StringArray(o.dependencies),
		pq.BoolArray(o.gone), pq.BoolArray(o.sealed), pq.ByteaArray(o.bodies),
	}
}

// columns are the parameters from the n-th on as rows.
func columns(n int) string {
	return fmt.Sprintf(`unnest($%d::text[], $%d::text[], $%d::text[], $%d::text[], $%d::text[], $%d::bool[], $%d::bool[], $%d::bytea[]) g(address, deposed, resource, block, dependencies, gone, sealed, body)`,
		n, n+1, n+2, n+3, n+4, n+5, n+6, n+7)
}

// changeObjects are parts of a statement that change rows of objects. given has the columns of objects, and
// the workspace and the run.
const changeObjects = `
gone AS (DELETE FROM mayfly.objects o USING given g WHERE g.gone AND o.workspace = g.workspace AND o.address = g.address AND o.deposed = g.deposed),
put AS (INSERT INTO mayfly.objects (workspace, address, deposed, run, resource, block, dependencies, sealed, body)
	SELECT workspace, address, deposed, run, resource, block, string_to_array(dependencies, E'\n'), sealed, body FROM given WHERE NOT gone
	ON CONFLICT (workspace, address, deposed) DO UPDATE SET version = gen_random_uuid(), run = excluded.run, at = clock_timestamp(),
		resource = excluded.resource, block = excluded.block, dependencies = excluded.dependencies, sealed = excluded.sealed, body = excluded.body)`

// chunk is how many rows a statement changes at most.
const chunk = 2000

// put changes rows of objects. Each object is changed at most once.
func (t *tx) put(c *claim, changes []state.ObjectChange) error {
	for len(changes) > 0 {
		var o objects
		n := min(len(changes), chunk)
		for _, change := range changes[:n] {
			if err := o.add(t.Store, change); err != nil {
				return err
			}
		}
		changes = changes[n:]
		_, err := t.exec(`WITH given AS (SELECT $1::bigint AS workspace, $2::uuid AS run, g.* FROM `+columns(3)+`),`+changeObjects+` SELECT 1`,
			append([]any{c.workspace, c.run}, o.args()...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// store stores the parts of f other than objects. The results of the run become part of its serial, to which
// more is added. It returns the serial.
func (t *tx) store(c *claim, f *state.File, more int) (serial uint64, err error) {
	b, err := store.Encode(withoutObjects(f), t.opt.Cipher)
	if err == nil {
		_, err = t.one(`UPDATE mayfly.workspaces SET document = $2, serial = serial + $3 + (SELECT commits FROM mayfly.runs WHERE id = $4) WHERE id = $1 RETURNING serial`, []any{c.workspace, b, more, c.run}, &serial)
	}
	if err == nil {
		_, err = t.exec(`UPDATE mayfly.runs SET commits = 0 WHERE id = $1`, c.run)
	}
	if err == nil {
		_, err = t.exec(`DELETE FROM mayfly.salts WHERE run = $1`, c.run)
	}
	return serial, err
}

// withoutObjects returns f with a state that has everything but objects.
func withoutObjects(f *state.File) *state.File {
	rest := *f
	rest.State = state.New()
	rest.State.Outputs, rest.State.Checks = f.State.Outputs, f.State.Checks
	rest.State.AddSalts(f.State.Salts...)
	return &rest
}
