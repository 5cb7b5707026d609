package changed

import (
	"iter"
	"strings"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// wholes are the sets of instances that something is evaluated from as a whole.
type wholes map[state.Subject]bool

// add adds the subjects that are sets of instances.
func (w wholes) add(subjects iter.Seq[state.Subject]) {
	for s := range subjects {
		if s.Kind == state.AllInstances || s.Kind == state.AllWithin {
			w[s] = true
		}
	}
}

// count returns how many objects each set has, by its address, and how many all of them have. Objects of
// several sets count once in the sum.
func (w wholes) count(read *state.State) (of map[string]int, all int) {
	if len(w) == 0 {
		return nil, 0
	}
	of = map[string]int{}
	for a, r := range read.Resources {
		objects := 0
		for _, in := range r.Instances {
			for range in.All() {
				objects++
			}
		}
		among := false
		count := func(s state.Subject) {
			if w[s] && objects > 0 {
				of[wholeAddress(s)] += objects
				among = true
			}
		}
		count(state.Subject{Kind: state.AllInstances, Addr: a.String()})
		block := a.Config().String()
		for in := a.Module; ; in, _, _ = in.Parent() {
			count(state.Subject{Kind: state.AllWithin, Addr: block, Within: in.String()})
			if in.IsRoot() {
				break
			}
		}
		if among {
			all += objects
		}
	}
	return of, all
}

// wholeAddress returns the address that selects a set of instances. Calls below the module instance that they
// lie in have no keys there, as all are meant.
func wholeAddress(s state.Subject) string {
	in, err := addr.ParseModuleInstance(s.Within)
	if s.Within == "" || err != nil {
		return s.Addr
	}
	return s.Within + strings.TrimPrefix(s.Addr, in.Module().String())
}
