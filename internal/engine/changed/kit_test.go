package changed

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blockhash"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks/blockstest"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/state"
)

// host evaluates without providers: objects have their addresses as IDs.
type host struct{}

func (host) WithOpened(_ *future.Task, _ *eval.Value, f func(*eval.Opened)) { f(eval.NewOpened(nil)) }

func (host) ConfiguredFunctions(*future.Task, *eval.ProviderObject) (map[string]*schema.Function, bool) {
	return nil, true
}

func (host) CallFunction(*future.Task, eval.FunctionCall) (cty.Value, error) {
	return cty.DynamicVal, nil
}

func result(_ *future.Task, in *eval.Instance) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(in.Addr().String()), "name": cty.DynamicVal})
}

// ledger is what a store says about a configuration: blocks with other hashes, and units that are due. A
// record has its unit, its block and what it reads.
type ledger struct {
	blocks, due []string
	records     [][]string
	stored      []string // objects of the state
	force       []string
	refresh     []string // targets
	old         []string // instances that were not read for long
	altered     []string // by planning
	incomplete  bool
	fails       string // what fails: planning, records or rows
}

// planning is a plan for the work that a ledger has.
type planning struct {
	t       testing.TB
	l       *ledger
	w       *Work
	first   state.Part
	run     *eval.Run
	planned []string // instances, with / between levels
	read    []string
	late    []string // checks and root outputs
	gone    []string
	joins   string // an instance that planning finds to have work
	ok      bool

	asked     int      // for records
	loaded    []string // objects
	resources []string // that were queued
}

var errLost = errors.New("lost")

func (p *planning) records(_ context.Context, q state.RecordQuery) (out []state.Record, _ error) {
	p.asked++
	if p.l.fails == "records" {
		return nil, errLost
	}
	for _, r := range p.l.records {
		rec := record(r)
		readers := slices.ContainsFunc(q.Readers, func(s state.Subject) bool { return slices.Contains(rec.Reads, s.Key()) })
		if readers || slices.Contains(q.Units, rec.Unit) || slices.Contains(q.Blocks, rec.Block) {
			out = append(out, rec)
		}
	}
	return out, nil
}

func record(words []string) state.Record {
	return state.Record{Unit: state.ParseUnit(words[0]), Block: state.ParseBlock(words[1]), Reads: words[2:], Given: state.Hash{9}}
}

// fetch reads all objects that are kept, whatever is asked for.
func (p *planning) fetch(_ context.Context, part state.Part, keep func(addr.Instance) bool) (*state.State, error) {
	if p.l.fails == "rows" {
		return nil, errLost
	}
	for _, s := range part.Subjects {
		p.read = append(p.read, s.Key())
	}
	st := state.New()
	for _, text := range p.l.stored {
		if a, err := addr.ParseInstance(text); err == nil && keep(a) {
			st.SetObject(addr.Object{Instance: a}, &state.Object{}, addr.ProviderConfig{})
		}
	}
	return st, nil
}

// Load implements Planner.
func (p *planning) Load(found *state.State) {
	if found == nil {
		p.t.Error("got no state to load, want the objects that were read")
		return
	}
	for a := range found.AllInstances() {
		p.loaded = append(p.loaded, a.String())
	}
}

// Resource implements Planner.
func (p *planning) Resource(r *eval.Resource) {
	p.resources = append(p.resources, r.Addr().String())
	if p.joins != "" {
		p.w.Join(instance(p.t, p.joins))
		p.joins = ""
	}
	instances, _ := r.Instances(&future.Task{})
	for _, in := range instances {
		if p.w.Plans(in.Addr(), r.Block) {
			p.planned = append(p.planned, in.Addr().String())
		}
	}
}

// Results implements Planner.
func (p *planning) Results(m *eval.Module, due func(string) bool) {
	for _, name := range []string{"check.c", "output.o", "output.p", "var.v"} {
		if due(name) {
			p.late = append(p.late, m.Addr.Join(name))
		}
	}
}

// Wait implements Planner.
func (p *planning) Wait() bool {
	p.planned = append(p.planned, "/")
	return p.l.fails != "planning"
}

// Altered implements Planner.
func (p *planning) Altered(a addr.Instance) bool { return slices.Contains(p.l.altered, a.String()) }

func instance(t testing.TB, text string) addr.Instance {
	t.Helper()
	a, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func compile(t testing.TB, main, module string) (*blocks.Config, *blockhash.Set) {
	t.Helper()
	tree, diags := (&config.Loader{FS: fstest.MapFS{"main.tf": {Data: []byte(main)}, "m/main.tf": {Data: []byte(module)}, "m/n/main.tf": {Data: []byte("resource \"t\" \"k\" {}\n")}}}).Load(".")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	cfg, diags := blocks.Compile(tree, blockstest.Schemas{"made": {Type: cty.String, Computed: true}, "name": {Type: cty.DynamicPseudoType, Optional: true}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	set, err := blockhash.Of(cfg, blockhash.Inputs{Key: []byte("key"), WorkDir: "/", Version: func(addr.Provider) (string, bool) { return "1", true }})
	if err != nil {
		t.Fatal(err)
	}
	return cfg, set
}

// newPlanning returns a plan that has not been made yet.
func newPlanning(t testing.TB, l *ledger, main, module string) *planning {
	t.Helper()
	cfg, set := compile(t, main, module)
	p := &planning{t: t, l: l}
	found := &state.Changed{Complete: !l.incomplete}
	for _, b := range l.blocks {
		found.Blocks = append(found.Blocks, state.ParseBlock(b))
	}
	for _, text := range l.due {
		d := state.Due{Unit: state.ParseUnit(text)}
		for _, r := range l.records {
			if rec := record(r); rec.Unit == d.Unit {
				d.Record = &rec
			}
		}
		found.Due = append(found.Due, d)
	}
	var asked Asked
	for _, text := range l.force {
		asked.Replace = append(asked.Replace, instance(t, text))
	}
	for _, text := range l.old {
		asked.Old = append(asked.Old, instance(t, text))
	}
	for _, text := range l.refresh {
		target, err := addr.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		asked.Refresh = append(asked.Refresh, target)
	}
	p.w, p.first = New(cfg, set.Components(), Source{Found: found, Records: p.records, Fetch: p.fetch, Rows: &atomic.Int64{}}, asked)
	p.run = eval.NewRun(cfg, eval.Options{Phase: eval.Planning, Host: host{}, Result: result, WorkDir: "/"})
	return p
}

// plan plans the work.
func (p *planning) plan() {
	pool := future.NewPool(1)
	gone, ok := p.w.Plan(p.t.Context(), p.run, pool, p)
	pool.Wait()
	p.ok = ok
	for _, r := range gone {
		p.gone = append(p.gone, r.String())
	}
}

// outcome describes what was planned.
func (p *planning) outcome() string {
	if why := p.w.Full(); why != "" {
		return "full: " + why
	}
	if !p.ok {
		if list := p.run.Diags.List(); list.HasErrors() {
			return "error: " + list[0].Detail
		}
		return "failed"
	}
	out := strings.Join(p.planned, " ")
	for _, part := range []struct {
		word string
		list []string
	}{{"late", p.late}, {"gone", p.gone}} {
		if len(part.list) > 0 {
			out += " " + part.word + " " + strings.Join(part.list, " ")
		}
	}
	return strings.TrimSpace(out)
}
