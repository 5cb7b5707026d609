package engine

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/idle"
	"github.com/mayfly-iac/mayfly/internal/engine/object"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// settled is the outcome for an object whose configuration may use computed values.
type settled uint8

const (
	settledByPlan settled = iota // the provider has to plan it
	settledSame                  // it stays as it is, but for its record in the state, without asking the provider
	settledFailed                // it cannot be planned, which was reported
)

// settleComputed looks at the computed values that the configuration of an object is made of. Where they
// existed only in an earlier run, an ephemeral attribute must be made of the same ones as before, or it is an
// error (E97). Write-only arguments, and attributes whose changes are ignored, are judged by checkUnavailable
// once the action is known.
func settleComputed(ip *instancePlan, s *ephemeral.Session) settled {
	evaluateMade(ip.t, &ip.objectOp, s.Opened, ip.in, ip.declared.Computed)
	noteUses(ip, ip.declared.Computed)
	missing := missingIn(&ip.objectOp, ip.declared)
	if len(missing) > 0 && !ip.prior.Value.IsNull() && ip.forcedReason() == plan.NoReason {
		missing = slices.DeleteFunc(missing, func(p cty.Path) bool { return withheld.Ignores(&ip.Withheld, p) })
	}
	switch {
	case len(missing) == 0:
		return settledByPlan
	case !staysUnavailable(ip, s, missing):
		reportUnavailable(&ip.objectOp, ip.declared.Computed, missing[0], "")
		return settledFailed
	}
	if due := object.DueReplacement(&ip.Op, ip.prior, ip.declared.Value, ip.meta(ip.in)); len(due) > 0 {
		reportUnavailable(&ip.objectOp, ip.declared.Computed, missing[0], fmt.Sprintf("The provider %s requires the replacement of %s, because of %s. ", ip.Source.ForDisplay(), ip.Obj, schema.PathString(due[0])))
		return settledFailed
	}
	return settledSame
}

// missingIn returns the ephemeral attributes in a configuration whose values existed only in an earlier run.
func missingIn(op *objectOp, config object.Config) (missing []cty.Path) {
	for _, part := range config.Computed {
		if op.Withheld.Names.Matches(part.Path) && part.Of.Past {
			missing = append(missing, part.Path)
		}
	}
	return missing
}

// noteUses notes that an object uses the values that parts of its configuration are made of.
func noteUses(ip *instancePlan, parts []value.ComputedPart) {
	for _, part := range parts {
		ip.planner.computed.Miss(part.Of, ip.Obj.Instance)
		if !part.Of.Past {
			ip.planner.computed.Add(part.Of, computed.Use{
				User: ip.Obj.String(), Instance: ip.Obj.Instance, Path: part.Path,
				Withheld: ip.Withheld.Names.Matches(part.Path), Ignored: withheld.Ignores(&ip.Withheld, part.Path),
			})
		}
	}
}

// staysUnavailable reports whether an object stays as it is without values that cannot be had.
func staysUnavailable(ip *instancePlan, s *ephemeral.Session, missing []cty.Path) bool {
	if !asStored(ip) || !ip.Withheld.SameGiven(ip.loaded.Value, ip.prior.Value, ip.declared.Value, ip.stored) || ip.forcedReason() != plan.NoReason {
		return false
	}
	ip.config = ip.declared
	return ip.Withheld.Unavailable(ip.stored, ip.declared.Value, missing) ||
		sameAdopted(ip.t, &ip.objectOp, s.Opened, ip.in, ip.stored, ip.declared, missing, ip.planner.computed.TakenOut)
}

// checkUnavailable reports arguments that a change needs and whose values cannot be had. An update needs
// write-only arguments only if their version changes. It needs ephemeral attributes whose changes are ignored
// if the provider is called, which may write whatever it is sent.
func checkUnavailable(ip *instancePlan, planned cty.Value) bool {
	if ip.change.Action == plan.NoOp {
		return true
	}
	ok, update := true, ip.change.Action == plan.Update
	for _, part := range ip.declared.Computed {
		if !part.Of.Past {
			continue
		}
		why := ""
		switch ignored := withheld.Ignores(&ip.Withheld, part.Path); {
		case ignored && update && planned.RawEquals(ip.prior.Value), !ignored && ip.Withheld.Names.Matches(part.Path):
			continue
		case ignored && update:
			why = "Changes of the argument are ignored, but the provider would be sent null in its place in this update. "
		case update && !contract.TakesWriteOnly(ip.Block(), part.Path, ip.prior.Value, planned):
			continue
		}
		reportUnavailable(&ip.objectOp, ip.declared.Computed, part.Path, why)
		ok = false
	}
	return ok
}

