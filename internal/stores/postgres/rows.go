//go:build !mayfly_no_postgres

package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// document returns the number of a workspace, 0 for none, and the stored state without objects; nil for none.
func (t *tx) document(name string) (workspace int64, f *state.File, err error) {
	workspace, f, err = head(t, name)
	if err == nil && f != nil {
		err = t.results(workspace, f)
	}
	if err == nil && f != nil {
		err = t.salts(workspace, f.State)
	}
	return workspace, f, err
}

// head is document without all that has rows of its own. The results of runs that have not ended, or not as
// they should, count in the serial: snapshots are ordered, so that equal serials are equal states.
func head(t *tx, name string) (workspace int64, f *state.File, err error) {
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
	return workspace, f, nil
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
	if err = t.eachObject(f.State, `workspace = $1`, workspace); err == nil {
		err = t.members(workspace, f.State)
	}
	return f, err
}

// readAgain returns the state of a workspace of which a run has had all objects; nil for none. It reads the
// objects that the run may have changed, and those whose rows have another version by now.
func readAgain(t *tx, name string, c *claim, had *state.State) (*state.File, error) {
	workspace, f, err := t.document(name)
	if err != nil || f == nil {
		return nil, err
	}
	versions, changed := map[state.RowName]state.Version{}, map[string]bool{}
	for a, in := range had.AllInstances() {
		if in.Current != nil {
			versions[state.NameOf(addr.Object{Instance: a})] = in.Current.Version
		}
		for key, o := range in.Deposed {
			versions[state.NameOf(addr.Object{Instance: a, Deposed: key})] = o.Version
		}
	}
	err = t.stream(func(scan func(...any) error) error {
		var row state.RowName
		var version uuid.UUID
		err := scan(&row.Address, &row.Deposed, &version)
		if v, had := versions[row]; !had || v != state.Version(version) || c.writes(row.Address) {
			changed[row.Address] = true
		}
		delete(versions, row)
		return err
	}, `SELECT address, deposed, version FROM mayfly.objects WHERE workspace = $1`, workspace)
	for gone := range versions {
		changed[gone.Address] = true
	}
	kept, fresh := had.Copy(), state.New()
	for a := range had.AllInstances() {
		if changed[a.String()] {
			kept.RemoveInstance(a)
		}
	}
	if err == nil {
		err = t.eachObject(fresh, `workspace = $1 AND address = ANY($2)`, workspace, pq.StringArray(slices.Collect(maps.Keys(changed))))
	}
	if err == nil {
		f.State.AddMissing(kept)
		f.State.AddMissing(fresh)
		err = t.members(workspace, f.State)
	}
	return f, err
}

// eachObject adds the objects to st whose rows meet a condition.
func (t *tx) eachObject(st *state.State, where string, args ...any) error {
	return t.stream(func(scan func(...any) error) error { return t.object(st, scan) },
		`SELECT address, sealed, body, version FROM mayfly.objects WHERE `+where+` ORDER BY address, deposed`, args...)
}

// object adds the object of a row to a state.
func (s *Store) object(to *state.State, scan func(...any) error) error {
	var address string
	var sealed bool
	var body []byte
	var version uuid.UUID
	if err := scan(&address, &sealed, &body, &version); err != nil {
		return err
	}
	c, err := s.unseal(sealed, body)
	if err != nil {
		return fmt.Errorf("reading the row of %s: %w", address, err)
	}
	if c.Object.Instance.String() != address {
		return fmt.Errorf("the row of %s is damaged: it has the content of %s", address, c.Object.Instance)
	}
	if c.New != nil {
		c.New.Version = state.Version(version)
	}
	c.Apply(to)
	return nil
}

// unseal reads the body of the row of an object.
func (s *Store) unseal(sealed bool, body []byte) (c state.ObjectChange, err error) {
	if body, err = s.plain(sealed, body); err != nil {
		return c, err
	}
	if c, err = state.DecodeChange(body); err != nil {
		return c, fmt.Errorf("%w: %w", state.ErrCorrupt, err)
	}
	return c, nil
}

