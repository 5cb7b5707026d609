package eval

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/value"
)

// Session is the time during which one operation uses values from ephemeral resources. It holds their leases,
// and the values that were computed from them, and drops both at End. A Session belongs to one task.
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

// evalUnopened evaluates what may open ephemeral resources without opening any, and reports whether the
// outcome holds: it has nothing ephemeral in it, and nothing of it is unknown because something stayed
// closed. References may bring more than is used, such as all outputs of a module for the sake of one; what
// is ephemeral in a value marks all that is made from it, so what has no mark did not need it.
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

// Check lets f be asked, each time before values that the session already holds are used again, whether they
// still may be.
func (s *Session) Check(f func() bool) { s.checks = append(s.checks, f) }

// Fresh asks all checks. False means that a value must no longer be used, for a reason that was reported.
// Several tasks may ask at once.
func (s *Session) Fresh() bool {
	for _, f := range s.checks {
		if !f() {
			return false
		}
	}
	return true
}

// Fail notes that something which the session asked for could not be had; the reason was reported.
func (s *Session) Fail() { s.failed = true }

// Failed reports whether Fail was called: what the session's values were made of is incomplete then, and must
// not reach a provider.
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
