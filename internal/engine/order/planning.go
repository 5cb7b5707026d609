package order

import (
	"math"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
)

// Expansion is the rank of determining which instances there are. Planning starts with these expressions,
// then plans the instances, the one with the longest way behind it first, and comes last, at rank 0, to work
// that calls no provider.
const Expansion = math.MaxInt64 / 2

// Planning says in which order the instances of a plan are planned.
type Planning struct {
	// Expected returns how long an operation is expected to take.
	Expected func(addr.Instance, event.Op) int64

	behind map[*blocks.Resource]int64 // of Config.WorkBehind; nil if nothing is planned by block
}

// Find determines the work behind each block.
func (o *Planning) Find(cfg *blocks.Config) {
	o.behind = cfg.WorkBehind(func(b *blocks.Resource) int64 {
		if b.Config.Addr.Mode == addr.Ephemeral {
			return 0 // planning opens it within the time of its users
		}
		return o.takes(b.Module.Config.Path.Instance(), b, addr.NoKey)
	})
}

// takes returns how long planning or reading an instance of a block is expected to take.
func (o *Planning) takes(m addr.ModuleInstance, b *blocks.Resource, key addr.Key) int64 {
	op := event.OpPlan
	if b.Config.Addr.Mode == addr.Data {
		op = event.OpRead
	}
	return o.Expected(addr.Instance{Module: m, Resource: b.Config.Addr, Key: key}, op)
}

// Rank returns how long the way to the end is from the start of planning an instance.
func (o *Planning) Rank(in *eval.Instance) int64 {
	b, a := in.Resource.Block, in.Addr()
	return o.behind[b] + o.takes(a.Module, b, a.Key)
}
