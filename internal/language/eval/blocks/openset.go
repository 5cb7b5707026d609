package blocks

import (
	"maps"

	"github.com/mayfly-iac/mayfly/addr"
)

// OpenSet is a set of resource blocks: ephemeral ones, or blocks with computed values that are not stored.
// Sets are shared, never changed.
type OpenSet struct {
	// All has the addresses of the blocks. It must not be changed.
	All map[addr.ConfigResource]struct{}
}

var noOpens = &OpenSet{}

// Empty reports whether nothing is in the set. A nil set is empty.
func (s *OpenSet) Empty() bool { return s == nil || len(s.All) == 0 }

func (s *OpenSet) has(r addr.ConfigResource) bool {
	if s == nil {
		return false
	}
	_, ok := s.All[r]
	return ok
}

// union returns a set with the elements of both. If one is empty, it is the other one and no copy: most
// blocks open nothing of their own.
func (s *OpenSet) union(o *OpenSet) *OpenSet {
	if o.Empty() || o == s {
		return s
	}
	if s.Empty() {
		return o
	}
	u := &OpenSet{All: maps.Clone(s.All)}
	maps.Copy(u.All, o.All)
	return u
}
