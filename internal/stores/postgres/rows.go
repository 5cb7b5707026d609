//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// document returns the number of a workspace, 0 for none, and the stored state without objects; nil for none.
// Results of a run that has not ended, or not as it should, make the serial the next one.
func (t *tx) document(name string) (workspace int64, f *state.File, err error) {
	var stored []byte
	var serial uint64
	found, err := t.one(`SELECT w.id, w.document, w.serial + EXISTS (SELECT 1 FROM mayfly.runs r WHERE r.workspace = w.id AND r.folded_by IS NULL AND r.commits > 0)::int FROM mayfly.workspaces w WHERE name = $1`, []any{name}, &workspace, &stored, &serial)
	if err != nil || !found {
		return 0, nil, err
	}
	if f, err = store.Decode(stored, t.opt.Cipher); err != nil || f == nil {
		return workspace, nil, err
	}
	f.Serial = serial
	return workspace, f, nil
}

// read returns the state of a workspace; nil for none.
func (t *tx) read(name string) (*state.File, error) {
	workspace, f, err := t.document(name)
	if err != nil || f == nil {
		return nil, err
	}
	err = t.rows(func(scan func(...any) error) error {
		var address string
		var sealed bool
		var body []byte
		if err := scan(&address, &sealed, &body); err != nil {
			return err
		}
		c, err := t.unseal(sealed, body)
		if err != nil {
			return fmt.Errorf("reading the row of %s: %w", address, err)
		}
		if c.Object.Instance.String() != address {
			return fmt.Errorf("the row of %s is damaged: it has the content of %s", address, c.Object.Instance)
		}
		c.Apply(f.State)
		return nil
	}, `SELECT address, sealed, body FROM mayfly.objects WHERE workspace = $1 ORDER BY address, deposed`, workspace)
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
	addresses, deposed []string
	gone, sealed       []bool
	bodies             [][]byte
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
	o.gone, o.sealed, o.bodies = append(o.gone, c.New == nil), append(o.sealed, sealed), append(o.bodies, body)
	return nil
}

// args returns the parameters of a statement. Bodies are binary: the server quotes texts that it cannot
// convert in its log.
func (o *objects) args() []any {
	return []any{pq.StringArray(o.addresses), pq.StringArray(o.deposed), pq.BoolArray(o.gone), pq.BoolArray(o.sealed), pq.ByteaArray(o.bodies)}
}

// changeObjects are parts of a statement that change rows of objects. given has the columns of objects, and
// the workspace and the run.
const changeObjects = `
gone AS (DELETE FROM mayfly.objects o USING given g WHERE g.gone AND o.workspace = g.workspace AND o.address = g.address AND o.deposed = g.deposed),
put AS (INSERT INTO mayfly.objects (workspace, address, deposed, run, sealed, body)
	SELECT workspace, address, deposed, run, sealed, body FROM given WHERE NOT gone
	ON CONFLICT (workspace, address, deposed) DO UPDATE SET version = gen_random_uuid(), run = excluded.run, at = clock_timestamp(), sealed = excluded.sealed, body = excluded.body)`

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
		_, err := t.exec(`WITH given AS (SELECT $1::bigint AS workspace, $2::uuid AS run, g.* FROM unnest($3::text[], $4::text[], $5::bool[], $6::bool[], $7::bytea[]) g(address, deposed, gone, sealed, body)),`+changeObjects+` SELECT 1`,
			append([]any{c.workspace, c.run}, o.args()...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// store stores the parts of f other than objects. The results of the run become part of its serial.
func (t *tx) store(c *claim, workspace int64, f *state.File) error {
	b, err := store.Encode(withoutObjects(f), t.opt.Cipher)
	if err != nil {
		return err
	}
	if _, err = t.exec(`UPDATE mayfly.workspaces SET serial = $2, document = $3 WHERE id = $1`, workspace, f.Serial, b); err != nil {
		return err
	}
	_, err = t.exec(`UPDATE mayfly.runs SET folded_by = $1 WHERE id = $1`, c.run)
	return err
}

// withoutObjects returns f with a state that has everything but objects.
func withoutObjects(f *state.File) *state.File {
	rest := *f
	rest.State = state.New()
	rest.State.Outputs, rest.State.Checks = f.State.Outputs, f.State.Checks
	rest.State.AddSalts(f.State.Salts...)
	return &rest
}
