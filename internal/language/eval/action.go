package eval

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// ActionTrigger is an action_trigger block of an instance.
type ActionTrigger struct {
	Config *config.ActionTrigger
	Index  int // of the block

	in    *Instance
	block *blocks.ActionTrigger
}

// ActionTriggers returns the triggers of an instance, in the order of the blocks.
func ActionTriggers(in *Instance) []ActionTrigger {
	out := make([]ActionTrigger, len(in.Resource.Block.ActionTriggers))
	for i := range out {
		b := &in.Resource.Block.ActionTriggers[i]
		out[i] = ActionTrigger{Config: b.Config, Index: i, in: in, block: b}
	}
	return out
}

// CreationTriggers returns the triggers that each creation of an instance sets off.
func CreationTriggers(in *Instance) []ActionTrigger {
	return slices.DeleteFunc(ActionTriggers(in), func(tr ActionTrigger) bool {
		return tr.block.Condition != nil || !slices.Contains(tr.Config.Events, string(plan.BeforeCreate)) && !slices.Contains(tr.Config.Events, string(plan.AfterCreate))
	})
}

// Verdict is the result of a trigger's condition.
type Verdict uint8

// The verdicts.
const (
	Holds Verdict = iota
	Fails
	Undecided // it is not known
	Wrong     // there is an error in it
)

// Condition evaluates the condition; a trigger without one always holds. self is the object after its change.
// made has the computed values that the condition is made of.
func (tr ActionTrigger) Condition(t *future.Task, o *Opened, self cty.Value) (got Verdict, made []value.Computed, diags diag.List) {
	if tr.block.Condition == nil {
		return Holds, nil, nil
	}
	sc := tr.in.scope(t, o)
	if !tr.Config.Before() {
		sc.self, sc.own = func() cty.Value { return self }, tr.in
	}
	v := tr.in.Run().decide(sc, blocks.Condition{Expr: tr.block.Condition})
	verdict := map[state.CheckStatus]Verdict{state.CheckPass: Holds, state.CheckFail: Fails, state.CheckUnknown: Undecided, state.CheckError: Wrong}[v.status]
	return verdict, v.made, sc.located(v.diags)
}

// conditionReads returns the references of the condition, without references of an object to itself.
func (tr ActionTrigger) conditionReads(t *future.Task, early bool) *reads {
	sc, r := tr.in.scope(t, nil), &reads{}
	if sc.early = early; tr.block.Condition != nil {
		r.addExprs(sc, tr.block.Condition)
	}
	if !tr.Config.Before() {
		r.resources = slices.DeleteFunc(r.resources, func(rr resourceRead) bool { return rr.res == tr.in.Resource && !rr.all && rr.key == tr.in.Key })
	}
	return r
}

// PrepareCondition demands all cells that the condition needs.
func (tr ActionTrigger) PrepareCondition(t *future.Task) { prepare(t, tr.conditionReads(t, false)) }

// ConditionDeps returns the dependencies of the condition.
func (tr ActionTrigger) ConditionDeps(t *future.Task) []plan.Dep {
	return tr.conditionReads(t, false).deps(t, nil)
}

// ConditionUses returns the ephemeral instances that evaluating the condition may open.
func (tr ActionTrigger) ConditionUses(t *future.Task) []Use {
	return tr.conditionReads(t, true).uses(t)
}

// ReadsLent returns the blocks whose computed values evaluating the condition may read.
func (tr ActionTrigger) ReadsLent() *blocks.OpenSet {
	return tr.in.Resource.Block.BorrowsOf(tr.block.Condition)
}

// Action returns an action of the trigger by its position in the list. It is nil if the reference leads to
// none, which the diagnostics report, unless that was reported before.
func (tr ActionTrigger) Action(t *future.Task, position int) (*Instance, diag.List) {
	x := tr.block.Actions[position]
	sc := tr.in.scope(t, nil)
	for i := range x.Refs {
		ref := &x.Refs[i]
		to := sc.resolve(ref)
		if ref.Invalid || to.resource == nil || !to.resource.Block.IsAction() {
			continue
		}
		key := to.key
		if to.all && to.resource.Form().Keyed() {
			if tr.in.Run().opt.Phase == Validating {
				return nil, nil // one instance represents all, and has no key
			}
			return nil, tr.noInstance(sc, position, "which of its instances is meant is not known")
		}
		if e := to.resource.expand(t, &ref.Range); e.failed || e.generic {
			return nil, nil
		} else if !e.has(key) {
			return nil, tr.noInstance(sc, position, "it has no instance with this key")
		}
		return to.resource.Instance(key), nil
	}
	return nil, nil
}

// ActionDeps returns the dependencies of an action of the trigger by its position. As long as its instances
// are not known, these are the dependencies of its repetition, and of all instances that it may have.
func (tr ActionTrigger) ActionDeps(t *future.Task, position int) []plan.Dep {
	if action, _ := tr.Action(t, position); action != nil {
		return action.Deps(t)
	}
	deps := tr.ActionRepetitionDeps(t, position)
	for _, r := range tr.actionBlocks(t, position) {
		if r.Undecided(t) {
			deps = append(deps, r.Generic().Deps(t)...)
		}
	}
	return deps
}

// ActionRepetitionDeps returns the dependencies of the repetition of an action of the trigger.
func (tr ActionTrigger) ActionRepetitionDeps(t *future.Task, position int) (deps []plan.Dep) {
	for _, r := range tr.actionBlocks(t, position) {
		deps = append(deps, r.RepetitionDeps(t)...)
	}
	return deps
}

// actionBlocks returns the resource of an action of the trigger by its position, none if it names none.
func (tr ActionTrigger) actionBlocks(t *future.Task, position int) (out []*Resource) {
	x, sc := tr.block.Actions[position], tr.in.scope(t, nil)
	for i := range x.Refs {
		if to := sc.find(&x.Refs[i]); to.resource != nil && to.resource.Block.IsAction() {
			out = append(out, to.resource)
		}
	}
	return out
}

// noInstance reports a reference to an action that leads to none of its instances.
func (tr ActionTrigger) noInstance(sc *scope, position int, why string) diag.List {
	x := tr.block.Actions[position]
	return sc.located(diag.At(x.Range(), "Action has no such instance", "The trigger names an action, but %s. Refer to an instance that count or for_each of the action gives.", why))
}

// ActionClaims returns the uses of planning invocations of all actions.
func ActionClaims(cfg *blocks.Config) (claims []Use) {
	cfg.EachResource(func(b *blocks.Resource) {
		if b.IsAction() {
			claims = append(claims, ProviderClaims(b)...)
		}
	})
	return claims
}

// TriggerDeps returns the dependencies of the actions of some triggers of an instance.
func TriggerDeps(t *future.Task, in *Instance, triggers []ActionTrigger) (deps []plan.Dep) {
	for _, tr := range triggers {
		deps = append(deps, tr.ConditionDeps(t)...)
		for position := range tr.Config.Actions {
			deps = append(deps, tr.ActionDeps(t, position)...)
		}
	}
	return slices.DeleteFunc(deps, func(d plan.Dep) bool { return d.Resource == in.Addr().Abs() })
}

// NeededToAct returns the dependencies of all actions of an instance.
func NeededToAct(t *future.Task, in *Instance) []plan.Dep {
	return TriggerDeps(t, in, ActionTriggers(in))
}

// ProviderClaims returns the uses of planning an invocation of an action block: its provider, if that is
// configured from ephemeral values.
func ProviderClaims(b *blocks.Resource) []Use {
	return slices.DeleteFunc(BlockUses(b), func(u Use) bool { return u.Kind != UseConfiguration })
}