// plain returns the content of a body.
func (s *Store) plain(sealed bool, body []byte) ([]byte, error) {
	switch {
	case sealed && s.opt.Cipher == nil:
		return nil, fmt.Errorf("%w: it is encrypted, and the configuration has no encryption for the state", state.ErrCorrupt)
	case sealed:
		return s.opt.Cipher.Unseal(body)
	case s.opt.Cipher != nil:
		s.clear.Add(1)
		return body, s.opt.Cipher.CheckPlain()
	}
	return body, nil
}

// seal returns the body for a content, encrypted if the configuration says so.
func (s *Store) seal(plain []byte) (body []byte, sealed bool, err error) {
	if s.opt.Cipher == nil {
		return plain, false, nil
	}
	if body, err = s.opt.Cipher.Seal(plain); err != nil || body != nil {
		return body, true, err
	}
	return plain, false, nil
}

// encrypts reports whether the present rules encrypt.
func encrypts(c store.Cipher) (bool, error) {
	if c == nil {
		return false, nil
	}
	sealed, err := c.Seal([]byte("{}"))
	return sealed != nil, err
}

// objects are changed rows of objects in the form that statements take them in.
type objects struct {
	addresses, deposed, resources, blocks []string
	providers                             []string
	dependencies                          []string // of each, one per line
	gone, sealed                          []bool
	bodies, shown                         [][]byte
	noted                                 noted
}

// add adds a change, the hashes of the run's configuration, and whether the change gives its instance another
// value. Of several changes of one object in a statement, only the last may be added.
func (o *objects) add(s *Store, c state.ObjectChange, hashes hashIndex, alters bool) error {
	o.noted.add(c, hashes, alters)
	var body []byte
	var sealed bool
	if c.New != nil {
		var err error
		if body, sealed, err = s.seal(state.EncodeChange(c)); err != nil {
			return err
		}
	}
	o.addresses, o.deposed = append(o.addresses, c.Object.Instance.String()), append(o.deposed, string(c.Object.Deposed))
	o.resources, o.blocks = append(o.resources, c.Object.Abs().String()), append(o.blocks, c.Object.Config().String())
	var blocks []string
	provider := ""
	if c.New != nil {
		provider = c.Provider.Provider.String()
		for _, b := range c.New.Dependencies {
			blocks = append(blocks, b.String())
		}
	}
	o.providers, o.dependencies = append(o.providers, provider), append(o.dependencies, strings.Join(blocks, "\n"))
	o.gone, o.sealed, o.bodies = append(o.gone, c.New == nil), append(o.sealed, sealed), append(o.bodies, body)
	shown, err := shownOf(c, sealed)
	o.shown = append(o.shown, shown)
	return err
}

// changes reports whether there is a row of an instance.
func (o *objects) changes(address string) bool { return slices.Contains(o.addresses, address) }

// args returns the parameters of a statement. Bodies are binary: the server quotes texts that it cannot
// convert in its log.
func (o *objects) args() []any {
	return append([]any{
		pq.StringArray(o.addresses), pq.StringArray(o.deposed), pq.StringArray(o.resources), pq.StringArray(o.blocks), pq.StringArray(o.providers), pq.StringArray(o.dependencies),
		pq.BoolArray(o.gone), pq.BoolArray(o.sealed), pq.ByteaArray(o.bodies), pq.ByteaArray(o.shown),
	}, o.noted.args()...)
}

// columns are the parameters from the n-th on as rows.
func columns(n int) string {
	return fmt.Sprintf(`unnest($%d::text[], $%d::text[], $%d::text[], $%d::text[], $%d::text[], $%d::text[], $%d::bool[], $%d::bool[], $%d::bytea[], $%d::bytea[], $%d::bool[], $%d::bool[], $%d::text[], $%d::text[], $%d::text[], $%d::text[], $%d::bytea[], $%d::bytea[])
	g(address, deposed, resource, block, provider, dependencies, gone, sealed, body, shown, tainted, owes, step, reads, altered, declared, seen, hash)`,
		n, n+1, n+2, n+3, n+4, n+5, n+6, n+7, n+8, n+9, n+10, n+11, n+12, n+13, n+14, n+15, n+16, n+17)
}

