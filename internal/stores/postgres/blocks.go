//go:build !mayfly_no_postgres

package postgres

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// records has the hashes of blocks (docs/adr/041-scope-changed.md). A row of blocks has the entries of a
// module, and a workspace has a digest of each such row, so that a plan without changes reads one row. They
// are written by holders of the gate only, from the first claim of a run on that says its hashes: that is the
// moment since which they are tracked. The moment of a workspace grows with each claim and each of these
// writes, and entries have the one at which they were written. The hashes are keyed.
const records = `
ALTER TABLE mayfly.units ADD COLUMN seen bytea, ADD COLUMN given bytea;
UPDATE mayfly.units SET block = regexp_replace(block, '([^.]+[.][^.]+)$', 'resource.\1');
DROP INDEX mayfly.units_of_block;
CREATE INDEX units_of_block ON mayfly.units (workspace, block, seen);
CREATE TABLE mayfly.blocks (
	workspace bigint NOT NULL REFERENCES mayfly.workspaces ON DELETE CASCADE,
	module text NOT NULL,
	entries json NOT NULL,
	dropped bigint NOT NULL,
	PRIMARY KEY (workspace, module)
);
ALTER TABLE mayfly.workspaces ADD COLUMN modules text[] NOT NULL DEFAULT '{}', ADD COLUMN digests bytea[] NOT NULL DEFAULT '{}',
	ADD COLUMN moment bigint NOT NULL DEFAULT 0, ADD COLUMN tracked bigint NOT NULL DEFAULT 0, ADD COLUMN complete boolean NOT NULL DEFAULT false, ADD COLUMN key bytea, ADD COLUMN key_sealed boolean NOT NULL DEFAULT false;`

// entry is the stored hash of a block.
type entry struct {
	Name   string `json:"name"`
	Hash   []byte `json:"hash,omitempty"` // nil for none
	Moment int64  `json:"moment"`
	Run    string `json:"run"`              // that wrote it last
	Others int64  `json:"others,omitempty"` // the last moment at which another run wrote it, or removed it
}

// since reports whether a run other than the given one has written the entry after a moment.
func (e entry) since(moment int64, run string) bool {
	if e.Run == run {
		return e.Others > moment
	}
	return e.Moment > moment
}

// is reports whether the entry has a known hash.
func (e entry) is(h state.Hash) bool { return h.Known() && string(e.Hash) == string(h[:]) }

// entries are the entries of a module by their names. dropped is the last moment at which a block lost its
// entry.
type entries struct {
	of      map[string]entry
	dropped int64
}

