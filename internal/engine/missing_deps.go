package engine

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// missingDeps finds dependencies on instances that are missing. A dependency on a whole resource is resolved
// once, however many objects have it. The results are cached, so a missingDeps must not outlive a change to
// the set of instances.
type missingDeps struct {
	instances func(*future.Task, plan.Dep) ([]addr.Instance, bool)
	missing   func(addr.Instance) bool

	mu    sync.Mutex
	known map[plan.Dep]bool
}

// any reports whether one of the dependencies is on a missing instance, or on instances that are not known.
func (m *missingDeps) any(t *future.Task, deps []plan.Dep) bool {
	return slices.ContainsFunc(deps, func(d plan.Dep) bool {
		if !d.All {
			return m.missing(d.Resource.Instance(d.Key))
		}
		m.mu.Lock()
		lacks, ok := m.known[d]
		m.mu.Unlock()
		if ok {
			return lacks
		}
		instances, known := m.instances(t, d)
		lacks = !known || slices.ContainsFunc(instances, m.missing)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.known == nil {
			m.known = map[plan.Dep]bool{}
		}
		m.known[d] = lacks
		return lacks
	})
}