// changeObjects are parts of a statement through which all changes of rows of objects go. They keep the
// replaced ones, and make records and marks. given has the columns of objects, the workspace, the run, and
// whether its claims are alive. A version ends at the very time at which the next one begins.
const changeObjects = `
replaced AS (INSERT INTO mayfly.past (workspace, address, deposed, version, run, at, sealed, body, shown, next_run, until)
	SELECT o.workspace, o.address, o.deposed, o.version, o.run, o.at, o.sealed, o.body, o.shown, g.run, statement_timestamp()
	FROM given g JOIN mayfly.objects o ON o.workspace = g.workspace AND o.address = g.address AND o.deposed = g.deposed),
gone AS (DELETE FROM mayfly.objects o USING given g WHERE g.gone AND o.workspace = g.workspace AND o.address = g.address AND o.deposed = g.deposed),
put AS (INSERT INTO mayfly.objects (workspace, address, deposed, run, at, resource, block, provider, dependencies, sealed, body, shown, tainted, owes)
	SELECT workspace, address, deposed, run, statement_timestamp(), resource, block, NULLIF(provider, ''), string_to_array(dependencies, E'\n'), sealed, body, CASE WHEN current_setting('server_encoding') = 'UTF8' THEN convert_from(shown, 'UTF8')::jsonb END, tainted, owes FROM given WHERE NOT gone
	ON CONFLICT (workspace, address, deposed) DO UPDATE SET version = gen_random_uuid(), run = excluded.run, at = excluded.at,
		resource = excluded.resource, block = excluded.block, provider = excluded.provider, dependencies = excluded.dependencies, sealed = excluded.sealed, body = excluded.body, shown = excluded.shown,
		tainted = excluded.tainted, owes = excluded.owes RETURNING address, deposed, version)` + noteMarks

// chunk is how many rows a statement changes at most.
const chunk = 2000

// put changes rows of objects of the state before, nil if that is not known. Each object is changed at most
// once, and the claims of the run are alive. Late results for an instance stay unless it is imported: other
// changes know nothing newer about it.
func (t *tx) put(c *claim, before *state.State, changes []state.ObjectChange) error {
	runs, batches := c.settling(c.imports)
	err := t.inChunks(before, changes, func(o *objects) error {
		_, err := t.exec(`WITH given AS (SELECT $1::bigint AS workspace, $2::uuid AS run, true AS alive, g.* FROM `+columns(3)+`),`+settle(21)+changeObjects+` SELECT 1`,
			append(append([]any{c.workspace, c.run}, o.args()...), runs, pq.Array(batches))...)
		return err
	})
	if err == nil && len(changes) > 0 {
		_, err = t.exec(`UPDATE mayfly.runs SET changes = changes + $2 WHERE id = $1`, c.run, len(changes))
	}
	return err
}

// stored reports whether a change would leave a state as it is.
func stored(st *state.State, c state.ObjectChange) bool {
	o := st.Object(c.Object)
	return o != nil && o.Equal(c.New) && st.Instance(c.Object.Instance).Provider == c.Provider
}

// inChunks calls f with the rows of changes, of which each object has at most one.
func (t *tx) inChunks(before *state.State, changes []state.ObjectChange, f func(*objects) error) error {
	for part := range slices.Chunk(changes, chunk) {
		var o objects
		for _, change := range part {
			if err := o.add(t.Store, change, nil, alters(before, change)); err != nil {
				return err
			}
		}
		if err := f(&o); err != nil {
			return err
		}
	}
	return nil
}

// store stores the parts of f that have no rows of their own. The changes of the run become part of its
// serial, to which more is added. It returns the serial.
func (t *tx) store(c *claim, f *state.File, more int) (serial uint64, err error) {
	b, err := store.Encode(withoutRows(f), t.opt.Cipher)
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

// withoutRows returns f with a state that has salts only: the rest has rows of its own.
func withoutRows(f *state.File) *state.File {
	rest := *f
	rest.State = state.New()
	rest.State.AddSalts(f.State.Salts...)
	return &rest
}