func (e *entries) sorted() []entry {
	return slices.SortedFunc(maps.Values(e.of), func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
}

// digestOf returns the same for entries and for blocks with the same names and hashes, both in order.
func digestOf[T any](all []T, of func(T) (string, []byte)) []byte {
	sum := sha256.New()
	for _, one := range all {
		name, hash := of(one)
		_, _ = fmt.Fprintf(sum, "%d %s %d %s", len(name), name, len(hash), hash) // a hash takes everything
	}
	return sum.Sum(nil)
}

func digestOfEntries(all []entry) []byte {
	return digestOf(all, func(e entry) (string, []byte) { return e.Name, e.Hash })
}

func digestOfBlocks(all []state.BlockHash) []byte {
	return digestOf(all, func(b state.BlockHash) (string, []byte) { return b.Name, known(b.Hash) })
}

// known returns the bytes of a hash, nil for none.
func known(h state.Hash) []byte {
	if !h.Known() {
		return nil
	}
	return h[:]
}

// hashIndex finds the hash of a block of a configuration.
type hashIndex map[addr.Module][]state.BlockHash

func indexOf(hashes state.BlockHashes) hashIndex {
	out := make(hashIndex, len(hashes))
	for _, m := range hashes {
		out[m.Module] = m.Blocks
	}
	return out
}

// of returns the hash of a block, and whether the configuration has the block.
func (x hashIndex) of(b state.Block) (state.Hash, bool) {
	list := x[b.Module]
	i, is := slices.BinarySearchFunc(list, b.Name, func(h state.BlockHash, name string) int { return strings.Compare(h.Name, name) })
	if !is {
		return state.Hash{}, false
	}
	return list[i].Hash, true
}

// hashing is the part of the row of a workspace that is about hashes.
type hashing struct {
	t         *tx
	workspace int64
	moment    int64
	tracked   int64 // the moment since which entries are written; 0 for none
	complete  bool
	digests   map[string][]byte // by module
	key       []byte            // nil for none that can be used
}

// hashingColumns are the columns of a workspace that are about hashes.
const hashingColumns = `id, moment, tracked, complete, modules, digests, key, key_sealed`

// withoutDigests are the same columns, without a hundred bytes for each module.
const withoutDigests = `id, moment, tracked, complete, '{}'::text[], '{}'::bytea[], key, key_sealed`

// readHashing returns the part of the row of a workspace that is about hashes, zero if there is none.
func readHashing(t *tx, name string) (*hashing, error) {
	return scanHashing(t, `SELECT `+hashingColumns+` FROM mayfly.workspaces WHERE name = $1`, name)
}

// scanHashing returns the columns of a row that a statement finds.
func scanHashing(t *tx, statement string, args ...any) (*hashing, error) {
	h := &hashing{t: t, digests: map[string][]byte{}}
	var modules pq.StringArray
	var sums pq.ByteaArray
	var key []byte
	var sealed bool
	there, err := t.one(statement, args, &h.workspace, &h.moment, &h.tracked, &h.complete, &modules, &sums, &key, &sealed)
	if err != nil || !there {
		return h, err
	}
	for i, m := range modules {
		h.digests[m] = sums[i]
	}
	h.key, err = openKey(t.opt.Cipher, key, sealed)
	return h, err
}

// entries returns the entries of modules, all of them if modules is nil.
func (h *hashing) entries(modules []string) (map[string]*entries, error) {
	out := map[string]*entries{}
	var only any
	if modules != nil {
		only = pq.StringArray(modules)
	}
	return out, h.t.rows(func(scan func(...any) error) error {
		var module string
		var text []byte
		var list []entry
		e := &entries{of: map[string]entry{}}
		err := scan(&module, &text, &e.dropped)
		if err == nil {
			err = json.Unmarshal(text, &list)
		}
		for _, one := range list {
			e.of[one.Name] = one
		}
		out[module] = e
		return err
	}, `SELECT module, entries, dropped FROM mayfly.blocks WHERE workspace = $1 AND ($2::text[] IS NULL OR module = ANY($2))`, h.workspace, only)
}

// put stores the entries of modules, with their digests. The gate is held.
func (h *hashing) put(changed map[string]*entries) error {
	if len(changed) == 0 {
		return nil
	}
	var modules, lists []string
	var dropped []int64
	for module, e := range changed {
		sorted := e.sorted()
		text, err := json.Marshal(sorted)
		if err != nil {
			return err
		}
		modules, lists, dropped = append(modules, module), append(lists, string(text)), append(dropped, e.dropped)
		delete(h.digests, module)
		if len(sorted) > 0 {
			h.digests[module] = digestOfEntries(sorted)
		}
	}
	var names []string
	var sums [][]byte
	for m, sum := range h.digests {
		names, sums = append(names, m), append(sums, sum)
	}
	_, err := h.t.exec(`WITH put AS (INSERT INTO mayfly.blocks (workspace, module, entries, dropped) SELECT $1, g.module, g.entries::json, g.dropped FROM unnest($2::text[], $3::text[], $4::bigint[]) g(module, entries, dropped)
		ON CONFLICT (workspace, module) DO UPDATE SET entries = excluded.entries, dropped = excluded.dropped)
		UPDATE mayfly.workspaces SET moment = $5, modules = $6, digests = $7 WHERE id = $1`,
		h.workspace, pq.StringArray(modules), pq.StringArray(lists), pq.Array(dropped), h.moment, pq.StringArray(names), pq.ByteaArray(sums))
	return err
}

// blocksOf returns the blocks of which a key of an exclusive claim is a part, the first of which declares it:
// the blocks of an instance, and of the repetitions of its resource and of the calls around it, of an output,
// or of a check.
func blocksOf(key string) ([]state.Block, error) {
	u := state.ParseUnit(key)
	switch u.Kind {
	case state.OutputUnit:
		return []state.Block{{Module: addr.RootModule, Name: "output." + u.Addr}}, nil
	case state.CheckUnit:
		return []state.Block{state.CheckBlock(u.Addr)}, nil
	}
	a, err := addr.ParseInstance(u.Addr)
	if err != nil {
		return nil, err
	}
	out := []state.Block{state.BlockOf(a.Config()), state.RepetitionOf(a.Config())}
	for m := a.Module.Module(); !m.IsRoot(); {
		outer, call := m.Parent()
		out = append(out, state.Block{Module: outer, Name: "module." + call})
		m = outer
	}
	return out, nil
}

// unhash removes the hashes of the blocks that a run claims a part of, where the run has others, and makes
// sure that the workspace has a key for hashes. A run with hashes that were made with another key counts as
// one without: no hash is equal to one of those. As long as no run has said its hashes, there are none. The
// gate is held.
func unhash(t *tx, c *claim, claims state.Claims) error {
	h, err := scanHashing(t, `UPDATE mayfly.workspaces SET moment = moment + 1, tracked = CASE WHEN tracked = 0 AND $2 THEN moment + 1 ELSE tracked END WHERE id = $1 RETURNING `+hashingColumns,
		c.workspace, len(c.hashes) > 0)
	if err != nil {
		return err
	}
	if c.key = h.key; h.key == nil {
		if c.key, err = h.makeKey(c.hashedWith); err != nil {
			return err
		}
	}
	if trusted := c.hashedWith == nil && h.key != nil; !trusted && !bytes.Equal(c.hashedWith, c.key) {
		c.hashes, c.unusable = nil, true
	}
	own := c.hashes
	if h.tracked == 0 {
		return nil
	}
	claimed, err := claimedBlocks(claims)
	if err != nil {
		return err
	}
	modules, whole := []string{}, claims[state.Subject{Kind: state.WholeState}] == state.Exclusive || h.key == nil
	for b := range claimed {
		modules = append(modules, b.Module.String())
	}
	if whole {
		modules = nil
	} else if len(modules) == 0 {
		return nil
	}
	slices.Sort(modules)
	found, err := h.entries(slices.Compact(modules))
	if err == nil && whole {
		err = eachEntry(found, func(b state.Block, _ entry) { claimed[b] = false })
	}
	if err != nil {
		return err
	}
	changed := map[string]*entries{}
	for b, declares := range claimed {
		hash, declared := own.of(b)
		e := entriesOf(found, b)
		if one, is := e.of[b.Name]; !one.is(hash) && (is || declares || declared) {
			changed[h.write(e, b, state.Hash{}, c.run)] = e
		}
	}
	return h.put(changed)
}

// claimedBlocks returns the blocks of which claims are exclusive for a part, and whether a claimed part is of
// the block itself, and not only of its repetition.
func claimedBlocks(claims state.Claims) (map[state.Block]bool, error) {
	out := map[state.Block]bool{}
	for s, mode := range claims {
		if mode != state.Exclusive || s.Kind != state.OneInstance && s.Kind != state.OneOutput && s.Kind != state.OneCheck {
			continue
		}
		blocks, err := blocksOf(s.Key())
		if err != nil {
			return nil, err
		}
		for i, b := range blocks {
			out[b] = out[b] || i == 0
		}
	}
	return out, nil
}

// write gives a block an entry with a hash, zero for none, and returns the name of the module.
func (h *hashing) write(e *entries, b state.Block, hash state.Hash, run string) string {
	old, is := e.of[b.Name]
	switch {
	case !is:
		old.Moment = e.dropped
	case old.Run == run:
		old.Moment = old.Others
	}
	e.of[b.Name] = entry{Name: b.Name, Hash: known(hash), Moment: h.moment, Run: run, Others: old.Moment}
	return b.Module.String()
}

// entriesOf returns the entries of the module of a block, which it adds if there are none.
func entriesOf(found map[string]*entries, b state.Block) *entries {
	module := b.Module.String()
	if found[module] == nil {
		found[module] = &entries{of: map[string]entry{}}
	}
	return found[module]
}

// eachEntry calls f for all entries.
func eachEntry(found map[string]*entries, f func(state.Block, entry)) error {
	for path, e := range found {
		var module addr.Module
		if path != "" {
			in, err := addr.ParseModuleInstance(path)
			if err != nil {
				return err
			}
			module = in.Module()
		}
		for name, one := range e.of {
			f(state.Block{Module: module, Name: name}, one)
		}
	}
	return nil
}

// keyBytes is the size of the key for hashes.
const keyBytes = 32

// openKey returns the stored key for hashes. It is nil if there is none that the present rules of encryption
// would have written, or none that can be read: the next claim makes another one then.
func openKey(c store.Cipher, body []byte, sealed bool) ([]byte, error) {
	encrypted, err := encrypts(c)
	if err != nil || sealed != encrypted {
		return nil, err
	}
	if sealed {
		if body, err = c.Unseal(body); err != nil {
			return nil, nil // it was encrypted by other rules
		}
	}
	if key, err := hex.DecodeString(string(body)); err == nil && len(key) == keyBytes {
		return key, nil
	}
	return nil, nil
}

// newKey returns a random key for hashes.
func newKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // it ends the program rather than fail
	return key
}

// makeKey stores a key for hashes, which it makes if it is nil.
func (h *hashing) makeKey(key []byte) ([]byte, error) {
	if key == nil {
		key = newKey()
	}
	body, sealed, err := h.t.seal([]byte(hex.EncodeToString(key)))
	if err == nil {
		_, err = h.t.exec(`UPDATE mayfly.workspaces SET key = $2, key_sealed = $3 WHERE id = $1`, h.workspace, body, sealed)
	}
	return key, err
}
