package engine

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// lending has who may still read the computed values that an apply makes and that are not stored (E96). The
// pool keeps such a value until the step that makes it and the last one that may read it have ended. Claims
// that are made before the first step starts say which these are.
type lending struct {
	from map[addr.ConfigResource]struct{} // blocks with changes that may make such values

	mu    sync.Mutex
	rules []pendingRule
}

// pendingRule is a variable or output whose conditions no step has evaluated, with its claims.
type pendingRule struct {
	*eval.Value
	uses []eval.Use
}

// findLenders finds the blocks whose computed values the plan may make. It comes before any claim.
func findLenders(a *applier) {
	if !a.req.Config.Lends() {
		return
	}
	a.lending.from = map[addr.ConfigResource]struct{}{}
	for _, c := range a.req.Plan.Changes {
		if in := a.instance(c.Addr); in != nil && c.Action != plan.NoOp && len(in.Resource.Block.Computed) > 0 {
			a.lending.from[c.Addr.Config()] = struct{}{}
		}
	}
}

// lentUses returns the uses of computed values of the given blocks by something with these dependencies. The
// dependencies name the instances, but also instances of which only other attributes are read, or none.
func lentUses(a *applier, of *blocks.OpenSet, deps []plan.Dep) (uses []eval.Use) {
	if len(a.lending.from) == 0 || of.Empty() {
		return nil
	}
	for _, d := range deps {
		block := d.Resource.Config()
		_, lends := a.lending.from[block]
		if _, reads := of.All[block]; !reads || !lends {
			continue
		}
		switch {
		case d.Modules:
			uses = append(uses, eval.Use{Kind: eval.UseBlock, Block: block})
		case d.All:
			uses = append(uses, eval.Use{Kind: eval.UseResource, Instance: d.Resource.Instance(addr.NoKey)})
		default:
			uses = append(uses, eval.Use{Kind: eval.UseInstance, Instance: d.Resource.Instance(d.Key)})
		}
	}
	return uses
}

// claimLent claims the computed values that conditions may read. The conditions of a variable or output are
// evaluated by the first step that uses it, which ends its claims, or after all steps.
func claimLent(a *applier) {
	if len(a.lending.from) == 0 || a.finishing.conditions == nil {
		return
	}
	for _, r := range a.req.Plan.Checks {
		for _, o := range r.Objects {
			switch {
			case r.Kind == "resource" && o.Status == state.CheckUnknown:
				a.pool.Claim(conditionUses(a, o.Addr)...)
			case r.Kind == "output", r.Kind == "var":
				v := eval.ValueAt(a.run, o.Addr)
				if v == nil {
					continue
				}
				if uses := v.PendingUses(); len(uses) > 0 {
					a.pool.Claim(uses...)
					a.lending.rules = append(a.lending.rules, pendingRule{v, uses})
				}
			}
		}
	}
}

// conditionUses returns the uses of computed values by the conditions of an instance, unless a step changes
// it and evaluates them.
func conditionUses(a *applier, address string) []eval.Use {
	i, err := addr.ParseInstance(address)
	if in := a.instance(i); err == nil && in != nil && !a.altered.Touched(plan.Dep{Resource: i.Abs(), Key: i.Key}) {
		return eval.Borrowed(a.run, in.Resource.Block.Borrows)
	}
	return nil
}

// endDecided ends the claims of conditions that have been evaluated.
func endDecided(a *applier) {
	a.lending.mu.Lock()
	defer a.lending.mu.Unlock()
	a.lending.rules = slices.DeleteFunc(a.lending.rules, func(r pendingRule) bool {
		decided := len(r.PendingUses()) == 0
		if decided {
			a.pool.Waive(r.uses...)
		}
		return decided
	})
}

// claimOpened claims the uses of an ephemeral block with conditions, which is opened at the end if no step
// has opened it.
func claimOpened(a *applier, b *blocks.Resource) {
	a.pool.Claim(eval.BlockUses(b)...)
	a.pool.Claim(eval.Borrowed(a.run, b.Borrows)...)
}
