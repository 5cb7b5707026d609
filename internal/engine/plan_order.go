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

// planOrder says in which order the instances of a plan are planned.
type planOrder struct {
	planner *planner
	behind  map[*blocks.Resource]int64 // of Config.WorkBehind; nil if nothing is planned by block
}

// find determines the work behind each block.
func (o *planOrder) find() {
	o.behind = o.planner.req.Config.WorkBehind(func(b *blocks.Resource) int64 {
		if b.Config.Addr.Mode == addr.Ephemeral {
			return 0 // planning opens it within the time of its users
		}
		return o.takes(b.Module.Config.Path.Instance(), b, addr.NoKey)
	})
}

// takes returns how long planning or reading an instance of a block is expected to take.
func (o *planOrder) takes(m addr.ModuleInstance, b *blocks.Resource, key addr.Key) int64 {
	op := event.OpPlan
	if b.Config.Addr.Mode == addr.Data {
		op = event.OpRead
	}
	return o.planner.expected(addr.Instance{Module: m, Resource: b.Config.Addr, Key: key}, op)
}

// rank returns how long the way to the end is from the start of planning an instance.
func (o *planOrder) rank(in *eval.Instance) int64 {
	b, a := in.Resource.Block, in.Addr()
	return o.behind[b] + o.takes(a.Module, b, a.Key)
}
