//go:build !mayfly_no_postgres

package postgres

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

var _ store.ChangeReader = (*manager)(nil)

// readHashing calls f with columns of the workspace's row that are about hashes, in a transaction that reads
// all rows as they are at one moment.
func (p place) readHashing(ctx context.Context, columns string, f func(*hashing) error) error {
	return p.failed("read", p.store.again(ctx, reading, func(t *tx) error {
		h, err := scanHashing(t, `SELECT `+columns+` FROM mayfly.workspaces WHERE name = $1`, p.name)
		if err != nil {
			return err
		}
		return f(h)
	}))
}

// HashKey implements store.ChangeReader.
func (m *manager) HashKey(ctx context.Context) (key []byte, at time.Time, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.failed("read", m.store.again(ctx, reading, func(t *tx) error {
		var body []byte
		var sealed bool
		_, err := t.one(`SELECT clock_timestamp(), w.key, COALESCE(w.key_sealed, false) FROM (SELECT) one LEFT JOIN mayfly.workspaces w ON w.name = $1`, []any{m.name}, &at, &body, &sealed)
		if err == nil {
			key, err = openKey(t.opt.Cipher, body, sealed)
		}
		return err
	}))
	if err != nil {
		return nil, at, err
	}
	if key == nil {
		if key = m.fresh; key == nil {
			key = newKey()
		}
		m.fresh = key
	}
	m.hashedWith = key
	return key, at, nil
}

