package settle

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Reads returns the objects that a plan has asked providers about. A restricted plan does not look at all
// objects; read reports whether it has read one, or may report that it has not.
func Reads(p *plan.Plan, restricted bool, read func(addr.Object) bool) *state.Reads {
	if p.Mode == plan.Destroy || p.SkipRefresh {
		return nil
	}
	if !restricted {
		return &state.Reads{All: true}
	}
	out := &state.Reads{}
	for a := range p.Base.AllInstances() {
		if a.Resource.Mode == addr.Managed && read(addr.Object{Instance: a}) {
			out.Instances = append(out.Instances, a)
		}
	}
	for _, c := range p.Changes {
		if (c.Action == plan.Create || c.Action.IsReplace()) && c.Addr.Resource.Mode == addr.Managed {
			out.Instances = append(out.Instances, c.Addr)
		}
	}
	return out
}
