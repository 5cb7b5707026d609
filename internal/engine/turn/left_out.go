package turn

import (
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// leftOut returns new results for the conditions that a restricted plan does not evaluate, although it may
// change an object behind them: the stored ones are about that object as it was. The graph of blocks says
// which objects are behind a condition, since they may have been left out as well. Results with nothing
// behind them that changes stay, so that they don't have to be found anew.
func leftOut(cfg *blocks.Config, p *plan.Plan) (out []state.CheckResult) {
	var open []state.CheckResult
	for _, r := range p.Checks {
		if r.Status == state.CheckUnknown && len(r.Objects) == 0 {
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return nil
	}
	altered, changed := p.Altered(), []blocks.Node{}
	for _, c := range p.Changes {
		if !altered.Touched(plan.Dep{Resource: c.Addr.Abs(), Key: c.Addr.Key}) {
			continue
		}
		if m := cfg.Modules[c.Addr.Module.Module()]; m != nil && m.Resources[c.Addr.Resource] != nil {
			changed = append(changed, m.Resources[c.Addr.Resource])
		}
	}
	behind := readers(cfg, changed)
	for _, r := range open {
		if behind[r.Config] {
			out = append(out, r)
		}
	}
	return out
}

// readers returns the addresses of all blocks that lead to one of the given ones, and of these.
func readers(cfg *blocks.Config, of []blocks.Node) map[string]bool {
	by, seen := map[blocks.Node][]blocks.Node{}, map[blocks.Node]bool{}
	var visit func(blocks.Node)
	visit = func(n blocks.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for e := range blocks.Edges(n) {
			by[e.To] = append(by[e.To], n)
			if group, _ := blocks.Grouped(e.To); group != nil {
				visit(e.To)
			}
		}
	}
	for n := range cfg.EachBlock {
		visit(n)
	}
	out, found := map[string]bool{}, map[blocks.Node]bool{}
	for len(of) > 0 {
		n := of[0]
		of = of[1:]
		if !found[n] {
			found[n], out[n.Address()] = true, true
			of = append(of, by[n]...)
		}
	}
	return out
}
