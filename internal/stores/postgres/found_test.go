//go:build !mayfly_no_postgres

package postgres_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// things is the block of the objects a[i].
var things = state.BlockOf(storetest.Address("a", 0).Instance.Config())

// hashesOf returns the hashes of a configuration: things, their repetition and an output. A name is followed
// by the hash, "?" for none.
func hashesOf(of ...string) state.BlockHashes {
	m := state.ModuleHashes{Module: addr.RootModule}
	for _, text := range of {
		name, hash, _ := strings.Cut(text, " ")
		b := state.BlockHash{Name: strings.TrimPrefix(name, "!"), Always: strings.HasPrefix(name, "!")}
		if hash != "?" {
			copy(b.Hash[:], hash)
		}
		m.Blocks = append(m.Blocks, b)
	}
	return state.BlockHashes{m}
}

var first = hashesOf("output.o 1", "repetition.resource.test_thing.a 1", "resource.test_thing.a 1")

// finding returns an object a[i] that was found right, evaluated from others.
func finding(i int, from ...int) state.Finding {
	u := state.Finding{Unit: state.UnitOf(storetest.Address("a", i).Instance), Block: things}
	for _, j := range from {
		u.Reads = append(u.Reads, thing(j))
	}
	return u
}

func thing(i int) state.Subject { return state.InstanceSubject(storetest.Address("a", i).Instance) }

// all are the things.
var all = state.Subject{Kind: state.AllInstances, Addr: "test_thing.a"}

// repetition and outputO are other units: one is evaluated from a[0], and one from all things.
var (
	repetition = state.Finding{Unit: state.Unit{Kind: state.RepetitionUnit, Addr: "test_thing.a"}, Block: state.RepetitionOf(storetest.Address("a", 0).Instance.Config()), Reads: []state.Subject{thing(0)}}
	outputO    = state.Finding{Unit: state.Unit{Kind: state.OutputUnit, Addr: "o"}, Block: state.Block{Name: "output.o"}, Reads: []state.Subject{all}}
)

// results are the claimed results of a run that changes the output.
var results = map[state.Subject][]state.Finding{{Kind: state.OneOutput, Addr: "o"}: {outputO}}

// settlement returns a settlement of a full plan from a state, with the units that it has found right.
func settlement(base *state.File, moment int64, hashes state.BlockHashes, found ...state.Finding) state.Settlement {
	s := state.Settlement{Found: slices.Values(found), Relied: map[state.Subject]state.RowSet{}, Hashes: hashes, Moment: moment, Full: true}
	for _, m := range hashes {
		for _, b := range m.Blocks {
			s.Covered = append(s.Covered, state.Block{Module: m.Module, Name: b.Name})
		}
	}
	rows := state.RowSet{}
	for a, in := range base.State.AllInstances() {
		row := state.RowName{Address: a.String()}
		rows[row] = in.Current.Version
		s.Relied[state.InstanceSubject(a)] = state.RowSet{row: in.Current.Version}
	}
	s.Relied[all] = rows
	o := state.Subject{Kind: state.OneOutput, Addr: "o"}
	s.Relied[o] = state.ResultRow(o, base.State.Results())
	return s
}

// reader returns the part of a manager that says what has changed.
func reader(t *testing.T, opt postgres.Options) store.ChangeReader {
	t.Helper()
	return manager(t, open(t, opt)).(store.ChangeReader)
}

