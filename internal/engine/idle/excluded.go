// Package idle finds the uses of computed values by parts of the configuration that a plan does not reach:
// objects that it leaves out, provisioners of objects that stay, and actions that it does not invoke (E97 and
// E98 in ADR 033).
//
// It may evaluate, in a run of its own that sees the objects as the state has them: in the run of the plan,
// this would plan whatever they refer to. It must not open anything or ask a provider.
package idle

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// AddExcluded adds the uses of computed values by the arguments of objects that a restricted plan leaves out,
// and that may not exist yet. planned reports whether the plan has an object.
func AddExcluded(u *computed.Uses, run *eval.Run, cfg *blocks.Config, planned func(addr.Instance) bool) {
	mayUse := func(b *blocks.Resource) bool {
		return b.Config.Addr.Mode == addr.Managed && (len(b.Withheld) > 0 || b.Schema.Block.HasWriteOnly())
	}
	each(run, cfg, mayUse, func(t *future.Task, in *eval.Instance) {
		if planned(in.Addr()) {
			return
		}
		b := in.Resource.Block
		in.Prepare(t)
		cfg, diags := in.EvalBody(t, eval.NewOpened(nil))
		if diags.HasErrors() {
			return
		}
		for _, part := range value.PathsMadeOf(cfg) {
			withheld := b.Withheld.Matches(part.Path)
			u.Miss(part.Of, in.Addr())
			u.Add(part.Of, computed.Use{
				User: in.Addr().String(), Instance: in.Addr(), Path: part.Path,
				Withheld: withheld, Ignored: withheld && contract.Ignores(b.Schema.Block, &in.Config().Lifecycle, part.Path),
			})
		}
	})
}

// each calls f for the instances of all blocks that are chosen.
func each(run *eval.Run, cfg *blocks.Config, chosen func(*blocks.Resource) bool, f func(*future.Task, *eval.Instance)) {
	t := &future.Task{}
	cfg.EachResource(func(b *blocks.Resource) {
		if !chosen(b) {
			return
		}
		for _, m := range run.Modules(t, b.Module.Config.Path) {
			instances, _ := m.Resource(b.Config.Addr).Instances(t)
			for _, in := range instances {
				f(t, in)
			}
		}
	})
}
