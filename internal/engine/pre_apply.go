package engine

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// Open implements eval.Host.
func (a *applier) Open(t *future.Task, s *eval.Session, in *eval.Instance) cty.Value {
	return a.openFor(t, s, in, eval.Use{Kind: eval.UseInstance, Instance: in.Addr()})
}

func (a *applier) openFor(t *future.Task, s *eval.Session, in *eval.Instance, use eval.Use) cty.Value {
	a.mu.Lock()
	a.opened[in.Addr()] = struct{}{}
	a.mu.Unlock()
	return a.pool.OpenAs(t, s, in, use, func(*future.Task, *eval.Instance) bool { return false })
}

// preApplyHost gives the objects as they were before the apply.
type preApplyHost struct{ *applier }

// Result implements eval.Host.
func (h *preApplyHost) Result(t *future.Task, in *eval.Instance) cty.Value { return h.fromState(in) }

// Open implements eval.Host. An instance that is the same before and after the apply is opened once for
// both.
func (h *preApplyHost) Open(t *future.Task, s *eval.Session, in *eval.Instance) cty.Value {
	use := eval.Use{Kind: eval.UseInstance, Instance: in.Addr()}
	return h.openFor(t, s, in, h.asPreApply(t, []eval.Use{use})[0])
}

// asPreApply returns the uses with PreApply set where the apply changes what they refer to: an instance
// opened with the old objects must not be mistaken for one opened with the final objects.
func (a *applier) asPreApply(t *future.Task, uses []eval.Use) []eval.Use {
	out := slices.Clone(uses)
	for i, u := range out {
		if u.Kind != eval.UseInstance {
			continue
		}
		m := a.preApply.run.Module(u.Instance.Module)
		in := m.Resource(u.Instance.Resource).Instance(u.Instance.Key)
		out[i].PreApply = slices.ContainsFunc(in.Deps(t), a.altered.Touched)
	}
	return out
}
