package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
)

// storedRun returns a run that sees the objects as the state has them.
func storedRun(p *planner) *eval.Run {
	return runAside(p, func(w *walk, t *future.Task, in *eval.Instance) cty.Value { return w.recorded(t, p.prior, in) })
}

// runAtHand is storedRun for while planning goes on. It asks no provider: an object in an old format is
// unknown.
func runAtHand(p *planner) *eval.Run {
	return runAside(p, func(_ *walk, _ *future.Task, in *eval.Instance) cty.Value {
		if v, ok := p.fromPrior(in); ok {
			return v
		}
		return unknownObject(in)
	})
}

// runOfPlanned is runAtHand for when everything is planned that -target selects: planned objects have their
// new values. Without -target it is the run of the plan.
func runOfPlanned(p *planner) *eval.Run {
	if len(p.req.Targets) == 0 {
		return p.run
	}
	return runAside(p, func(_ *walk, t *future.Task, in *eval.Instance) cty.Value {
		run := p.atHand()
		if p.restrict.planned(in.Addr()) {
			run = p.run
		}
		return run.DeclaredInstance(in.Addr()).Value(t, nil)
	})
}

// runAside returns a run beside the run of the plan. The plan does not report its errors.
func runAside(p *planner, value func(*walk, *future.Task, *eval.Instance) cty.Value) *eval.Run {
	w := p.fork(func(w *walk) *eval.Run {
		result := func(t *future.Task, in *eval.Instance) cty.Value { return value(w, t, in) }
		return w.newRun(p.req.Config, eval.Planning, result, p.req.Variables, p.plan.Timestamp)
	})
	w.run.Diags = &diag.Collector{}
	return w.run
}

// leftOut has the resources that are to use a new value of a change, do not exist yet, and are left out by a
// restricted plan. If nothing takes the value they are owed it, so that a plan that has them makes another
// one. Where others have it, they need no record: they cannot be created without another one.
type leftOut struct {
	blocks []addr.ConfigResource
	values []string
}

// has reports whether a use of a new value is one by such a resource, and if so, notes it.
func (l *leftOut) has(p *planner, c *plan.Change, w *plan.Withheld, by string, use computed.Use) bool {
	o := addr.Object{Instance: use.Instance}
	if use.Instance == (addr.Instance{}) || c.Action == plan.Update || p.changes[o] != nil || p.prior.Object(o) != nil || !p.selection.Restricted() {
		return false
	}
	if p.broken.Touched(plan.Dep{Resource: use.Instance.Abs(), Key: use.Instance.Key}) {
		return false
	}
	w.Missed = append(w.Missed, use.Instance)
	if block := use.Instance.Config(); !slices.Contains(l.blocks, block) {
		l.blocks = append(l.blocks, block)
	}
	if !slices.Contains(l.values, by) {
		l.values = append(l.values, by)
	}
	return true
}

// report says that the value will be lost. That is an error if the object must not be replaced: there would
// be no way to another value.
func (l *leftOut) report(p *planner, c *plan.Change) {
	if len(l.blocks) == 0 {
		return
	}
	if slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool { return len(w.Consumers) > 0 }) {
		for i := range c.Withheld {
			c.Withheld[i].Missed = nil
		}
	}
	prevented := false
	if in, ok := p.run.Find(&future.Task{}, c.Addr); ok && in != nil {
		prevented, _ = in.PreventDestroy(&future.Task{}) // which reports errors when it is planned
	}
	why := fmt.Sprintf("The plan makes a new value of %s and leaves out %s, which is to get it. The value exists only in the run that makes it, as ephemeral_attributes keeps it out of the state.",
		strings.Join(l.values, ", "), computed.Names(l.blocks))
	if prevented {
		p.run.Report(diag.Errorf("New value would not be delivered",
			"%s It would be lost, and prevent_destroy of %s is against replacing the object for another one. Plan them together: add %s to this plan.", why, c.Addr, computed.Names(l.blocks)).WithAddress(c.Addr.String()))
		return
	}
	p.run.Report(diag.Warnf("New value will not be delivered",
		"%s Add %s to this plan. Otherwise a later plan makes another value: it replaces %s, or asks for that if other objects depend on it.", why, computed.Names(l.blocks), c.Addr).WithAddress(c.Addr.String()))
}

// checkTakenOut reports the objects that a restricted plan leaves out and whose ephemeral attributes are made
// of a value that a change takes out of the state. Only with the value can it be recorded that they are made
// of it, and without that record every later plan would need another one.
func checkTakenOut(p *planner, c *plan.Change) {
	for _, w := range c.Withheld {
		if !withheld.IsTakenOut(w) {
			continue
		}
		by := computed.Name(c.Addr, w.Path)
		var out []addr.Instance
		for _, use := range p.computed.Of(by) {
			o := addr.Object{Instance: use.Instance}
			if use.Withheld && !use.Ignored && p.changes[o] == nil && p.prior.Object(o) != nil && !p.broken.Touched(plan.Dep{Resource: use.Instance.Abs(), Key: use.Instance.Key}) {
				out = append(out, use.Instance)
			}
		}
		if out = sortedOnce(out); len(out) == 0 {
			continue
		}
		does := "takes " + by + " out of the state"
		if w.Status == plan.WithheldImported {
			does = "imports " + by + ", which is not stored,"
		}
		p.run.Report(diag.Errorf("Value is still needed",
			"The plan %s and leaves out objects with ephemeral attributes that are made of it:%s\n\nIt has to be recorded while the value is there that they are made of it: later plans could not tell whether it is the same. Plan them together, or add the attribute to ephemeral_attributes later.",
			does, diag.Lines("", out)).WithAddress(c.Addr.String()))
	}
}