// due returns what is due, one per line: blocks that differ, and units with their reasons.
func due(t *testing.T, opt postgres.Options, hashes state.BlockHashes) string {
	t.Helper()
	c, err := reader(t, opt).ReadChanged(t.Context(), hashes)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Complete {
		return "all"
	}
	var out []string
	for _, b := range c.Blocks {
		out = append(out, "differs: "+b.String())
	}
	for _, d := range c.Due {
		text := d.Unit.Key()
		for i, word := range []string{"object", "input", "block", "row", "always"} {
			if d.Why.Has(1 << i) {
				text += " " + word
			}
		}
		if d.Record == nil {
			text += " (void)"
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// momentOf returns the moment that a plan reads.
func momentOf(t *testing.T, opt postgres.Options) int64 {
	t.Helper()
	c, err := reader(t, opt).ReadChanged(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Moment
}

// full has a run apply a full plan without changes.
func full(t *testing.T, opt postgres.Options, hashes state.BlockHashes) {
	t.Helper()
	moment := momentOf(t, opt)
	r := planned(t, opt, "full", nil)
	r.scope.Hashes = hashes
	r.begin()
	r.Run.(state.Recorder).Record(settlement(r.base, moment, hashes, finding(0), finding(1, 0), finding(2, 1), repetition, outputO))
	r.end()
}

// clean stores a state with the things a[0] to a[2] and an output, in which nothing is due.
func clean(t *testing.T, opt postgres.Options) {
	t.Helper()
	chain(t, opt)
	r := planned(t, opt, "output", nil)
	r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}] = state.Exclusive
	r.begin()
	r.PutOutput("o", output(t, "text"))
	r.end()
	full(t, opt, first)
}

// TestChanged has a full plan applied, and finds what is due for other configurations, and after other runs.
func TestChanged(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	step := func(who string, hashes state.BlockHashes, i int, from ...int) func(*testing.T) {
		return func(t *testing.T) {
			r := planned(t, opt, who, []int{i}, from...)
			r.scope.Hashes = hashes
			r.begin()
			r.commit(outcome(t, i, who, true, from...))
			r.end()
		}
	}
	other := hashesOf("output.o 1", "repetition.resource.test_thing.a 1", "resource.test_thing.a 2")
	for name, c := range map[string]struct {
		do     func(t *testing.T)
		hashes state.BlockHashes
		want   string
	}{
		"nothing":                {nil, first, ""},
		"another hash":           {nil, other, "differs: resource.test_thing.a\ntest_thing.a[0] block\ntest_thing.a[1] block\ntest_thing.a[2] block"},
		"a look at the world":    {nil, hashesOf("output.o ?", "repetition.resource.test_thing.a 1", "resource.test_thing.a 1"), "differs: output.o\noutput o block always"},
		"a data source":          {nil, hashesOf("!output.o 1", "repetition.resource.test_thing.a 1", "resource.test_thing.a 1"), "output o always"},
		"a block is gone":        {nil, hashesOf("repetition.resource.test_thing.a 1", "resource.test_thing.a 1"), "differs: output.o\noutput o block"},
		"all blocks are gone":    {nil, state.BlockHashes{}, "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o block\nrepetition test_thing.a block\ntest_thing.a[0] block\ntest_thing.a[1] block\ntest_thing.a[2] block"},
		"a new block":            {nil, hashesOf("output.n 1", "output.o 1", "repetition.resource.test_thing.a 1", "resource.test_thing.a 1"), "differs: output.n"},
		"hashes are not known":   {nil, nil, "all"},
		"a step":                 {step("second", first, 1, 0), first, "output o input\ntest_thing.a[2] input"},
		"a step and its reader":  {step("second", first, 0), first, "output o input\nrepetition test_thing.a input\ntest_thing.a[1] input"},
		"a step of another code": {step("second", other, 2, 1), first, "differs: resource.test_thing.a\noutput o input\ntest_thing.a[2] block"},
		"an older program":       {step("second", nil, 2, 1), first, "differs: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o input\ntest_thing.a[2] block"},
		"a change without a step": {func(t *testing.T) {
			r := planned(t, opt, "second", []int{2})
			r.scope.Hashes = first
			r.begin()
			r.Put(state.ObjectChange{Object: storetest.Address("a", 2), Provider: storetest.Provider, New: storetest.Object(t, "second")})
			r.end()
		}, first, "output o input\ntest_thing.a[2] object (void)"},
		"a run that is killed": {func(t *testing.T) {
			r := planned(t, opt, "second", []int{2})
			r.scope.Hashes = first
			r.begin()
		}, first, "test_thing.a[2] object"},
		"a tainted object": {func(t *testing.T) {
			o := storetest.Object(t, "first").Clone()
			o.Tainted = true
			r := planned(t, opt, "second", []int{2})
			r.scope.Hashes = first
			r.begin()
			r.commit(state.ObjectChange{Object: storetest.Address("a", 2), Provider: storetest.Provider, New: o, Step: &state.Step{Settled: true}})
			r.end()
		}, first, "test_thing.a[2] row"},
		"a claimed output": {func(t *testing.T) {
			r := planned(t, opt, "second", nil)
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Hashes, r.scope.Results = state.Exclusive, first, results
			r.begin()
			r.PutOutput("o", output(t, "other"))
			r.end()
		}, first, ""},
		"an output of another code": {func(t *testing.T) {
			r := planned(t, opt, "second", nil)
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Hashes, r.scope.Results = state.Exclusive, hashesOf("output.o 2"), results
			r.begin()
			r.PutOutput("o", output(t, "other"))
			r.end()
		}, first, "differs: output.o\noutput o block"},
		"an output that is gone": {func(t *testing.T) {
			r := planned(t, opt, "second", nil)
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Hashes, r.scope.Results = state.Exclusive, state.BlockHashes{}, results
			r.begin()
			r.PutOutput("o", nil)
			r.end()
		}, first, "differs: output.o"},
		"the record of an output that is gone": {func(t *testing.T) {
			r := planned(t, opt, "second", nil)
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Hashes, r.scope.Results = state.Exclusive, state.BlockHashes{}, results
			r.begin()
			r.PutOutput("o", nil)
			r.end()
		}, hashesOf("repetition.resource.test_thing.a 1", "resource.test_thing.a 1"), "differs: output.o"},
		"an output that is null, and a change of what it is made of": {func(t *testing.T) {
			r := planned(t, opt, "second", nil)
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Hashes, r.scope.Results = state.Exclusive, first, results
			r.begin()
			r.PutOutput("o", nil)
			r.end()
			step("second", first, 2, 1)(t)
		}, first, "output o input"},
		"an output by a program without records": {func(t *testing.T) {
			r := planned(t, opt, "second", nil)
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}], r.scope.Hashes = state.Exclusive, first
			r.begin()
			r.PutOutput("o", output(t, "other"))
			r.end()
		}, first, "output o object"},
		"a push": {func(t *testing.T) {
			m := manager(t, open(t, opt))
			f, err := m.Read(t.Context())
			if err == nil {
				f.Serial++
				err = m.Write(t.Context(), f)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, first, "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o object"},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t, opt)
			if c.do != nil {
				c.do(t)
			}
			if got := due(t, opt, c.hashes); got != c.want {
				t.Errorf("got due\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestFound has a plan find units right, and something happen before the apply ends. Units stay due that were
// evaluated from something else than there is, and blocks without a hash.
func TestFound(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	second := hashesOf("output.o 2", "repetition.resource.test_thing.a 2", "resource.test_thing.a 2")
	stays := "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\n"
	for name, c := range map[string]struct {
		objects []int // that the run changes
		before  func(t *testing.T)
		during  func(t *testing.T, r *run)
		want    string
	}{
		"nothing": {nil, nil, nil, ""},
		"changes of the run itself": {[]int{1}, nil, func(t *testing.T, r *run) {
			r.commit(outcome(t, 1, "second", true, 0))
		}, ""},
		"an object is removed by the run": {[]int{1}, nil, func(t *testing.T, r *run) {
			r.commit(state.ObjectChange{Object: storetest.Address("a", 1), Step: &state.Step{Settled: true}})
		}, "test_thing.a[1] object (void)"},
		"a value that was read is another one": {
			nil, func(t *testing.T) { settle(t, opt, "other", 0) }, nil,
			stays + "output o input block\nrepetition test_thing.a input block\ntest_thing.a[0] block\ntest_thing.a[1] input block",
		},
		"an object is another one": {
			nil, func(t *testing.T) { settle(t, opt, "other", 2) }, nil,
			"differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o input block\ntest_thing.a[2] block",
		},
		"another run is to change a value": {nil, nil, func(t *testing.T, _ *run) {
			planned(t, opt, "other", []int{0}).begin()
		}, stays + "output o block\nrepetition test_thing.a block\ntest_thing.a[0] object block\ntest_thing.a[1] block"},
		"an object is gone": {nil, func(t *testing.T) {
			r := planned(t, opt, "other", []int{1})
			r.scope.Hashes = first
			r.begin()
			r.commit(state.ObjectChange{Object: storetest.Address("a", 1), Step: &state.Step{Settled: true}})
			r.end()
		}, nil, "differs: output.o\ndiffers: resource.test_thing.a\noutput o input block\ntest_thing.a[1] object (void)\ntest_thing.a[2] input block"},
		"an object is new": {nil, func(t *testing.T) {
			r := planned(t, opt, "other", []int{5})
			r.scope.Hashes = second
			r.begin()
			r.commit(outcome(t, 5, "other", true))
			r.end()
		}, nil, "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o input block"},
		"another run has stopped in an operation": {nil, nil, func(t *testing.T, _ *run) {
			r := planned(t, opt, "other", []int{5})
			r.scope.Hashes = second
			r.begin()
			if _, err := r.Begin(storetest.Address("a", 5), "create"); err != nil {
				t.Fatal(err)
			}
			execute(t, opt, `UPDATE mayfly.runs SET state = 'lapsed' WHERE id = (SELECT run FROM mayfly.operations WHERE ended IS NULL)`)
		}, "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o block\ntest_thing.a[5] object (void)"},
		"another run is to make an object": {nil, nil, func(t *testing.T, _ *run) {
			r := planned(t, opt, "other", []int{5})
			r.scope.Hashes = second
			r.begin()
		}, "differs: output.o\ndiffers: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o block\ntest_thing.a[5] object (void)"},
		"another run has come and gone": {nil, func(t *testing.T) {
			r := planned(t, opt, "other", []int{5})
			r.begin()
			r.end()
		}, nil, "differs: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\ntest_thing.a[5] object (void)"},
		"a unit has seen another hash": {nil, func(t *testing.T) {
			execute(t, opt, `INSERT INTO mayfly.units (workspace, unit, kind, block, reads, seen) SELECT id, 'repetition x', 'repetition', 'repetition.resource.test_thing.a', '{}', '\xff' FROM mayfly.workspaces`)
		}, nil, "differs: repetition.resource.test_thing.a\nrepetition x block"},
		"a late result": {nil, func(t *testing.T) {
			execute(t, opt, `INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT id, 'check test_thing.a', 'object', gen_random_uuid() FROM mayfly.workspaces`)
			execute(t, opt, `INSERT INTO mayfly.late (run, batch, workspace, address, deposed, sealed) SELECT id, 7, workspace, 'test_thing.a[1]', '', false FROM mayfly.runs LIMIT 1`)
		}, nil, "differs: output.o\ndiffers: resource.test_thing.a\ncheck test_thing.a object (void)\noutput o block\ntest_thing.a[1] block\ntest_thing.a[2] block"},
		"units without records": {nil, func(t *testing.T) {
			execute(t, opt, `DELETE FROM mayfly.units`)
			settle(t, opt, "other", 0)
		}, nil, "differs: repetition.resource.test_thing.a\ndiffers: resource.test_thing.a\noutput o object (void)\nrepetition test_thing.a object (void)\ntest_thing.a[0] block\ntest_thing.a[1] object (void)"},
		"an object with another version": {nil, func(t *testing.T) {
			execute(t, opt, `UPDATE mayfly.objects SET version = gen_random_uuid() WHERE address = 'test_thing.a[1]'`)
		}, nil, "differs: output.o\ndiffers: resource.test_thing.a\noutput o block\ntest_thing.a[1] object (void)\ntest_thing.a[2] block"},
		"another run has the state": {nil, nil, func(t *testing.T, _ *run) {
			execute(t, opt, `INSERT INTO mayfly.runs (id, workspace, state, info, lease_until) SELECT '00000000-0000-0000-0000-000000000001', id, 'claimed', '{}', clock_timestamp() + interval '1 hour' FROM mayfly.workspaces`)
			execute(t, opt, `INSERT INTO mayfly.claims (workspace, key, run, mode) SELECT id, '', '00000000-0000-0000-0000-000000000001', 'x' FROM mayfly.workspaces`)
		}, stays + "output o block\nrepetition test_thing.a block\ntest_thing.a[0] block\ntest_thing.a[1] block\ntest_thing.a[2] block"},
		"the claims are lost": {nil, nil, func(t *testing.T, _ *run) {
			execute(t, opt, `CREATE FUNCTION mayfly.lapse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE mayfly.runs SET state = ''forced''; RETURN NEW; END'`)
			execute(t, opt, `CREATE TRIGGER lapse AFTER DELETE ON mayfly.openings FOR EACH STATEMENT EXECUTE FUNCTION mayfly.lapse()`)
		}, stays + "output o block\nrepetition test_thing.a block\ntest_thing.a[0] block\ntest_thing.a[1] block\ntest_thing.a[2] block"},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t, opt)
			moment := momentOf(t, opt)
			r := planned(t, opt, "second", c.objects)
			r.scope.Hashes = second
			if c.before != nil {
				c.before(t)
			}
			r.begin()
			if c.during != nil {
				c.during(t, r)
			}
			found := []state.Finding{finding(0), finding(1, 0), finding(2, 1), repetition, outputO}
			r.Run.(state.Recorder).Record(settlement(r.base, moment, second, found...))
			if _, err := r.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := due(t, opt, second); got != c.want {
				t.Errorf("got due\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestGone has units vanish: with their block, and with the configuration of something that has no row.
func TestGone(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	clean(t, opt)
	without := hashesOf("repetition.resource.test_thing.a 1", "resource.test_thing.a 1")
	gone := outputO
	gone.Gone = true
	stale := state.Finding{Unit: finding(7).Unit, Block: things, Gone: true}
	execute(t, opt, `INSERT INTO mayfly.due (workspace, unit, kind, run) SELECT id, 'test_thing.a[7]', 'object', gen_random_uuid() FROM mayfly.workspaces`)
	there := finding(2, 1)
	there.Gone = true
	end := func(remove bool) {
		t.Helper()
		moment := momentOf(t, opt)
		r := planned(t, opt, "second", nil)
		r.scope.Hashes = without
		if remove {
			r.scope.Claims[state.Subject{Kind: state.OneOutput, Addr: "o"}] = state.Exclusive
		}
		r.begin()
		if remove {
			r.PutOutput("o", nil)
		}
		r.Run.(state.Recorder).Record(settlement(r.base, moment, without, gone, stale, there))
		r.end()
	}
	end(false)
	if got := due(t, opt, without); got != "differs: output.o\noutput o block" {
		t.Errorf("got due\n%s\nwant the output, which the state has", got)
	}
	if records, err := reader(t, opt).Records(t.Context(), state.RecordQuery{Units: []state.Unit{there.Unit}}); err != nil || len(records) != 1 {
		t.Errorf("got the records %v and the error %v of an object that the state has, want the one from before", records, err)
	}
	end(true)
	if got := due(t, opt, without); got != "" {
		t.Errorf("got due\n%s\nwant nothing", got)
	}
	if got := due(t, opt, first); got != "differs: output.o" {
		t.Errorf("got due\n%s\nwant the block of the output for a configuration that has it", got)
	}
}

// TestFirstFullPlan marks the objects that the first full plan has found nothing about.
func TestFirstFullPlan(t *testing.T) {
	opt := postgres.Options{ConnString: server.Start(t).URL(0)}
	chain(t, opt)
	execute(t, opt, `DELETE FROM mayfly.units WHERE unit <> 'test_thing.a[2]'`)
	execute(t, opt, `UPDATE mayfly.units SET version = gen_random_uuid(), seen = decode('31' || repeat('00', 31), 'hex')`)
	end := func(hashes state.BlockHashes, full bool, want string) {
		t.Helper()
		moment := momentOf(t, opt)
		r := planned(t, opt, "first", nil)
		r.scope.Hashes = hashes
		r.begin()
		s := settlement(r.base, moment, first, finding(0), finding(1, 0))
		s.Full = full
		r.Run.(state.Recorder).Record(s)
		r.end()
		if got := due(t, opt, first); got != want {
			t.Errorf("got due\n%s\nwant\n%s", got, want)
		}
	}
	end(nil, true, "all")
	end(first, false, "all")
	execute(t, opt, `UPDATE mayfly.workspaces SET tracked = moment + 2`)
	end(first, true, "all")
	end(first, true, "test_thing.a[2] object (void)")
}
