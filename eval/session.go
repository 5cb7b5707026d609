package eval

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/value"
)

// Session is the time during which one operation uses values from ephemeral resources. It holds their leases
// and the values computed from them, and drops both at End. A Session belongs to one task.
type Session struct {
	values    map[*Value]cty.Value
	instances map[*Instance]cty.Value
	release   []func()
	checks    []func() bool
	failed    bool

	// dry sessions open nothing: what comes from ephemeral resources is unknown in them.
	dry bool

	// User and Purpose identify the operation that uses the values. They are for the host; nothing here
	// depends on them.
	User    any
	Purpose string
}

// NewSession starts a session. End must be called exactly once.
func NewSession() *Session {
	return &Session{values: map[*Value]cty.Value{}, instances: map[*Instance]cty.Value{}}
}

// evalUnopened evaluates without opening anything an expression that may open ephemeral resources. It
// reports whether the result is valid: nothing in it is ephemeral, or unknown because a resource was not
// opened. References may select more than is used, such as all outputs of a module for the sake of one.
// Since a mark is passed on to everything computed from a value, a result without marks did not need the
// ephemeral part.
func (r *Run) evalUnopened(eval func(*Session) (cty.Value, diag.List)) (cty.Value, diag.List, bool) {
	dry := NewSession()
	dry.dry = true
	defer dry.End()
	v, diags := eval(dry)
	holds := !diags.HasErrors() && !value.Contains(v, value.Ephemeral) && (!r.cfg.NullsEphemeral() || v.IsWhollyKnown())
	return v, diags, holds
}

// Keep calls release at the end of the session.
func (s *Session) Keep(release func()) { s.release = append(s.release, release) }

// Check registers f, which is called before values that the session holds are used again, and reports
// whether they are still valid.
func (s *Session) Check(f func() bool) { s.checks = append(s.checks, f) }

// Fresh calls all checks. If it returns false, values of the session must no longer be used, for a reason
// that was reported. It is safe for concurrent use.
func (s *Session) Fresh() bool {
	for _, f := range s.checks {
		if !f() {
			return false
		}
	}
	return true
}

// Fail marks the session as failed: something that it needed could not be opened, which was reported.
func (s *Session) Fail() { s.failed = true }

// Failed reports whether Fail was called. The session's values are incomplete then and must not reach a
// provider.
func (s *Session) Failed() bool { return s.failed }

// Empty reports whether the session holds no lease.
func (s *Session) Empty() bool { return len(s.release) == 0 }

// End drops the values and releases the leases, the newest first.
func (s *Session) End() {
	s.values, s.instances, s.checks = nil, nil, nil
	for i := len(s.release) - 1; i >= 0; i-- {
		s.release[i]()
	}
	s.release = nil
}
