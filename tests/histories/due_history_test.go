package histories

import (
	"context"
	"database/sql"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lib/pq"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/stores/postgres"
	server "github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// dues is a history of few runs at a time, after each of which all that a plan would find to do has to be
// due. There are two branches of the configuration.
type dues struct {
	*history
	r        *mathrand.Rand
	branches [2]*design
	acts     map[int]*act // by the numbers of their runs
	// entries are the hashes of blocks that the state would keep: an apply takes away those of blocks that it
	// changes under another hash, and sets those of all that it has covered.
	entries hashes
	log     []string
	sum     map[string]int
}

// act is a run with its configuration.
type act struct {
	*run
	what  string
	now   hashes
	whole bool // it applies all of the configuration, alone
}

func newDues(t *testing.T, s *server.Server, db *sql.DB, seed uint64) *dues {
	t.Helper()
	r := mathrand.New(mathrand.NewPCG(seed, 3))
	d := &dues{
		history: &history{t: t, server: s, db: db, workspace: fmt.Sprint("due", seed), lease: time.Minute, w: newWorld(t), freed: map[string]bool{}},
		r:       r, acts: map[int]*act{}, entries: hashes{}, sum: map[string]int{},
	}
	d.branches[0] = newDesign(r)
	d.branches[1] = d.branches[0].clone()
	for range 2 {
		d.branches[1].edit(r)
	}
	var err error
	if d.store, err = postgres.New(postgres.Options{ConnString: s.URL(0), Lease: d.lease}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.store.Close)
	if err := d.store.CreateWorkspace(t.Context(), d.workspace); err != nil {
		t.Fatal(err)
	}
	return d
}

// one returns an act of a branch that does nothing yet.
func (d *dues) one(what string, branch *design) *act {
	a := &act{what: what, run: &run{number: len(d.runs) + 1, seed: d.r.Uint64(), mode: plan.Normal, lease: time.Minute, dead: make(chan struct{}), wait: time.Second}}
	a.design = branch.clone()
	d.runs = append(d.runs, a.run)
	d.acts[a.number] = a
	return a
}

// apply draws an apply.
func (d *dues) apply(branch *design) *act {
	r := d.r
	pick := func() string { return branch.address(r.IntN(len(branch.pieces))) }
	a := d.one("apply", branch)
	a.whole = true
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		a.targets, a.whole = []string{pick()}, false
	case 4:
		a.exclude, a.whole = []string{pick()}, false
	case 5:
		if i, ok := d.any(); ok {
			a.replace = []string{i.String()}
		}
	case 6:
		a.mode, a.targets, a.whole = plan.Destroy, []string{pick()}, false
	case 7:
		a.mode, a.whole = plan.RefreshOnly, false
	}
	switch r.IntN(8) {
	case 0, 1:
		a.failing = 40
	case 2:
		a.diesIn, a.lease = 1+r.IntN(4), 3*time.Second // for which a dead run tries to store its results
	case 3:
		a.lapsesIn, a.freed, a.whole = 1+r.IntN(3), r.IntN(2) == 0, false
	}
	a.what = fmt.Sprintf("apply (mode %d) targets %v excludes %v replacing %v, failing %d%%, dying in %d, lapsing in %d (freed: %v)", a.mode, a.targets, a.exclude, a.replace, a.failing, a.diesIn, a.lapsesIn, a.freed)
	return a
}

