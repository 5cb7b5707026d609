package changed

import (
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// ahead are the objects that evaluations will ask for. They are read at once: one by one, each would take a
// transaction.
type ahead map[state.Subject]bool

func (a ahead) add(deps []plan.Dep) {
	for _, s := range plan.Subjects(deps) {
		a[s] = true
	}
}

// addInstances adds the objects that the instances of a resource refer to. Instances of one that leads to
// itself are not evaluated before all of them are queued.
func (s *session) addInstances(a ahead, r *eval.Resource) {
	if slices.ContainsFunc(s.blocks[r.Block], func(n *node) bool { return n.cycle != nil }) {
		return
	}
	s.run.Guard(r.Addr(), func() {
		instances, _ := r.Instances(s.t)
		for _, in := range instances {
			a.add(in.Deps(s.t))
		}
	})
}

// loadLate reads the objects that values and checks refer to which are evaluated when all instances are
// planned.
func (s *session) loadLate() error {
	need := ahead{}
	for _, path := range s.lates() {
		for _, m := range s.run.Modules(s.t, path) {
			late := func(address string) bool {
				return s.attempt.isLate(m.Addr, strings.TrimPrefix(address, m.Addr.Join("")))
			}
			s.run.Guard("the values of a module", func() {
				for v := range m.Values {
					if late(v.Addr()) {
						need.add(v.Deps(s.t))
					}
				}
				for _, c := range m.CheckBlocks() {
					if late(c.Addr()) {
						need.add(c.Deps(s.t))
					}
				}
			})
		}
	}
	s.attempt.wholes.add(maps.Keys(need))
	return s.load(slices.Collect(maps.Keys(need)))
}
