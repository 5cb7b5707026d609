package engine

import (
	"math"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Planning starts with the expressions that determine which instances there are, then plans the instances,
// the one with the longest way behind it first, and comes last, at rank 0, to work that calls no provider.
const expansionRank = math.MaxInt64 / 2

// orderPlan determines the work behind each block.
func (p *planner) orderPlan() {
	p.behind = p.req.Config.WorkBehind(func(b *blocks.Resource) int64 {
		if b.Config.Addr.Mode == addr.Ephemeral {
			return 0 // planning opens it within the time of its users
		}
		return p.expectedPlan(b.Module.Config.Path.Instance(), b, addr.NoKey)
	})
}

// expectedPlan returns how long planning or reading an instance of a block is expected to take.
func (p *planner) expectedPlan(m addr.ModuleInstance, b *blocks.Resource, key addr.Key) int64 {
	op := event.OpPlan
	if b.Config.Addr.Mode == addr.Data {
		op = event.OpRead
	}
	return p.expected(addr.Instance{Module: m, Resource: b.Config.Addr, Key: key}, op)
}

// rank returns how long the way to the end is from the start of planning an instance.
func (p *planner) rank(in *eval.Instance) int64 {
	b, a := in.Resource.Block, in.Addr()
	return p.behind[b] + p.expectedPlan(a.Module, b, a.Key)
}
