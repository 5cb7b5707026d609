package explain

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
)

// Explainer answers questions about one plan. Preparing it takes time linear in the plan, and an answer only
// as much as it is long. It belongs to one goroutine.
type Explainer struct {
	config    *blocks.Config
	plan      *plan.Plan
	changes   map[addr.Instance][]*plan.Change // including changes of deposed objects
	instances map[addr.ConfigResource][]*plan.Change
	pending   map[addr.AbsResource][]*plan.Change // changes that do something
	spans     map[plan.Span][]*plan.Change        // the same
	deferrals map[addr.ConfigResource][]*plan.Deferral
	drift     map[addr.Instance]*plan.Change
	blocks    map[string]blocks.Node // by the names that people use
	users     map[blocks.Node][]user // found on demand
}

// New returns an explainer of a plan of the configuration.
func New(c *blocks.Config, p *plan.Plan) *Explainer {
	e := &Explainer{
		config: c, plan: p, changes: map[addr.Instance][]*plan.Change{}, instances: map[addr.ConfigResource][]*plan.Change{},
		pending: map[addr.AbsResource][]*plan.Change{}, spans: map[plan.Span][]*plan.Change{}, deferrals: map[addr.ConfigResource][]*plan.Deferral{}, drift: map[addr.Instance]*plan.Change{}, blocks: map[string]blocks.Node{},
	}
	for _, change := range p.Changes {
		e.changes[change.Addr] = append(e.changes[change.Addr], change)
		e.instances[change.Addr.Config()] = append(e.instances[change.Addr.Config()], change)
		if change.Action == plan.NoOp {
			continue
		}
		e.pending[change.Addr.Abs()] = append(e.pending[change.Addr.Abs()], change)
		for _, span := range plan.Spans(change.Addr) {
			e.spans[span] = append(e.spans[span], change)
		}
	}
	for _, d := range p.Deferrals {
		e.deferrals[d.Change.Addr.Config()] = append(e.deferrals[d.Change.Addr.Config()], d)
	}
	for _, change := range p.Drift {
		e.drift[change.Addr] = change
	}
	c.EachBlock(func(n blocks.Node) bool {
		e.blocks[nameOf(n)] = n
		return true
	})
	return e
}

// block returns the block of an instance, nil if none declares it.
func (e *Explainer) block(a addr.Instance) *blocks.Resource {
	m := e.config.Modules[a.Module.Module()]
	if m == nil {
		return nil
	}
	return m.Resources[a.Resource]
}

// awaited returns the changes of the objects that dep refers to.
func (e *Explainer) awaited(dep plan.Dep) []*plan.Change {
	switch {
	case dep.Modules:
		return e.spans[dep.Span()]
	case dep.All:
		return e.pending[dep.Resource]
	}
	all := slices.Clone(e.changes[dep.Resource.Instance(dep.Key)])
	return slices.DeleteFunc(all, func(c *plan.Change) bool { return c.Action == plan.NoOp })
}

// changing returns a change that does something to an instance of a block, and their number; nil if there is
// none.
func (e *Explainer) changing(b *blocks.Resource) (first *plan.Change, n int) {
	list := e.spans[plan.Span{Block: b.Config.Config()}]
	if len(list) == 0 {
		return nil, 0
	}
	return list[0], len(list)
}
