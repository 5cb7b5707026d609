package plan

import (
	"slices"

	"github.com/mayfly-iac/mayfly/addr"
)

// SpreadReplaceOrder applies create-before-destroy to everything that an object with that order depends on,
// and reverses replacements accordingly: if a dependency were destroyed first, its dependent would have to
// be destroyed first too. The result is stored in the changes and, through apply, in the state. It takes
// time linear in the number of dependencies, and is called once, when all changes are known.
func (p *Plan) SpreadReplaceOrder() {
	if !slices.ContainsFunc(p.Changes, func(c *Change) bool { return c.CreateBeforeDestroy }) {
		return // and there may be many changes
	}
	current := make(map[addr.Instance]*Change, len(p.Changes))
	resource := map[addr.AbsResource][]*Change{}
	block := map[Span][]*Change{}
	var queue []*Change
	for _, c := range p.Changes {
		if c.Deposed == addr.Current {
			current[c.Addr] = c
			resource[c.Addr.Abs()] = append(resource[c.Addr.Abs()], c)
			for _, span := range Spans(c.Addr) {
				block[span] = append(block[span], c)
			}
		}
		if c.CreateBeforeDestroy {
			queue = append(queue, c)
		}
	}
	mark := func(c *Change) {
		if c != nil && !c.CreateBeforeDestroy && c.Addr.Resource.Mode == addr.Managed {
			c.CreateBeforeDestroy = true
			queue = append(queue, c)
		}
	}
	for len(queue) > 0 {
		c := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if c.Action == DeleteThenCreate {
			c.Action = CreateThenDelete
		}
		for _, d := range c.Deps {
			if !d.All {
				mark(current[d.Resource.Instance(d.Key)])
				continue
			}
			if d.Modules {
				for _, dep := range block[d.Span()] {
					mark(dep)
				}
				delete(block, d.Span())
				continue
			}
			for _, dep := range resource[d.Resource] {
				mark(dep)
			}
			resource[d.Resource] = nil // each resource is visited once
		}
		for _, r := range c.StateDeps {
			for _, dep := range block[Span{Block: r}] {
				mark(dep)
			}
			block[Span{Block: r}] = nil
		}
	}
}