// any draws an instance of the state.
func (d *dues) any() (addr.Instance, bool) {
	var all []addr.Instance
	for i, in := range d.read().AllInstances() {
		if i.Resource.Mode == addr.Managed && in.Current != nil {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return addr.Instance{}, false
	}
	return all[d.r.IntN(len(all))], true
}

// lapseIn has the leases of a run end while it is in an operation.
func (h *history) lapseIn(r *run) {
	h.lapse("claimed")
	if !r.freed {
		return
	}
	for _, one := range h.holders() {
		if one.number == r.number {
			_ = h.manager().ForceUnlock(context.Background(), one.id) // which fails if it has ended meanwhile
		}
	}
}

// step carries out acts, one or two at the same time, and checks what is due then.
func (d *dues) step() {
	i := d.r.IntN(2)
	for range d.r.IntN(2) {
		d.branches[i].edit(d.r)
	}
	if d.r.IntN(6) == 0 {
		d.drift()
	}
	var acts []*act
	switch n := d.r.IntN(10); {
	case n < 6:
		acts = append(acts, d.apply(d.branches[i]))
	case n == 6:
		acts = append(acts, d.apply(d.branches[0]), d.apply(d.branches[1]))
		for _, a := range acts {
			a.whole = false
		}
	default:
		if a := d.byHand(d.branches[i]); a != nil {
			acts = append(acts, a)
		}
	}
	d.carryOutActs(acts)
	d.check()
}

func (d *dues) carryOutActs(acts []*act) {
	var all sync.WaitGroup
	for _, a := range acts {
		all.Go(func() { d.start(a.run) })
	}
	all.Wait()
	d.lapse("claimed")
	d.free()
	for _, a := range acts {
		d.log = append(d.log, fmt.Sprintf("run %d: %s: dead %v, %v", a.number, a.what, a.isDead(), a.diags.Err()))
		a.now = d.plan(a.design, nil).now
		d.count(a)
	}
	for _, a := range acts {
		d.forget(a)
	}
	for _, a := range acts {
		d.keep(a, acts)
	}
}

// count counts what became of an act.
func (d *dues) count(a *act) {
	switch {
	case a.isDead():
		d.sum["killed"]++
	case a.ok():
		d.sum["succeeded"]++
	default:
		d.sum["failed: "+a.diags[0].Summary]++
	}
}

// forget takes away the entries of blocks that an act has claimed under other hashes.
func (d *dues) forget(a *act) {
	if a.shown == nil || a.shown.Scope == nil {
		return
	}
	for s, mode := range a.shown.Scope.Claims {
		if s.Kind != state.OneInstance || mode != state.Exclusive {
			continue
		}
		for _, e := range entriesOf(parsed(d.t, addr.ParseInstance, s.Addr)) {
			if now, is := a.now[e]; !is || now != d.entries[e] {
				delete(d.entries, e)
			}
		}
	}
}

// readDestroyed reports whether one of some acts has evaluated an instance without an object that the act
// destroys: the step leaves a mark then.
func readDestroyed(acts []*act, of addr.Instance) bool {
	return slices.ContainsFunc(acts, func(a *act) bool {
		return a.shown != nil && slices.ContainsFunc(a.shown.Changes, func(c *plan.Change) bool {
			return c.Addr == of && slices.ContainsFunc(c.Deps, a.shown.Undeclared().Touched)
		})
	})
}

// keep sets the entries of blocks that an act has covered, unless one of their units has seen another hash.
// beside are all acts that were carried out together.
func (d *dues) keep(a *act, beside []*act) {
	if !a.whole || !a.ok() || a.shown == nil || !a.shown.Complete() {
		return
	}
	after := d.stock()
	others, some := map[string]bool{}, map[string]bool{}
	for name, u := range after.units {
		block := entriesOf(parsed(d.t, addr.ParseInstance, name))[0]
		some[block] = true
		if u.valid && u.seen != nil && u.seen[block] != a.now[block] {
			others[block] = true
		}
	}
	for e, h := range a.now {
		if !others[e] {
			d.entries[e] = h
		}
	}
	for e := range d.entries {
		if _, is := a.now[e]; !is && !some[e] {
			delete(d.entries, e)
		}
	}
	for _, c := range a.shown.Changes {
		if u := after.units[c.Addr.String()]; u != nil && u.row && c.Addr.Resource.Mode == addr.Managed {
			d.sum["objects of whole applies"]++
			if u.marked {
				d.sum["with marks after them"]++
			}
			if len(after.due(a.design, c.Addr, a.now, false)) > 0 {
				d.sum["due after them"]++
			}
			// Whatever is destroyed after the step marks it as one that has read it.
			if changed := c.Action != plan.NoOp && c.Deposed == addr.Current; changed && (u.object && !readDestroyed(beside, c.Addr) || !u.valid) {
				d.t.Errorf("%s is due although the run %d has changed it and has succeeded", c.Addr, a.number)
			}
		}
	}
}

// planned is a full plan without refreshing.
type planned struct {
	*plan.Plan
	diags diag.List
	now   hashes
}

// plan plans, and hashes the configuration. With nil, it only hashes.
func (d *dues) plan(branch *design, opt *mayfly.PlanOptions) planned {
	d.t.Helper()
	m, err := d.store.Manager(d.workspace)
	if err != nil {
		d.t.Fatal(err)
	}
	r := &run{design: branch, dead: make(chan struct{}), seed: 3}
	p, diags := d.open(r, d.t.TempDir(), m)
	if diags.HasErrors() {
		d.t.Fatal(diags.Err())
	}
	defer p.Close()
	now, err := hashesOf(p)
	if err != nil {
		d.t.Fatal(err)
	}
	if opt == nil {
		return planned{now: now}
	}
	op, diags := p.Begin(context.Background(), "plan", mayfly.BeginOptions{Reads: true})
	if diags.HasErrors() {
		d.t.Fatal(diags.Err())
	}
	out, diags := op.Plan(context.Background(), *opt)
	return planned{out, append(diags, op.End()...), now}
}

// check compares what is due with what full plans of the branches find.
func (d *dues) check() {
	d.t.Helper()
	s := d.stock()
	for n, branch := range d.branches {
		p := d.plan(branch, &mayfly.PlanOptions{Mode: plan.Normal, SkipRefresh: true})
		wrong := s.inconsistent(p.now)
		if p.Plan != nil {
			d.sum["plans"]++
			for _, c := range p.Changes {
				if c.Action != plan.NoOp {
					d.sum["changes of plans"]++
				}
			}
			if p.Errored {
				d.sum["plans with errors"]++
			}
			wrong = append(wrong, s.overlooked(branch, p, d.sum)...)
		} else {
			d.sum["no plans"]++
			d.log = append(d.log, "no plan: "+p.diags.Err().Error())
		}
		for _, text := range wrong {
			d.t.Errorf("in the branch %d, %s", n, text)
		}
	}
}

// stock reads what is due.
func (d *dues) stock() *stock {
	d.t.Helper()
	s := &stock{units: map[string]*unit{}, entries: d.entries}
	of := func(name string) *unit {
		if s.units[name] == nil {
			s.units[name] = &unit{}
		}
		return s.units[name]
	}
	in := ` WHERE workspace = (SELECT id FROM mayfly.workspaces WHERE name = '` + d.workspace + `')`
	d.rows(func(scan func(...any) error) error {
		var name, deposed, by string
		var telling, valid bool
		err := scan(&name, &deposed, &telling, &valid, &by)
		u := of(name)
		u.telling = u.telling || telling || deposed != ""
		if deposed == "" {
			u.row, u.valid = true, valid
			if a := d.acts[number(strings.TrimPrefix(by, "run "))]; a != nil {
				u.seen = a.now
			}
		}
		return err
	}, `SELECT o.address, o.deposed, o.tainted OR o.owes, EXISTS (SELECT 1 FROM mayfly.units u WHERE u.workspace = o.workspace AND u.unit = o.address AND u.version = o.version),
		COALESCE((SELECT info->>'Operation' FROM mayfly.runs r WHERE r.id = o.run), '') FROM mayfly.objects o`+in)
	d.rows(func(scan func(...any) error) error {
		var name string
		var reads []string
		err := scan(&name, pq.Array(&reads))
		for _, key := range reads {
			_, key, _ = strings.Cut(key, " ")
			of(name).reads = append(of(name).reads, key)
		}
		return err
	}, `SELECT unit, reads FROM mayfly.units`+in+` AND kind = 'instance'`)
	d.rows(func(scan func(...any) error) error {
		var name string
		var object bool
		err := scan(&name, &object)
		if _, parses := addr.ParseInstance(name); parses == nil {
			of(name).marked = true
			of(name).object = of(name).object || object
		}
		return err
	}, `SELECT unit, kind = 'object' FROM mayfly.due`+in)
	for name := range s.units {
		if strings.HasPrefix(name, "data.") || strings.Contains(name, ".data.") {
			delete(s.units, name)
		}
	}
	return s
}

// rows calls f for each row that a statement finds.
func (d *dues) rows(f func(scan func(...any) error) error, statement string) {
	d.t.Helper()
	rows, err := d.db.Query(statement)
	if err != nil {
		d.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
}
