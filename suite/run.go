package suite

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// run carries out one run, fills in its outcome, and returns its outputs. at is its place in the file. An
// apply is a plan and the apply of it, so that a test sees the same as a user.
func (r *fileRun) run(out *Run, at int) cty.Value {
	run := out.TestRun
	out.Verdict = Error
	base := r.module(run)
	tree, vars, stand, diags := r.configured(run)
	st, err := r.state(run)
	if err != nil {
		diags = append(diags, diag.Errorf("Cannot start a state", "%s", diag.Sentence(err))...)
	}
	if stand != nil {
		stand.made = &st.made
	}
	if !diags.HasErrors() {
		diags = append(diags, missing(tree.Root, vars)...)
	}
	if diags.HasErrors() {
		out.Diags = diags
		return cty.EmptyObjectVal
	}
	out.Tree = base // documents are about the module: a copy's variables have secrets of earlier runs
	project := r.opt.Project.Beside(mayfly.BesideOptions{Tree: tree, Store: st.manager, Instead: stand.instead, Coverage: r.opt.Coverage})
	ctx, span := trace.Start(r.ctx, "test run")
	defer func() { span.Finish(out.Verdict == Pass) }()
	span.Set(trace.Test, r.file.Name+":"+run.Name)
	op, ds := project.Begin(ctx, "test", mayfly.BeginOptions{Locking: store.Locking{NoLock: true}})
	if diags = append(diags, ds...); ds.HasErrors() {
		out.Diags = diags
		return cty.EmptyObjectVal
	}
	defer op.End()
	using := func() error {
		r.keeping.Lock()
		defer r.keeping.Unlock()
		return st.keeper.Using(r.ctx, st.manager, r.file.Name, run.ID())
	}
	j := r.carryOut(ctx, out, op, vars, using, st.computed)
	st.noteComputed(out)
	if st.last.tree == nil || !j.unplanned {
		st.last = lastRun{tree: tree, variables: vars, instead: stand.destroying, at: at}
	}
	if !j.unplanned && !run.Plan {
		stand.applied(op.State().Managed())
	}
	out.Diags = append(diags, j.list()...)
	out.Verdict = j.verdict()
	r.cover(out)
	return outputsOf(out, tree.Root)
}

// configured returns the input of a run's plan: a copy of its module's tree with the changes of the file, the
// values of its variables, and the stand-ins for providers.
func (r *fileRun) configured(run *config.TestRun) (*config.Tree, mayfly.Variables, *stand, diag.List) {
	base := r.module(run)
	tree := base.Copy()
	if wrong := r.check(base); wrong.HasErrors() {
		return tree, nil, nil, append(wrong, run.Problems...)
	}
	vars, diags := r.variables(run, tree.Root)
	diags = slices.Concat(run.Problems, diags, unusedOf(run, base.Root), r.prepare(tree, run))
	stand, ds := r.stand(tree, run)
	return tree, vars, stand, append(diags, ds...)
}

// carryOut plans and applies. using is called before the apply. computed says which runs have made the values
// that the state does not keep.
func (r *fileRun) carryOut(ctx context.Context, out *Run, op *mayfly.Operation, vars mayfly.Variables, using func() error, computed map[string]computedIn) *judge {
	o := out.Options
	opt := mayfly.PlanOptions{
		Variables: vars, Targets: o.Targets, Excludes: o.Excludes, ForceReplace: o.Replace, Places: o.Places, SkipRefresh: o.SkipRefresh,
		Advice: out.advise(),
	}
	if o.RefreshOnly {
		opt.Mode = plan.RefreshOnly
	}
	j := &judge{run: out.TestRun, tree: out.Tree, computed: computed}
	var rounds *mayfly.Rounds
	makePlan := func() (*plan.Plan, diag.List) { return op.Plan(ctx, opt) }
	if out.Converge {
		rounds = op.Rounds(opt)
		makePlan = func() (*plan.Plan, diag.List) { return rounds.Plan(ctx) }
	}
	planned, diags := makePlan()
	restricted := len(o.Targets)+len(o.Excludes) > 0
	if restricted {
		j.add(diag.Warnf("Resource targeting is in effect", "target or exclude in the plan_options of this run leave parts of the module out, so the plan may be only some of what the module asks for."))
	}
	if out.Command() == "plan" || diags.HasErrors() {
		j.add(diags)
		if out.TestRun.Plan && !diags.HasErrors() {
			out.Plan = planned
		}
		j.unplanned = diags.HasErrors()
		j.finish()
		stripPlan(out)
		return j
	}
	if o.RefreshOnly {
		j.add(diags) // assertions are about the refreshed objects
	} else {
		j.add(withoutChecks(diags))
	}
	if err := using(); err != nil {
		j.add(diag.Errorf("Cannot keep the state of the run", "%s\n\nNothing was applied, because the result could not be recorded.", diag.Sentence(err)))
		return j
	}
	applied, diags := applyRounds(ctx, op, rounds, planned, vars)
	if restricted && !diags.HasErrors() {
		j.add(diag.Warnf("Applied changes may be incomplete", "target or exclude in the plan_options of this run have left parts of the module out, so some outputs may still be as they were, or without a value."))
	}
	if j.add(diags); applied != nil {
		out.State = op.State().Copy()
		out.State.Checks = withoutTest(out.State.Checks, out.TestRun)
	}
	if r.ctx.Err() != nil {
		out.changing = changing(planned)
	}
	j.finish()
	return j
}