// checkDeliveries has each change that makes a computed value owe it to those who use it (E98). A user that
// exists and will not take the value in this run is an error: the value would be lost. So is a use of a value
// that an earlier run has lost.
func checkDeliveries(p *planner) {
	if p.req.Mode != plan.Normal {
		return
	}
	changes, adopting := changesWith(p, withheld.MakesComputed), changesWith(p, withheld.TakesOutComputed)
	if p.selection.Restricted() && len(changes)+len(adopting)+len(p.computed.Undelivered()) > 0 {
		idle.AddExcluded(p.computed, storedRun(p), p.req.Config, func(i addr.Instance) bool { return p.changes[addr.Object{Instance: i}] != nil })
	}
	reportUndelivered(p)
	others := findIdle(p)
	for _, k := range p.req.Memory.AllKept() {
		deliverKept(p, k)
	}
	for _, c := range adopting {
		checkTakenOut(p, c)
		warnOfLater(p, c, others)
	}
	for _, c := range changes {
		used, late := false, leftOut{}
		for i, w := range c.Withheld {
			if !w.Computed || !w.Status.Differs() {
				continue
			}
			by := computed.Name(c.Addr, w.Path)
			idle := others.Provisioners(c, by)
			used = used || len(idle) > 0
			p.run.Report(idle)
			used = used || len(p.computed.Later(by)) > 0
			for _, use := range p.computed.Of(by) {
				used = true
				if !late.has(p, c, &c.Withheld[i], by, use) {
					deliver(p, c, &c.Withheld[i], by, use)
				}
			}
			c.Withheld[i].Missed = append(c.Withheld[i].Missed, p.computed.Later(by)...) // the run keeps it for them
			sortUsers(&c.Withheld[i])
		}
		late.report(p, c)
		if !used && c.Action != plan.Update {
			warnUnused(p, c, others.Actions(c))
		}
	}
}

// warnOfLater warns about uses, in later runs, of values that a change takes out of the state.
func warnOfLater(p *planner, c *plan.Change, others *idle.Search) {
	for _, w := range c.Withheld {
		if !withheld.IsTakenOut(w) {
			continue
		}
		by := computed.Name(c.Addr, w.Path)
		for _, use := range p.computed.Of(by) {
			p.run.Report(use.WarnLater(by).WithAddress(c.Addr.String()))
		}
		p.run.Report(others.Departing(by).WithAddress(c.Addr.String()))
	}
}

// warnUnused warns about new values that nothing takes. others would use them if they were reached; "" if
// nothing would.
func warnUnused(p *planner, c *plan.Change, others string) {
	where, also := "the configuration", ""
	if others != "" {
		where, also = "this plan", fmt.Sprintf(" They are used by %s, which this plan does not reach.", others)
	}
	if p.selection.Restricted() {
		where = "this plan, which leaves parts of the configuration out,"
	}
	p.run.Report(diag.Warnf("Nothing uses the value of an ephemeral attribute",
		"The values that the provider computes for %s are kept out of the state, and nothing in %s uses them: they will be lost.%s", c.Addr, where, also).WithAddress(c.Addr.String()))
}

// deliverKept decides about the users of a value of an earlier round, which the run has kept for them.
func deliverKept(p *planner, k rounds.KeptValue) {
	o := addr.Object{Instance: k.Of}
	c, record := p.changes[o], withheld.RecordOf(p.prior.Object(o), k.Path)
	if c == nil || record == nil || withheld.MakesComputed(c) {
		return
	}
	i := slices.IndexFunc(c.Withheld, func(w plan.Withheld) bool { return w.Path.Equals(k.Path) })
	if i < 0 {
		i, c.Withheld = len(c.Withheld), append(c.Withheld, plan.Withheld{Path: k.Path, Status: plan.WithheldSame, Computed: true})
	}
	by := computed.Name(k.Of, k.Path)
	for _, use := range p.computed.Of(by) {
		if to := p.changes[addr.Object{Instance: use.Instance}]; to != nil && takes(p, to, use.Path) || slices.Contains(record.Owed, use.Instance.Config()) {
			deliver(p, c, &c.Withheld[i], by, use)
		}
	}
	c.Withheld[i].Missed = append(c.Withheld[i].Missed, p.computed.Later(by)...)
	sortUsers(&c.Withheld[i])
}

// sortUsers sorts the users of a value, each of them once.
func sortUsers(w *plan.Withheld) {
	w.Consumers, w.Missed = sortedOnce(w.Consumers), sortedOnce(w.Missed)
}

