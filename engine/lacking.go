package engine

import (
	"slices"
	"sync"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/future"
	"github.com/mayfly-iac/mayfly/plan"
)

// lacking finds dependencies on instances that are missing. What a dependency on all of a resource comes to
// is found once, however many have it: a lacking is for a time in which no instance comes or goes.
type lacking struct {
	instances func(*future.Task, plan.Dep) ([]addr.Instance, bool)
	missing   func(addr.Instance) bool

	mu    sync.Mutex
	known map[plan.Dep]bool
}

// any reports whether one of the dependencies is on a missing instance, or on instances that cannot be told.
func (l *lacking) any(t *future.Task, deps []plan.Dep) bool {
	return slices.ContainsFunc(deps, func(d plan.Dep) bool {
		if !d.All {
			return l.missing(d.Resource.Instance(d.Key))
		}
		l.mu.Lock()
		lacks, ok := l.known[d]
		l.mu.Unlock()
		if ok {
			return lacks
		}
		instances, told := l.instances(t, d)
		lacks = !told || slices.ContainsFunc(instances, l.missing)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.known == nil {
			l.known = map[plan.Dep]bool{}
		}
		l.known[d] = lacks
		return lacks
	})
}
