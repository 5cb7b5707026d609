package histories

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Version says that the providers of a run always have the same version.
func (l launcher) Version(addr.Provider) (string, bool) { return "1.0.0", true }

// Record implements state.Recorder.
func (j *journal) Record(s state.Settlement) { j.Run.(state.Recorder).Record(s) }

// TestSettled has random runs and commands change a state, and applies with the scope of a change among them.
// After each of these, a full plan without refreshing finds nothing to do. When the other runs have stopped,
// two of them leave no mark, and a hash of each block.
func TestSettled(t *testing.T) {
	carryOutDues(t, func(d *dues) {
		for range 3 { // the first one makes the key for hashes, and the second finds all right
			d.settle(d.branches[0])
		}
		for range 10 {
			if d.changeSomething(); d.t.Failed() {
				return
			}
		}
		d.comeToRest()
	})
}

// changeSomething edits a branch, and carries out an apply or a command, and one with the scope of a change.
func (d *dues) changeSomething() {
	i := d.r.IntN(2)
	for range d.r.IntN(3) {
		d.branches[i].edit(d.r)
	}
	switch d.r.IntN(5) {
	case 0:
		d.carryOutActs([]*act{d.apply(d.branches[i])})
	case 1:
		if a := d.byHand(d.branches[i]); a != nil {
			d.carryOutActs([]*act{a})
		}
	case 2: // two at once; the other one may fail or die
		a := d.apply(d.branches[1-i])
		b := d.one("apply with the scope of a change beside another run", d.branches[i])
		b.scope = mayfly.ScopeChanged
		d.carryOutActs([]*act{a, b})
	}
	d.settle(d.branches[i])
}

// settle applies with the scope of a change, and compares the result with a full plan. It returns whether the
// apply has succeeded.
func (d *dues) settle(branch *design) bool {
	d.t.Helper()
	a := d.one("apply with the scope of a change", branch)
	a.scope = mayfly.ScopeChanged
	if d.r.IntN(6) == 0 {
		a.failing = 30
	}
	before := d.read()
	d.carryOutActs([]*act{a})
	if a.shown != nil && a.shown.Extent != nil {
		d.sum[fmt.Sprintf("full: %q", a.shown.Extent.Full)]++
		d.sum["evaluated"] += a.shown.Extent.Evaluated
		d.sum["of"] += a.shown.Extent.Objects
	}
	if !a.ok() {
		return false
	}
	if branch.looks() && changedTwin(before, a.shown) {
		d.sum["changed twins"]++
		return true
	}
	p := d.plan(branch, &mayfly.PlanOptions{Mode: plan.Normal, SkipRefresh: true})
	var left []string
	if p.Plan == nil || p.Errored {
		left = append(left, "errors: "+p.diags.Err().Error())
	} else {
		for _, c := range p.Changes {
			if c.Action != plan.NoOp && c.Addr.Resource.Mode == addr.Managed {
				left = append(left, fmt.Sprintf("%s of %s (%s)", c.Action, c.Object(), c.Reason))
			}
		}
		for _, o := range p.Outputs {
			if o.Action != plan.NoOp {
				left = append(left, fmt.Sprintf("%s of output.%s", o.Action, o.Name))
			}
		}
	}
	if len(left) == 0 {
		left = d.unrecorded(branch)
	}
	if len(left) > 0 {
		d.t.Errorf("a full plan after the run %d: got\n%s\nwant nothing to do", a.number, strings.Join(left, "\n"))
	}
	return len(left) == 0
}

// changedTwin reports whether a plan changes an object of the cloud that two objects of a state have. With
// the one the other drifts, which data sources that are read after that may find.
func changedTwin(s *state.State, p *plan.Plan) bool {
	n := map[string]int{}
	for _, in := range s.AllInstances() {
		for o := range in.All() {
			n[o.ID()]++
		}
	}
	return slices.ContainsFunc(p.Changes, func(c *plan.Change) bool {
		o := s.Object(addr.Object{Instance: c.PrevAddr, Deposed: c.Deposed})
		return c.Action != plan.NoOp && o != nil && n[o.ID()] > 1
	})
}

// comeToRest applies until nothing changes, and compares the marks and hashes that are left with none, but
// for those of checks that fail.
func (d *dues) comeToRest() {
	d.t.Helper()
	for range 3 {
		if a := d.branches[0]; !d.settle(a) {
			d.sum["no rest"]++
			return
		}
	}
	var left []string
	in := ` WHERE workspace = (SELECT id FROM mayfly.workspaces WHERE name = '` + d.workspace + `')`
	d.rows(func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		left = append(left, text)
		return err
	}, `SELECT 'mark of ' || unit || ' by ' || kind FROM mayfly.due`+in+` AND regexp_replace(unit, '\[[^]]*\]', '', 'g') NOT IN (SELECT key FROM mayfly.results`+in+` AND NOT passed) UNION ALL SELECT 'no hash of ' || module || '.' || (e->>'name') FROM mayfly.blocks, json_array_elements(CASE WHEN json_typeof(entries) = 'array' THEN entries ELSE '[]' END) e`+in+` AND e->>'hash' IS NULL`)
	if slices.Sort(left); len(left) > 0 {
		d.t.Errorf("when the runs have stopped: got\n%s\nwant no marks, and all hashes", strings.Join(left, "\n"))
	}
	d.sum["at rest"]++
}