// changesWith returns the planned changes for which has returns true, sorted by address.
func changesWith(p *planner, has func(*plan.Change) bool) (out []*plan.Change) {
	for _, c := range p.changes {
		if has(c) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *plan.Change) int { return a.Addr.Compare(b.Addr) })
	return out
}

// sortedOnce sorts a list of instances and returns it with each of them once.
func sortedOnce(list []addr.Instance) []addr.Instance {
	slices.SortFunc(list, addr.Instance.Compare)
	return slices.Compact(list)
}

// deliver decides about one user of a value that a change makes.
func deliver(p *planner, c *plan.Change, w *plan.Withheld, by string, use computed.Use) {
	if use.Instance == (addr.Instance{}) {
		if c.Action != plan.Update {
			p.run.Report(use.WarnLater(by).WithAddress(c.Addr.String()))
		}
		return
	}
	to := p.changes[addr.Object{Instance: use.Instance}]
	if use.Ignored && (to == nil || to.Action != plan.Create && !to.Action.IsReplace()) {
		p.run.Report(use.WarnIgnored(by, c.Action == plan.Update))
		return
	}
	if to != nil && takes(p, to, use.Path) {
		w.Consumers = append(w.Consumers, use.Instance)
		return
	}
	if c.Action == plan.Update {
		w.Missed = append(w.Missed, use.Instance) // maybe there is no new value
		return
	}
	if to == nil && p.broken.Touched(plan.Dep{Resource: use.Instance.Abs(), Key: use.Instance.Key}) {
		return // its own error is reported
	}
	why, way := "the version of its argument "+schema.PathString(use.Path)+" stays, so that the value is not sent", "Change the version, or make it fingerprint("+by+")"
	switch {
	case to == nil:
		why, way = "this plan leaves it out", "Include it in the plan"
	case unversioned(p, to, use.Path):
		why = "its argument " + schema.PathString(use.Path) + " has no version, so that the value is not sent"
		way = "Replace that object too with the option -replace=" + diag.Argument(use.Instance.String())
	}
	p.run.Report(diag.Errorf("New value would not be delivered",
		"The plan makes a new value of %s, and %s uses it, but %s. The value exists only in the run that makes it. %s, or leave the value as it is.",
		by, use.Instance, why, way).WithAddress(use.Instance.String()))
}

// takes reports whether a change takes the value of an argument.
func takes(p *planner, c *plan.Change, path cty.Path) bool {
	switch c.Action {
	case plan.Create, plan.CreateThenDelete, plan.DeleteThenCreate, plan.ForgetThenCreate:
		return true
	case plan.Update:
	default:
		return false
	}
	for _, w := range c.Withheld {
		if path.HasPrefix(w.Path) {
			return w.Status.Differs()
		}
	}
	s := schemaOf(p, c)
	before, err1 := c.Before.Unmarked()
	after, err2 := c.After.Unmarked()
	return s == nil || err1 != nil || err2 != nil || contract.TakesWriteOnly(s.Block, path, before, after)
}

// unversioned reports whether a write-only argument of an object has no version that could change.
func unversioned(p *planner, c *plan.Change, path cty.Path) bool {
	s := schemaOf(p, c)
	return s != nil && s.Block.InWriteOnly(path) && s.Block.WriteOnlyVersion(path) == nil
}

// schemaOf returns the schema of the object of a change, nil if it is not loaded.
func schemaOf(p *planner, c *plan.Change) *schema.Schema {
	return p.providers.Loaded(c.Provider.Provider, addr.Managed, c.Addr.Resource.Type)
}

// keptAway returns the planned object without the computed values that stay. The plan may have read them, but
// the apply does not read the object again.
func keptAway(ip *instancePlan, planned cty.Value) cty.Value {
	if ip.change.Action == plan.NoOp {
		return ip.Withheld.Hide(planned)
	}
	var same []cty.Path
	for _, w := range ip.change.Withheld {
		if w.Computed && w.Status == plan.WithheldSame {
			same = append(same, w.Path)
		}
	}
	return ip.Block().NullAt(planned, same)
}

// markPrior returns the prior object as references see it.
func markPrior(ip *instancePlan) cty.Value {
	return ip.Mark(ip.prior.Value, object.Config{Sensitive: ip.prior.Sensitive()}, ip.prior.Records())
}

// recordsOf returns the state's records of the object that is planned: none of one that is to be made.
func recordsOf(ip *instancePlan) []state.Withheld {
	if a := ip.change.Action; a == plan.Create || a.IsReplace() {
		return nil
	}
	ip.planner.mu.Lock()
	defer ip.planner.mu.Unlock()
	if o := ip.planner.prior.Object(ip.Obj); o != nil {
		return o.Withheld // also of values that have changed outside
	}
	return ip.prior.Records()
}
