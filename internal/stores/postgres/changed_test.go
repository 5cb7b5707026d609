//go:build !mayfly_no_postgres

package postgres_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/tcpproxy"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// TestRecords finds records by units, blocks and subjects that were read.
func TestRecords(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	for name, c := range map[string]struct {
		q    state.RecordQuery
		want string
	}{
		"nothing":          {state.RecordQuery{}, ""},
		"units":            {state.RecordQuery{Units: []state.Unit{outputO.Unit, finding(2).Unit, {Kind: state.ValuesUnit}}}, "output o of output.o reads [all test_thing.a]\ntest_thing.a[2] of resource.test_thing.a reads [test_thing.a[1]]"},
		"blocks":           {state.RecordQuery{Blocks: []state.Block{repetition.Block}}, "repetition test_thing.a of repetition.resource.test_thing.a reads [test_thing.a[0]]"},
		"readers":          {state.RecordQuery{Readers: []state.Subject{thing(0)}}, "repetition test_thing.a of repetition.resource.test_thing.a reads [test_thing.a[0]]\ntest_thing.a[1] of resource.test_thing.a reads [test_thing.a[0]]"},
		"units and blocks": {state.RecordQuery{Units: []state.Unit{outputO.Unit}, Blocks: []state.Block{outputO.Block}}, "output o of output.o reads [all test_thing.a]"},
	} {
		records, err := reader(t, opt).Records(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records {
			got = append(got, fmt.Sprintf("%s of %s reads %v", r.Unit.Key(), r.Block, r.Reads))
			if r.Seen[0] != '1' || r.Given.Known() || (r.Version != state.Version{}) != (r.Unit.Kind == state.InstanceUnit) {
				t.Errorf("%s: got the record %+v, want the hash of its block and the version of its row", name, r)
			}
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
	execute(t, opt, `UPDATE mayfly.objects SET version = gen_random_uuid() WHERE address = 'test_thing.a[2]'`)
	if records, err := reader(t, opt).Records(t.Context(), state.RecordQuery{Units: []state.Unit{finding(2).Unit}}); err != nil || len(records) > 0 {
		t.Errorf("got the records %v and the error %v of an object whose row was written, want none", records, err)
	}
}

// TestRecordsInModules records units of modules, one of which is called by another.
func TestRecordsInModules(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	in, err := addr.ParseInstance(`module.a["x y"].module.b.test_thing.c["all z"]`)
	if err != nil {
		t.Fatal(err)
	}
	f := storetest.File(t, "l", 1, 0)
	f.State.SetObject(addr.Object{Instance: in}, storetest.Object(t, "old"), storetest.Provider)
	if err := manager(t, open(t, opt)).Write(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	a := addr.RootModule.Child("a")
	b := a.Child("b")
	hash := state.Hash{1}
	hashes := state.BlockHashes{
		{Module: addr.RootModule, Blocks: []state.BlockHash{{Name: "module.a", Hash: hash}}},
		{Module: a, Blocks: []state.BlockHash{{Name: "module.b", Hash: hash}}},
		{Module: b, Blocks: []state.BlockHash{{Name: "check.c", Hash: hash}, {Name: "resource.test_thing.c", Hash: hash}}},
	}
	execute(t, opt, `INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT id, u, 'object', gen_random_uuid() FROM mayfly.workspaces, unnest('{check module.a.module.b.check.c,check module.a.module.b.test_thing.c}'::text[]) u`)
	call := state.Finding{Unit: state.Unit{Kind: state.RepetitionUnit, Addr: `module.a["x y"].module.b`}, Block: state.Block{Module: a, Name: "module.b"}}
	check := state.Finding{Unit: state.Unit{Kind: state.CheckUnit, Addr: `module.a["x y"].module.b.check.c`}, Block: state.Block{Module: b, Name: "check.c"}, Reads: []state.Subject{state.InstanceSubject(in)}}
	thing := state.Finding{Unit: state.UnitOf(in), Block: state.BlockOf(in.Config()), Given: state.Hash{2}}
	m := manager(t, open(t, opt))
	base, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &run{Manager: m, t: t, who: "full", base: base, scope: scopeOf(base, nil)}
	r.scope.Hashes = hashes
	r.begin()
	s := settlement(base, momentOf(t, opt), hashes, call, check, thing)
	s.Relied[state.Subject{Kind: state.OneCheck, Addr: check.Block.String()}] = state.RowSet{}
	r.Run.(state.Recorder).Record(s)
	r.end()
	if got := due(t, opt, hashes); got != "" {
		t.Errorf("got due\n%s\nwant nothing", got)
	}
	if found, err := reader(t, opt).ReadChanged(t.Context(), hashes); err != nil || found.Objects != 1 {
		t.Errorf("got %+v and the error %v, want the number of objects", found, err)
	}
	records, err := reader(t, opt).Records(t.Context(), state.RecordQuery{Blocks: []state.Block{call.Block, check.Block, thing.Block}})
	if err != nil || len(records) != 3 || records[0].Block != check.Block || records[1].Given != (state.Hash{2}) || records[2].Unit != call.Unit {
		t.Errorf("got the records %+v and the error %v, want the ones of a check, an object and a call", records, err)
	}

	hashes[2].Blocks[1].Hash = state.Hash{3} // of another configuration
	r = planned(t, opt, "second", nil)
	r.scope = &state.Scope{Claims: state.Claims{{Kind: state.WholeState}: state.Intent, state.InstanceSubject(in): state.Exclusive}, Hashes: hashes}
	r.begin()
	r.end()
	hashes[2].Blocks[1].Hash = hash
	want := strings.Join([]string{"differs: module.a.module.b.resource.test_thing.c", in.String() + " object", `values module.a["x y"] object (void)`, `values module.a["x y"].module.b object (void)`}, "\n")
	if got := due(t, opt, hashes); got != want {
		t.Errorf("got due\n%s\nwant\n%s", got, want)
	}
}

// TestCostsOfChange counts the bytes of finding and recording a change in states of two sizes.
func TestCostsOfChange(t *testing.T) {
	var sizes [2]int64
	for i, n := range []int{200, 400} {
		opt, proxy := behind(t, n)
		base, err := manager(t, open(t, opt)).Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var found []state.Finding
		for j := range n {
			found = append(found, finding(j, max(j-1, 0)))
		}
		moment := momentOf(t, opt)
		r := planned(t, opt, "full", nil)
		r.scope.Hashes = first
		r.begin()
		r.Run.(state.Recorder).Record(settlement(base, moment, first, found...))
		r.end()
		settle(t, opt, "second", 7)
		m := manager(t, open(t, opt)).(store.ChangeReader)
		if _, _, err := m.HashKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		bytesOf := func(c tcpproxy.Counts) int64 { return c.Bytes[0] + c.Bytes[1] }
		before := bytesOf(proxy.Counts())
		c, err := m.ReadChanged(t.Context(), first)
		if err != nil || len(c.Due) != 1+1 {
			t.Fatalf("got %+v and the error %v, want a changed object and its reader", c, err)
		}
		records, err := m.Records(t.Context(), state.RecordQuery{Readers: []state.Subject{thing(7)}})
		if err != nil || len(records) != 1 {
			t.Fatalf("got %d records and the error %v, want 1", len(records), err)
		}
		sizes[i] = bytesOf(proxy.Counts()) - before
		for _, statement := range []string{
			`EXPLAIN SELECT * FROM mayfly.units u WHERE u.workspace = 1 AND u.block = ANY(ARRAY['x'])`,
			`EXPLAIN SELECT * FROM mayfly.units u WHERE u.workspace = 1 AND u.reads && ARRAY['x']`,
			`EXPLAIN SELECT 1 FROM mayfly.units u WHERE u.workspace = 1 AND u.block = 'x' AND u.seen > '\x00'`,
		} {
			if got := explained(t, opt, statement); !strings.Contains(got, "units_") {
				t.Errorf("%s: got the plan\n%s\nwant one with an index", statement, got)
			}
		}
	}
	if diff := sizes[1] - sizes[0]; diff < -100 || diff > 100 {
		t.Errorf("got %d bytes with 200 objects and %d with 400, want the same", sizes[0], sizes[1])
	}
}

// explained returns the plan of a statement when tables are not read as a whole.
func explained(t *testing.T, opt postgres.Options, statement string) string {
	t.Helper()
	db := connect(t, opt.ConnString)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(t.Context(), `SET enable_seqscan = off`); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(t.Context(), statement)
	var out []string
	for err == nil && rows.Next() {
		var line string
		err = rows.Scan(&line)
		out = append(out, line)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// TestHashKey keeps the key for hashes as long as rules of encryption stay, and encrypts it like objects.
func TestHashKey(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	key := func(opt postgres.Options) []byte {
		t.Helper()
		k, _, err := reader(t, opt).HashKey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if a, b := key(opt), key(opt); len(a) != 32 || bytes.Equal(a, b) {
		t.Errorf("got the keys %x and %x of no state, want a new one each", a, b)
	}
	clean(t, opt)
	plain := key(opt)
	change(t, opt, "a", 0)
	if again := key(opt); len(plain) != 32 || !bytes.Equal(again, plain) {
		t.Errorf("got the keys %x and %x, want one with 32 bytes", plain, again)
	}
	secret := opt
	secret.Cipher = lenient{}
	if k := key(secret); bytes.Equal(k, plain) || due(t, secret, first) != "all" {
		t.Errorf("got the key %x although it lies in clear, want a new one", k)
	}
	change(t, secret, "b", 0)
	sealed := key(secret)
	if len(sealed) != 32 || bytes.Equal(sealed, plain) {
		t.Errorf("got the key %x, want another one than before", sealed)
	}
	if got := due(t, secret, first); !strings.HasPrefix(got, "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\n") {
		t.Errorf("got due\n%s\nwant all blocks, whose hashes have another key", got)
	}
	if n := count(t, opt, fmt.Sprintf(`SELECT count(*) FROM mayfly.workspaces WHERE NOT key_sealed OR position('%x' in encode(key, 'escape')) > 0`, sealed)); n != 0 {
		t.Errorf("got %d keys in clear, want none", n)
	}
	execute(t, opt, `UPDATE mayfly.workspaces SET key = 'damaged'`)
	if k := key(secret); len(k) != 32 || slices.Equal(k, sealed) {
		t.Errorf("got the key %x of a row that cannot be read, want a new one", k)
	}
	change(t, secret, "c", 0)
	if k := key(secret); len(k) != 32 || slices.Equal(k, sealed) {
		t.Errorf("got the key %x, want a new one", k)
	}
}

// TestFirstKey has runs of a state without a key hash with new ones. The first run to claim stores its key,
// and is settled. Hashes of the others were made with keys that are lost, so they leave all due.
func TestFirstKey(t *testing.T) {
	for _, c := range []struct {
		name    string
		opt     postgres.Options
		asks    bool // the run has made its plan itself, and not read a saved one
		rival   bool // another run claims before it
		settled bool
	}{
		{name: "the first", asks: true, settled: true},
		{name: "encrypted", opt: postgres.Options{Cipher: lenient{}}, asks: true, settled: true},
		{name: "another was first", asks: true, rival: true},
		{name: "saved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.ConnString = server.Start(t).URL(0)
			opt := c.opt
			chain(t, opt)
			execute(t, opt, `UPDATE mayfly.workspaces SET key = NULL, key_sealed = false`)
			moment := momentOf(t, opt)
			r := planned(t, opt, "full", nil)
			r.scope.Hashes = first
			var key []byte
			if c.asks {
				var err error
				if key, _, err = r.Manager.(store.ChangeReader).HashKey(t.Context()); err != nil {
					t.Fatal(err)
				}
				if again, _, err := r.Manager.(store.ChangeReader).HashKey(t.Context()); err != nil || !bytes.Equal(again, key) {
					t.Errorf("got the keys %x and %x (%v) of one run, want the same", key, again, err)
				}
			}
			if c.rival {
				change(t, opt, "rival", 0)
			}
			r.begin()
			r.Run.(state.Recorder).Record(settlement(r.base, moment, first, finding(0), finding(1, 0), finding(2, 1), repetition, outputO))
			r.end()
			stored, _, err := reader(t, opt).HashKey(t.Context())
			if err != nil || bytes.Equal(stored, key) != c.settled {
				t.Errorf("got the key %x (%v), and the run has %x: want the same: %t", stored, err, key, c.settled)
			}
			if got := due(t, opt, first); (got == "") != c.settled {
				t.Errorf("got due\n%s\nwant nothing: %t", got, c.settled)
			}
			if n := count(t, opt, fmt.Sprintf(`SELECT count(*) FROM mayfly.workspaces WHERE position('%x' in encode(key, 'escape')) > 0`, stored)); (n > 0) != (opt.Cipher == nil) {
				t.Errorf("got %d keys in clear, want one unless the state is encrypted: %t", n, opt.Cipher != nil)
			}
		})
	}
}

// TestNotesHaveNoValues looks for a value in the tables of units, marks and blocks.
func TestNotesHaveNoValues(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	settle(t, opt, "canary", 0, 1)
	r := planned(t, opt, "second", nil)
	r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Results = state.Exclusive, results
	r.begin()
	r.PutOutput("o", output(t, "canary"))
	r.end()
	for _, table := range []string{"units", "due", "blocks"} {
		if n := count(t, opt, `SELECT count(*) FROM mayfly.`+table+` x WHERE position('canary' in x::text) > 0 OR position(encode('canary', 'hex') in x::text) > 0`); n != 0 {
			t.Errorf("got %d rows of %s with a value, want none", n, table)
		}
	}
	if n := count(t, opt, `SELECT count(*) FROM mayfly.units`); n != 5 {
		t.Errorf("got %d records, want 5", n)
	}
}