// ReadChanged implements store.ChangeReader.
func (p place) ReadChanged(ctx context.Context, hashes state.BlockHashes) (out *state.Changed, err error) {
	err = p.readHashing(ctx, hashingColumns, func(h *hashing) (err error) {
		out, err = h.changed(hashes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// changed finds everything that is due for a configuration with these hashes.
func (h *hashing) changed(hashes state.BlockHashes) (*state.Changed, error) {
	out := &state.Changed{Complete: h.complete && h.key != nil && hashes != nil, Moment: h.moment}
	if !out.Complete {
		return out, nil
	}
	blocks, err := h.differing(hashes)
	if err != nil {
		return nil, err
	}
	if _, err := h.t.one(`SELECT count(*) FROM (SELECT FROM mayfly.objects WHERE workspace = $1 AND deposed = '' LIMIT $2) o`, []any{h.workspace, state.MostCounted}, &out.Objects); err != nil {
		return nil, err
	}
	found := map[string]*state.Due{}
	note := func(key string, why state.Reasons) *state.Due {
		if found[key] == nil {
			found[key] = &state.Due{Unit: state.ParseUnit(key)}
		}
		found[key].Why |= why
		return found[key]
	}
	named := make(map[string]differing, len(blocks))
	var always, others []string
	var seen [][]byte
	for _, b := range blocks {
		name := b.String()
		named[name] = b
		if b.why.Has(state.ByBlock) {
			out.Blocks = append(out.Blocks, b.Block)
		}
		if b.why.Has(state.Always) {
			always = append(always, name)
		} else {
			others, seen = append(others, name), append(seen, known(b.hash))
		}
	}
	ofBlock := func(r *state.Record) { note(r.Unit.Key(), named[r.Block.String()].why).Record = r }
	if len(always) > 0 {
		err = h.records(ofBlock, `u.block = ANY($2)`, pq.StringArray(always))
	}
	if err == nil && len(others) > 0 {
		err = h.records(ofBlock, otherHash, pq.StringArray(others), pq.ByteaArray(seen))
	}
	if err == nil {
		err = h.marked(func(key string, why state.Reasons) { note(key, why) })
	}
	var missing []string
	for key, d := range found {
		if d.Record == nil {
			missing = append(missing, key)
		}
	}
	if err == nil && len(missing) > 0 {
		err = h.records(func(r *state.Record) { found[r.Unit.Key()].Record = r }, `u.unit = ANY($2)`, pq.StringArray(missing))
	}
	for _, d := range found {
		out.Due = append(out.Due, *d)
	}
	slices.SortFunc(out.Due, func(a, b state.Due) int { return strings.Compare(a.Unit.Key(), b.Unit.Key()) })
	return out, err
}

// otherHash selects the units of blocks that have seen another hash than the given one. Those that have seen
// it are not read. An empty hash stands for none.
const otherHash = `(u.workspace, u.unit) IN (SELECT o.workspace, o.unit FROM unnest($2::text[], $3::bytea[]) b(block, hash), LATERAL (
	SELECT v.workspace, v.unit FROM mayfly.units v WHERE v.workspace = $1 AND v.block = b.block AND v.seen IS NULL
	UNION ALL SELECT v.workspace, v.unit FROM mayfly.units v WHERE v.workspace = $1 AND v.block = b.block AND v.seen < b.hash
	UNION ALL SELECT v.workspace, v.unit FROM mayfly.units v WHERE v.workspace = $1 AND v.block = b.block AND v.seen > b.hash) o)`

// differing is a block whose units may be due, and the reason. hash is made from the configuration.
type differing struct {
	state.Block
	hash state.Hash
	why  state.Reasons
}

// differing returns the blocks with other stored hashes than the configuration has, and the ones whose units
// are always due. Only the entries of modules are read that have another digest.
func (h *hashing) differing(hashes state.BlockHashes) (out []differing, err error) {
	modules := map[string]bool{} // that differ
	for path := range h.digests {
		modules[path] = true
	}
	for _, m := range hashes {
		path := m.Module.String()
		modules[path] = !bytes.Equal(h.digests[path], digestOfBlocks(m.Blocks))
	}
	maps.DeleteFunc(modules, func(_ string, differs bool) bool { return !differs })
	stored := map[string]*entries{}
	if len(modules) > 0 {
		if stored, err = h.entries(slices.Collect(maps.Keys(modules))); err != nil {
			return nil, err
		}
	}
	for _, m := range hashes {
		path := m.Module.String()
		e, differs := stored[path], modules[path]
		for _, b := range m.Blocks {
			d := differing{state.Block{Module: m.Module, Name: b.Name}, b.Hash, 0}
			if !b.Hash.Known() || differs && (e == nil || !e.of[b.Name].is(b.Hash)) {
				d.why |= state.ByBlock
			}
			if !b.Hash.Known() || b.Always {
				d.why |= state.Always
			}
			if e != nil {
				delete(e.of, b.Name)
			}
			if d.why != 0 {
				out = append(out, d)
			}
		}
	}
	err = eachEntry(stored, func(b state.Block, _ entry) { out = append(out, differing{Block: b, why: state.ByBlock}) }) // the rest
	slices.SortFunc(out, func(a, b differing) int { return strings.Compare(a.String(), b.String()) })
	return out, err
}

// marked calls f for the units that have marks, or whose rows say that they are due.
func (h *hashing) marked(f func(key string, why state.Reasons)) error {
	return h.t.rows(func(scan func(...any) error) error {
		var key, kind string
		err := scan(&key, &kind)
		switch kind {
		case "object":
			f(key, state.ByObject)
		case "input":
			f(key, state.ByInput)
		default:
			f(key, state.ByRow)
		}
		return err
	}, `SELECT DISTINCT unit, kind FROM mayfly.due WHERE workspace = $1
		UNION ALL SELECT address, '' FROM mayfly.objects WHERE workspace = $1 AND (tainted OR owes OR deposed <> '')
		UNION ALL SELECT key, '' FROM mayfly.results WHERE workspace = $1 AND NOT passed`, h.workspace)
}

// Records implements store.ChangeReader.
func (p place) Records(ctx context.Context, q state.RecordQuery) (out []state.Record, err error) {
	err = p.readHashing(ctx, withoutDigests, func(h *hashing) error {
		var units, blocks, keys []string
		for _, u := range q.Units {
			units = append(units, u.Key())
		}
		for _, b := range q.Blocks {
			blocks = append(blocks, b.String())
		}
		for _, s := range q.Readers {
			keys = append(keys, readKey(h.workspace, s.Key()))
		}
		found := map[string]state.Record{}
		for _, by := range []struct {
			where string
			names []string
		}{{`u.unit = ANY($2)`, units}, {`u.block = ANY($2)`, blocks}, {`u.reads && $2`, keys}} {
			if len(by.names) == 0 {
				continue
			}
			if err := h.records(func(r *state.Record) { found[r.Unit.Key()] = *r }, by.where, pq.StringArray(by.names)); err != nil {
				return err
			}
		}
		out = out[:0]
		for _, r := range found {
			out = append(out, r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b state.Record) int { return strings.Compare(a.Unit.Key(), b.Unit.Key()) })
	return out, nil
}

// readKey returns the form that records have the key of a subject in.
func readKey(workspace int64, key string) string { return strconv.FormatInt(workspace, 10) + " " + key }

// records calls f for each record that meets a condition and is not void.
func (h *hashing) records(f func(*state.Record), where string, args ...any) error {
	prefix := readKey(h.workspace, "")
	return h.t.rows(func(scan func(...any) error) error {
		r := &state.Record{}
		var unit, block string
		var version uuid.NullUUID
		var reads pq.StringArray
		var seen, given []byte
		if err := scan(&unit, &block, &version, &reads, &seen, &given); err != nil {
			return err
		}
		r.Block = state.ParseBlock(block)
		r.Unit, r.Version = state.ParseUnit(unit), state.Version(version.UUID)
		for _, key := range reads {
			r.Reads = append(r.Reads, strings.TrimPrefix(key, prefix))
		}
		copy(r.Seen[:], seen)
		copy(r.Given[:], given)
		f(r)
		return nil
	}, `SELECT u.unit, u.block, u.version, u.reads, u.seen, u.given FROM mayfly.units u WHERE u.workspace = $1 AND `+where+`
		AND (u.kind <> 'instance' OR EXISTS (SELECT 1 FROM mayfly.objects o WHERE o.workspace = u.workspace AND o.address = u.unit AND o.deposed = '' AND o.version = u.version))`, append([]any{h.workspace}, args...)...)
}
