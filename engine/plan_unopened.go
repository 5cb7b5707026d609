package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// checkUnopened has providers validate the ephemeral blocks that a plan without errors has asked no provider about. It is done as validating does it: with
// unknown values, so that nothing is opened for it. A block with a mistake is refused whether anything uses it or not.
func (p *planner) checkUnopened() {
	if p.req.Mode != plan.Normal || len(p.req.Targets)+len(p.req.Excludes) > 0 || p.interrupted() || p.run.Diags.List().HasErrors() {
		return
	}
	unopened := map[*eval.ResourceBlock]struct{}{}
	p.req.Config.EachResource(func(b *eval.ResourceBlock) {
		if _, asked := p.asked.Load(b); !asked && b.Config.Addr.Mode == addr.Ephemeral {
			unopened[b] = struct{}{}
		}
	})
	if len(unopened) == 0 {
		return
	}
	v := &validator{walk: p.newWalk(p.ctx, p.soft)}
	v.run = p.Engine.run(p.req.Config, eval.Validating, v, nil, p.plan.Timestamp)
	pool := future.NewPool(p.workers())
	pool.Go(func(t *future.Task) {
		p.guard("the ephemeral resources", func() { v.blocks(pool, t, v.run.Root, unopened) })
	})
	pool.Wait()
	p.run.Report(v.run.Diags.List())
	p.stats.Evaluations += v.run.Stats.Evaluations.Load()
}

// blocks validates those of the given blocks that are in the module or in those that it calls.
func (v *validator) blocks(pool *future.Pool, t *future.Task, m *eval.Module, which map[*eval.ResourceBlock]struct{}) {
	for _, c := range m.Calls() {
		for _, child := range c.Children(t, nil) {
			v.blocks(pool, t, child, which)
		}
	}
	for _, r := range m.Resources() {
		if _, ok := which[r.Block]; !ok {
			continue
		}
		instances, _ := r.Instances(t)
		for _, in := range instances {
			pool.Go(func(t *future.Task) { v.guard(in.Addr().String(), func() { v.instance(t, in) }) })
		}
	}
}
