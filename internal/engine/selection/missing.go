package selection

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// MissingDeps finds dependencies on instances that are missing. A dependency on a whole resource is resolved
// once, however many objects have it. The results are cached, so a MissingDeps must not outlive a change to
// the set of instances.
type MissingDeps struct {
	Instances func(*future.Task, plan.Dep) ([]addr.Instance, bool)
	Missing   func(addr.Instance) bool

	mu    sync.Mutex
	known map[plan.Dep]bool
}

// Any reports whether one of the dependencies is on a missing instance, or on instances that are not known.
func (m *MissingDeps) Any(t *future.Task, deps []plan.Dep) bool {
	return slices.ContainsFunc(deps, func(d plan.Dep) bool {
		if !d.All {
			return m.Missing(d.Resource.Instance(d.Key))
		}
		m.mu.Lock()
		lacks, ok := m.known[d]
		m.mu.Unlock()
		if ok {
			return lacks
		}
		instances, known := m.Instances(t, d)
		lacks = !known || slices.ContainsFunc(instances, m.Missing)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.known == nil {
			m.known = map[plan.Dep]bool{}
		}
		m.known[d] = lacks
		return lacks
	})
}