// applyRounds applies a plan and, if the run converges, all that are needed after it. rounds is nil if it
// does not. Only the results of checks and assertions in the last round count: before it, objects that they
// are about may not be made yet.
func applyRounds(ctx context.Context, op *mayfly.Operation, rounds *mayfly.Rounds, planned *plan.Plan, vars mayfly.Variables) (*mayfly.Applied, diag.List) {
	opt := mayfly.ApplyOptions{Variables: vars}
	if rounds == nil {
		return op.Apply(ctx, planned, opt)
	}
	applied, diags := rounds.Apply(ctx, opt)
	for !diags.HasErrors() && !rounds.Done() {
		_, more := rounds.Plan(ctx)
		if diags = append(withoutChecks(diags), withoutChecks(more)...); more.HasErrors() {
			break
		}
		applied, more = rounds.Apply(ctx, opt)
		diags = append(diags, more...)
	}
	return applied, diags
}

// advise says how a run of a test goes on where instances will be known only after an apply.
func (r *Run) advise() string {
	var way string
	switch {
	case r.TestRun.Plan:
		way = "The run only plans. To plan and apply in turn until everything is known, leave out command = plan and write in the run block:"
	case r.Options.RefreshOnly:
		way = "The run only refreshes. To plan and apply in turn until everything is known, leave out mode = refresh-only and write in the run block:"
	default:
		way = "To plan and apply in turn until everything is known, write in the run block:"
	}
	return way + "\n  converge = true\n\nOr give the objects that the value is made of known attributes, in override_resource blocks with override_during = plan."
}

// changing returns the managed objects that a plan changes.
func changing(p *plan.Plan) []addr.Instance {
	var out []addr.Instance
	for _, c := range p.Changes {
		if c.Addr.Resource.Mode == addr.Managed && c.Action != plan.NoOp {
			out = append(out, c.Addr)
		}
	}
	return out
}

// Command returns "plan" or "apply".
func (r *Run) Command() string {
	if r.TestRun.Plan {
		return "plan"
	}
	return "apply"
}

// withoutChecks leaves out the results of checks and assertions: applying the plan evaluates them again.
func withoutChecks(diags diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(diags), func(d diag.Diagnostic) bool {
		switch d.Extra.(type) {
		case diag.CheckWarning, diag.Assertion:
			return d.Severity == diag.Warning
		}
		return false
	})
}

// stripPlan takes the assertions of the run out of the results of the plan's own checks.
func stripPlan(out *Run) {
	if out.Plan != nil {
		out.Plan.Checks = withoutTest(out.Plan.Checks, out.TestRun)
	}
}

// withoutTest returns check results without the assertions of the run, which documents show in a place of
// their own.
func withoutTest(checks []state.CheckResult, run *config.TestRun) []state.CheckResult {
	return slices.DeleteFunc(slices.Clone(checks), func(c state.CheckResult) bool { return c.Kind == "check" && c.Config == "check."+checkName(run) })
}

// outputsOf returns the outputs of a run that later runs see: all except ephemeral ones. Ephemeral outputs
// are left out because their values end with the run. An output without a value is null.
func outputsOf(out *Run, root *config.Module) cty.Value {
	values := map[string]cty.Value{}
	for name, o := range root.Outputs {
		if !o.Ephemeral {
			values[name] = cty.NullVal(cty.DynamicPseudoType)
		}
	}
	set := func(name string, d value.Durable, sensitive bool) {
		v, err := d.Live()
		if _, declared := values[name]; err != nil || v == cty.NilVal || !declared {
			return
		}
		if sensitive {
			v = v.Mark(value.Sensitive)
		}
		values[name] = v
	}
	switch {
	case out.Plan != nil:
		for _, o := range out.Plan.Outputs {
			set(o.Name, o.After, o.Sensitive)
		}
	case out.State != nil:
		for name, o := range out.State.Outputs {
			set(name, o.Value, o.Sensitive)
		}
	}
	return cty.ObjectVal(values)
}
