package eval

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/lang"
)

// Hold opens the ephemeral instances that the instance's depends_on names and keeps them open until s ends: a tunnel is needed by what never reads
// its attributes. What cannot be opened is reported by the host.
func (in *Instance) Hold(t *future.Task, s *Session) {
	sc := in.scope(t, s)
	for i := range in.Resource.Block.dependsOn {
		ref := &in.Resource.Block.dependsOn[i]
		res := sc.m.resources[ref.Resource]
		if ref.Kind != lang.Resource || ref.Resource.Mode != addr.Ephemeral || res == nil {
			continue
		}
		key, one := sc.key(ref.Index, res.Form())
		instances, _ := res.Instances(t)
		for _, dep := range instances {
			if !one || !res.repeat.repeated() || dep.Addr().Key == key {
				dep.get(t, s, &ref.Range)
			}
		}
	}
}
