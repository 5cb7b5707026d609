package eval

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/slot"
	"github.com/mayfly-iac/mayfly/internal/language/lang"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Session is the time during which one operation uses values from ephemeral resources. It holds their leases
// and the values computed from them, and drops both at End. A Session belongs to one task.
type Session struct {
	values    map[*Value]cty.Value
	instances map[*Instance]cty.Value
	release   []func()
	checks    []func() bool
	failed    bool

	// dry sessions open nothing: what comes from ephemeral resources is unknown in them. needed collects the
	// instances that would have been opened.
	dry    bool
	needed []need

	// Turn bounds the provider operations of the session: opening something is part of it. Nil means that
	// they are unbounded.
	Turn *slot.Turn
	// User and Purpose identify the operation that uses the values. They are for the host; nothing here
	// depends on them.
	User    any
	Purpose string
}

// need is an instance that an evaluation refers to.
type need struct {
	*Instance
	via *hcl.Range
}

// NewSession starts a session. End must be called exactly once.
func NewSession() *Session {
	return &Session{values: map[*Value]cty.Value{}, instances: map[*Instance]cty.Value{}}
}

// newDrySession starts a session that opens nothing.
func newDrySession() *Session {
	s := NewSession()
	s.dry = true
	return s
}

// needs notes that the evaluation in a dry session refers to an instance.
func (s *Session) needs(in *Instance, via *hcl.Range) {
	if _, ok := s.instances[in]; !ok {
		s.instances[in] = cty.NilVal
		s.needed = append(s.needed, need{in, via})
	}
}

// evalUnopened evaluates without opening anything an expression that may open ephemeral resources. It
// reports whether the result is valid: nothing in it is ephemeral, or unknown because a resource was not
// opened. References may select more than is used, such as all outputs of a module for the sake of one.
// Since a mark is passed on to everything computed from a value, a result without marks did not need the
// ephemeral part.
func (r *Run) evalUnopened(eval func(*Session) (cty.Value, diag.List)) (cty.Value, diag.List, bool) {
	dry := newDrySession()
	defer dry.End()
	v, diags := eval(dry)
	holds := !diags.HasErrors() && !value.Contains(v, value.Ephemeral) && (!r.cfg.NullsEphemeral() || v.IsWhollyKnown())
	return v, diags, holds
}

// Keep calls release at the end of the session.
func (s *Session) Keep(release func()) { s.release = append(s.release, release) }

// Check registers f, which is called before values that the session holds are used again, and reports
// whether they are still valid. Other checks may run at the same time. f must not panic.
func (s *Session) Check(f func() bool) { s.checks = append(s.checks, f) }

// Fresh calls all checks at once: each may have to wait for a renewal. If it returns false, values of the
// session must no longer be used, for a reason that was reported. It is safe for concurrent use.
func (s *Session) Fresh() bool {
	if len(s.checks) == 1 {
		return s.checks[0]()
	}
	var stale atomic.Bool
	var checks sync.WaitGroup
	for _, f := range s.checks {
		checks.Go(func() {
			if !f() {
				stale.Store(true)
			}
		})
	}
	checks.Wait()
	return !stale.Load()
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
	s.values, s.instances, s.checks, s.needed = nil, nil, nil, nil
	for i := len(s.release) - 1; i >= 0; i-- {
		s.release[i]()
	}
	s.release = nil
}

// Together calls functions at once on behalf of t, each with a task and a session of its own, and returns
// when all have returned. What they hold open, s holds afterwards. While they run, the slot of s is theirs.
// They must not demand anything durable that is not computed yet.
func (r *Run) Together(t *future.Task, s *Session, fs ...func(*future.Task, *Session)) {
	parts := make([]*Session, len(fs))
	s.Turn.Lend(func() {
		var running sync.WaitGroup
		for i, f := range fs {
			part := s.part()
			parts[i] = part
			running.Go(func() {
				returned := false
				r.Guard("opening ephemeral resources", func() {
					f(&future.Task{}, part)
					returned = true
				})
				part.failed = part.failed || !returned
			})
		}
		t.Idle(running.Wait)
	})
	for _, part := range parts {
		s.adopt(part)
	}
}

// part returns a session for a part of the operation that s belongs to.
func (s *Session) part() *Session {
	part := NewSession()
	part.User, part.Purpose, part.Turn = s.User, s.Purpose, s.Turn.Part()
	return part
}

// adopt takes over what a part of s has opened.
func (s *Session) adopt(part *Session) {
	maps.Copy(s.instances, part.instances)
	s.release = append(s.release, part.release...)
	s.checks = append(s.checks, part.checks...)
	s.failed = s.failed || part.failed
}

// open opens the instances that s does not hold yet, all at once.
func (r *Run) open(t *future.Task, s *Session, needed []need) {
	var fs []func(*future.Task, *Session)
	for _, n := range needed {
		if _, ok := s.instances[n.Instance]; !ok {
			fs = append(fs, func(t *future.Task, s *Session) { n.get(t, s, n.via) })
		}
	}
	switch len(fs) {
	case 0:
	case 1:
		fs[0](t, s)
	default:
		r.Together(t, s, fs...)
	}
}

// openNeeds opens, all at once, what try refers to, which gets a session that opens nothing. Without it, each
// instance would be opened by the first reference to it.
func (r *Run) openNeeds(t *future.Task, s *Session, try func(dry *Session)) {
	if s == nil || s.dry || r.opt.Phase == Validating {
		return
	}
	dry := newDrySession()
	defer dry.End()
	try(dry)
	r.open(t, s, dry.needed)
}

// openNeeds opens, all at once, what the expressions refer to.
func (sc *scope) openNeeds(exprs ...*lang.Expr) {
	run := sc.m.run
	if sc.sess == nil || !run.cfg.HasEphemerals() || sc.m.block.OpensOf(exprs...).Empty() {
		return
	}
	run.openNeeds(sc.t, sc.sess, func(dry *Session) {
		unopened := *sc
		unopened.sess = dry
		run.context(&unopened, exprs...)
	})
}

// NeedsOpen returns the ephemeral instances that the configuration refers to, and whether it is wholly known
// as soon as their values are.
func (in *Instance) NeedsOpen(t *future.Task) (needs []*Instance, known bool) {
	v, _, _ := in.Run().evalUnopened(func(dry *Session) (cty.Value, diag.List) {
		v, diags := in.evalBody(t, dry)
		for _, n := range dry.needed {
			needs = append(needs, n.Instance)
		}
		return v, diags
	})
	known = true
	_ = cty.Walk(v, func(_ cty.Path, part cty.Value) (bool, error) { // the function returns no error
		unopened := part.HasMark(value.Ephemeral)
		known = known && (unopened || part.IsKnown())
		return !unopened, nil
	})
	return needs, known
}

// OpenForBody opens, all at once, what evaluating the configuration will need.
func (in *Instance) OpenForBody(t *future.Task, s *Session) {
	if !in.Resource.Block.BodyOpens() {
		return
	}
	var needed []need
	_, diags, holds := in.Run().evalUnopened(func(dry *Session) (cty.Value, diag.List) {
		v, diags := in.evalBody(t, dry)
		needed = dry.needed
		return v, diags
	})
	switch {
	case slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Extra == context.Canceled }):
		in.Run().Report(diags)
		s.Fail()
	case !holds || in.Resource.ephemeral:
		in.Run().open(t, s, needed)
	}
}
