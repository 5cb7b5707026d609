package histories

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// unrecorded compares the records of the units of a branch with what a plan of all of them finds. A unit that
// is not due has a record with all that it was evaluated from, or else no change of that makes it due.
func (d *dues) unrecorded(branch *design) (wrong []string) {
	d.t.Helper()
	in := ` WHERE name = '` + d.workspace + `'`
	var complete bool
	d.rows(func(scan func(...any) error) error { return scan(&complete) }, `SELECT complete FROM mayfly.workspaces`+in)
	if !complete {
		return nil
	}
	d.change(`UPDATE mayfly.workspaces SET complete = false` + in)
	p := d.plan(branch, &mayfly.PlanOptions{Mode: plan.Normal, SkipRefresh: true, Scope: mayfly.ScopeChanged})
	d.change(`UPDATE mayfly.workspaces SET complete = true` + in)
	if p.Plan == nil || p.Settling == nil {
		return nil
	}
	units := map[state.Unit]state.Finding{}
	for _, u := range p.Settling.Units {
		if !u.Gone {
			units[u.Unit] = u
		}
	}
	for _, c := range p.Changes {
		if c.Action == plan.NoOp && c.Deposed == addr.Current && !c.Moved() {
			u := state.UnitOf(c.Addr)
			units[u] = state.Finding{Unit: u, Block: state.BlockOf(c.Addr.Config()), Reads: plan.Subjects(c.Deps)}
		}
	}
	for _, o := range p.Outputs {
		if reads := plan.Subjects(o.Deps); o.Action == plan.NoOp && len(reads) > 0 {
			u := state.Unit{Kind: state.OutputUnit, Addr: o.Name}
			units[u] = state.Finding{Unit: u, Block: state.Block{Name: "output." + o.Name}, Reads: reads}
		}
	}
	m := d.manager().(store.ChangeReader)
	found, err := m.ReadChanged(context.Background(), p.Settling.Hashes)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, due := range found.Due {
		for u, f := range units {
			if u == due.Unit || u.Kind == state.CheckUnit && due.Unit.Kind == state.CheckUnit && f.Block == state.CheckBlock(due.Unit.Addr) {
				delete(units, u)
			}
		}
	}
	maps.DeleteFunc(units, func(u state.Unit, f state.Finding) bool {
		// depends_on has a part in the reads of outputs and locals, and none in their values.
		ordered := branch.ordered() && (u.Kind == state.OutputUnit || u.Kind == state.ValuesUnit)
		return ordered || slices.Contains(found.Blocks, f.Block)
	})
	records, err := m.Records(context.Background(), state.RecordQuery{Units: slices.Collect(maps.Keys(units))})
	if err != nil {
		d.t.Fatal(err)
	}
	d.sum["compared records"] += len(units)
	has := map[state.Unit]string{}
	for _, r := range records {
		has[r.Unit] = "the reads " + strings.Join(r.Reads, ", ")
	}
	for u, f := range units {
		var keys []string
		for _, s := range f.Reads {
			keys = append(keys, s.Key())
		}
		if want := "the reads " + strings.Join(keys, ", "); has[u] != want {
			wrong = append(wrong, fmt.Sprintf("record of %s: got %q, want %q", u.Key(), has[u], want))
		}
	}
	return wrong
}

// change carries out a statement.
func (d *dues) change(text string) {
	d.t.Helper()
	if _, err := d.db.Exec(text); err != nil {
		d.t.Fatal(err)
	}
}
