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
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Session is the time during which one operation uses values from ephemeral resources. It holds their leases
// and the values computed from them, and drops both at End. A Session belongs to one task.
//
// Evaluation opens nothing: what a session does not hold is unknown, and noted. Only settle opens it.
type Session struct {
	values    map[*Value]cty.Value
	instances map[*Instance]cty.Value // that are open
	missing   []need                  // that the evaluation under way refers to and are not open
	release   []func()
	checks    []func() bool
	failed    bool

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

// open has the host open the instance, which s does not hold yet.
func (n need) open(t *future.Task, s *Session) {
	run := n.Run()
	run.cover(coverage.Resource, n.Config().Range, coverage.If(run.opt.Phase == Planning))
	var got cty.Value
	t.Within(n.Instance, n.via, func() { got = run.opt.Host.Open(t, s, n.Instance) })
	s.instances[n.Instance] = got
}

// NewSession starts a session. End must be called exactly once.
func NewSession() *Session {
	return &Session{values: map[*Value]cty.Value{}, instances: map[*Instance]cty.Value{}}
}

// evaluate evaluates within s, which may be nil, and returns which instances the result lacks: those that
// are not open. If there are any, values that were computed on the way are not kept.
func (s *Session) evaluate(eval func() (cty.Value, diag.List)) (evaluated, []need) {
	if s == nil {
		v, diags := eval()
		return evaluated{v, diags}, nil
	}
	before := maps.Clone(s.values)
	s.missing = nil
	v, diags := eval()
	missing := s.missing
	s.missing = nil
	if len(missing) > 0 {
		s.values = before
	}
	return evaluated{v, diags}, missing
}

// settle evaluates within s and opens what the result lacks, all at once, until it lacks nothing or done
// reports that it does not matter; done may be nil.
func settle(r *Run, t *future.Task, s *Session, eval func() (cty.Value, diag.List), done func(evaluated) bool) (cty.Value, diag.List) {
	for {
		got, missing := s.evaluate(eval)
		if len(missing) == 0 || r.opt.Phase == Validating || got.canceled() || done != nil && done(got) {
			return got.value, got.diags
		}
		r.open(t, s, missing)
	}
}

// canceled reports whether the evaluation was ended by an interrupt, after which nothing is opened for it.
func (e evaluated) canceled() bool {
	return slices.ContainsFunc(e.diags, func(d diag.Diagnostic) bool { return d.Extra == context.Canceled })
}

// independent reports whether a result that lacks something is valid: nothing in it is ephemeral, or unknown
// because a resource was not opened. References may select more than is used, such as all outputs of a module
// for the sake of one. Since a mark is passed on to everything computed from a value, a result without marks
// did not need the ephemeral part.
func independent(r *Run, e evaluated) bool {
	return !e.diags.HasErrors() && !value.Contains(e.value, value.Ephemeral) && (!r.cfg.NullsEphemeral() || e.value.IsWhollyKnown())
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
	s.values, s.instances, s.checks, s.missing = nil, nil, nil, nil
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

// open opens the instances that s does not hold yet, all at once. One that cannot be opened is unknown in s.
func (r *Run) open(t *future.Task, s *Session, needed []need) {
	var fs []func(*future.Task, *Session)
	seen := map[*Instance]struct{}{}
	for _, n := range needed {
		_, ok := s.instances[n.Instance]
		_, again := seen[n.Instance]
		seen[n.Instance] = struct{}{}
		if !ok && !again {
			fs = append(fs, n.open)
		}
	}
	switch len(fs) {
	case 0:
	case 1:
		fs[0](t, s)
	default:
		r.Together(t, s, fs...)
		for _, n := range needed {
			if _, ok := s.instances[n.Instance]; !ok { // opening it failed with a panic
				s.instances[n.Instance] = unopened(n.Instance)
			}
		}
	}
}

// NeedsOpen returns the ephemeral instances that the configuration refers to, and whether it is wholly known
// as soon as their values are.
func (in *Instance) NeedsOpen(t *future.Task) (needs []*Instance, known bool) {
	s := NewSession()
	defer s.End()
	got, missing := s.evaluate(func() (cty.Value, diag.List) { return in.evalBody(t, s) })
	for _, n := range missing {
		needs = append(needs, n.Instance)
	}
	known = true
	_ = cty.Walk(got.value, func(_ cty.Path, part cty.Value) (bool, error) { // the function returns no error
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
	got, missing := s.evaluate(func() (cty.Value, diag.List) { return in.evalBody(t, s) })
	switch {
	case got.canceled():
		in.Run().Report(got.diags)
		s.Fail()
	case !bodySettled(in, got):
		in.Run().open(t, s, missing)
	}
}
