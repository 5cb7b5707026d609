package eval

import "github.com/zclconf/go-cty/cty"

// Session is the time during which one operation uses values from ephemeral resources. It holds their leases, and the values that were computed
// from them, and drops both at End. A Session belongs to one task.
type Session struct {
	values    map[*Value]cty.Value
	instances map[*Instance]cty.Value
	release   []func()

	// User is whoever uses the values, and Purpose is for what. They are for the host; nothing here depends on them.
	User    any
	Purpose string
}

// NewSession starts a session. End must be called exactly once.
func NewSession() *Session {
	return &Session{values: map[*Value]cty.Value{}, instances: map[*Instance]cty.Value{}}
}

// Keep calls release at the end of the session.
func (s *Session) Keep(release func()) { s.release = append(s.release, release) }

// Empty reports whether the session holds no lease.
func (s *Session) Empty() bool { return len(s.release) == 0 }

// End drops the values and releases the leases, the newest first.
func (s *Session) End() {
	s.values, s.instances = nil, nil
	for i := len(s.release) - 1; i >= 0; i-- {
		s.release[i]()
	}
	s.release = nil
}
