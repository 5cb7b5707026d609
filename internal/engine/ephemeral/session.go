package ephemeral

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/base/slot"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// Rules are how a walk opens instances. Each function may be nil, and may be called concurrently.
type Rules struct {
	// Skip reports whether an instance stays closed and its object unknown.
	Skip func(*eval.Instance) bool
	// Pending reports whether something that an instance explicitly depends on has changes that are not made
	// yet: then it is not opened, and its object is unknown but for its configuration.
	Pending func(*future.Task, *eval.Instance) bool
	// Use returns the name under which an instance is claimed, its address if Use is nil.
	Use func(*future.Task, *eval.Instance) eval.Use
	// Opening is called before an instance is opened or used.
	Opening func(*eval.Instance)
}

func (r *Rules) skips(in *eval.Instance) bool { return r.Skip != nil && r.Skip(in) }

func (r *Rules) pending(t *future.Task, in *eval.Instance) bool {
	return r.Pending != nil && r.Pending(t, in)
}

func (r *Rules) use(t *future.Task, in *eval.Instance) eval.Use {
	if r.Use != nil {
		return r.Use(t, in)
	}
	return eval.Use{Kind: eval.UseInstance, Instance: in.Addr()}
}

// Session is the time during which one operation uses ephemeral values. It opens what the operation lacks,
// side by side, and holds the leases until End. A Session belongs to one task.
type Session struct {
	*eval.Opened
	// Purpose is the operation, for observers.
	Purpose event.Op

	pool  *Pool
	rules *Rules
	turn  *slot.Turn // of the operation
	user  any        // an *eval.Instance, *eval.Value, *eval.ProviderObject or addr.Object; nil for none

	mu       sync.Mutex // guards the fields below while things are opened side by side
	releases []func()
	checks   []func() bool
	failed   bool
}

// NewSession starts a session of the operation whose turn it is. user says who uses what is opened: an
// *eval.Instance, *eval.Value, *eval.ProviderObject, addr.Object or nil. End must be called exactly once.
func (p *Pool) NewSession(turn *slot.Turn, rules *Rules, user any, op event.Op) *Session {
	s := &Session{Purpose: op, pool: p, rules: rules, turn: turn, user: user}
	s.Opened = eval.NewOpened(s)
	return s
}

// part returns the session of something that is opened for s.
func (s *Session) part(user any, op event.Op) *Session {
	return s.pool.NewSession(s.turn.Part(), s.rules, user, op)
}

// Turn returns the turn of the operation.
func (s *Session) Turn() *slot.Turn { return s.turn }

// Open implements eval.Opener.
func (s *Session) Open(t *future.Task, needs []eval.Need) { s.open(t, needs, nil) }

// Provider returns the configured provider of an operation on the instance, and opens the needs beside it. It
// returns nil if anything failed, which was reported. What the configuration of the provider needs must have
// been prepared.
func (s *Session) Provider(t *future.Task, po *eval.ProviderObject, i addr.Instance, needs ...eval.Need) (p provider.Reader) {
	if !s.failed {
		s.open(t, needs, func(t *future.Task) { p = s.providerFor(t, po, i) })
	}
	if s.failed {
		return nil
	}
	return p
}

// ProviderOf returns the configured provider of the instance and its address, and opens beside it what
// depends_on holds open, and the needs. The provider is nil if anything failed, which was reported.
func (s *Session) ProviderOf(t *future.Task, in *eval.Instance, needs ...eval.Need) (provider.Reader, addr.ProviderConfig) {
	po := in.Provider(t)
	if po == nil {
		return nil, addr.ProviderConfig{}
	}
	return s.Provider(t, po, in.Addr(), append(in.Held(t), needs...)...), po.Addr
}

// BodyNeeds returns what evaluating the configuration of the instance begins with opening. If it was
// interrupted, s has failed.
func (s *Session) BodyNeeds(t *future.Task, in *eval.Instance) []eval.Need {
	needs, ok := in.BodyLacks(t, s.Opened)
	if !ok {
		s.fail()
	}
	return needs
}

// open opens the instances that s does not have yet, and calls also, all side by side. also may be nil. An
// instance that cannot be opened has an unknown object afterwards.
func (s *Session) open(t *future.Task, needs []eval.Need, also func(*future.Task)) {
	var lacking []opening
	for _, n := range needs {
		if !s.Has(n.Instance) {
			object := eval.Unopened(n.Instance)
			s.Add(n.Instance, object) // until it is open, and so that it is not opened twice
			lacking = append(lacking, opening{need: n, object: object})
		}
	}
	var others sync.WaitGroup
	switch {
	case len(lacking) == 0 && also == nil:
		return
	case len(lacking) == 0:
		also(t)
	case len(lacking) == 1 && also == nil:
		lacking[0].open(t, s)
	default:
		resume, takeBack := t.Idle(), s.turn.Lend()
		for i := range lacking[1:] {
			others.Go(func() { lacking[i+1].openBeside(s) })
		}
		if also != nil {
			others.Go(func() {
				defer s.survive()
				also(&future.Task{})
			})
		}
		lacking[0].openBeside(s)
		others.Wait()
		takeBack()
		resume()
	}
	for _, o := range lacking {
		s.Add(o.need.Instance, o.object)
	}
}

// opening is the opening of an instance for a session.
type opening struct {
	need   eval.Need
	object cty.Value
}

// openBeside opens the instance beside others.
func (o *opening) openBeside(s *Session) {
	defer s.survive()
	o.open(&future.Task{}, s)
}

func (o *opening) open(t *future.Task, s *Session) {
	defer t.Enter(o.need.Instance, o.need.Via)()
	o.need.NoteOpening()
	o.object = s.instance(t, o.need.Instance)
}

// survive reports a panic of the function that defers it, after which s has failed.
func (s *Session) survive() {
	if p := recover(); p != nil {
		s.pool.run.Report(diag.Bug("opening ephemeral resources", bug.New(p)))
		s.fail()
	}
}

// instance returns the object of an instance, on which s holds a lease then. It is opened if it is not open.
func (s *Session) instance(t *future.Task, in *eval.Instance) cty.Value {
	if s.rules.skips(in) {
		return eval.Unopened(in)
	}
	if s.rules.Opening != nil {
		s.rules.Opening(in)
	}
	use := s.rules.use(t, in)
	l, v, ok := s.acquire(t, use, func() (lease.Opened[opened], error) {
		o := opener{Pool: s.pool, in: in, t: t, s: s.part(in, event.OpOpen)}
		return o.open()
	})
	if !ok {
		return eval.Unopened(in)
	}
	s.check(func() (fresh bool) {
		s.pool.run.Guard("checking "+in.Addr().String(), func() {
			_, err := l.Value(s.pool.opt.Ctx)
			if err != nil {
				s.pool.reportAcquire(use, err)
			}
			fresh = err == nil
		})
		return fresh
	})
	return v.object
}

// acquire takes a lease, which s holds, and returns it with its value. If that fails, it reports why, and s
// has failed. open opens the thing, with calls of the turn, if it is not open.
func (s *Session) acquire(t *future.Task, use eval.Use, open func() (lease.Opened[opened], error)) (l *lease.Lease[eval.Use, opened], v opened, ok bool) {
	p := s.pool
	l, err := s.lease(t, use, open)
	if err == nil {
		s.turn.Keep()
		s.hold(p.reportUse(s, use, l.Release))
		v, err = l.Value(p.opt.Ctx)
	}
	if err != nil {
		p.reportAcquire(use, err)
		s.fail()
	}
	return l, v, err == nil
}

// lease takes a lease. While another operation opens or closes the thing, the slot serves the openings of all
// operations, and unless s has something open, another operation may begin. While the thing is opened for s,
// the slot serves the calls for that.
func (s *Session) lease(t *future.Task, use eval.Use, open func() (lease.Opened[opened], error)) (*lease.Lease[eval.Use, opened], error) {
	defer s.turn.Lend()()
	wait := func(ready <-chan struct{}) error {
		defer t.Idle()()
		defer s.turn.Release()()
		select {
		case <-ready:
			return nil
		case <-s.pool.opt.Soft.Done(): // an operation that has not begun to use the thing does not begin to
		case <-s.pool.opt.Ctx.Done():
		}
		return errInterrupted
	}
	return s.pool.Acquire(s.pool.opt.Ctx, use, wait, func(context.Context) (lease.Opened[opened], error) {
		s.turn.Keep()
		return open()
	})
}

// hold has End call release.
func (s *Session) hold(release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.releases = append(s.releases, release)
}

// check has Fresh call f, which reports whether something that s holds may still be used. Other checks may
// run at the same time. f must not panic.
func (s *Session) check(f func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, f)
}

func (s *Session) fail() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = true
}

// Failed reports whether something that the operation needs could not be opened, which was reported. Values
// are incomplete then and must not reach a provider.
func (s *Session) Failed() bool { return s.failed }

// Fresh reports whether all that s holds may still be used; it is renewed if it is time, all at once. If it
// returns false, the reason was reported. It is safe for concurrent use once nothing is being opened.
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

// endUnless ends s unless *used is set. It is deferred, so that a panic leaves no lease behind.
func (s *Session) endUnless(used *bool) {
	if !*used {
		s.End()
	}
}

// End drops the values and releases the leases, the newest first.
func (s *Session) End() {
	s.Drop()
	s.checks = nil
	for i := len(s.releases) - 1; i >= 0; i-- {
		s.releases[i]()
	}
	s.releases = nil
}

// reportUse reports that s holds a lease on what u names, an instance or a provider, until the returned
// function is called, which calls release.
func (p *Pool) reportUse(s *Session, u eval.Use, release func()) func() {
	if !p.opt.Events.Detailed() {
		return release
	}
	ev := event.Event{Kind: event.Started, Op: event.OpUse, User: userText(s.user), UserOp: s.Purpose, Time: p.opt.Now()}
	if u.Kind == eval.UseInstance {
		ev.Object = addr.Object{Instance: u.Instance}
	} else {
		ev.Provider = useText(u)
	}
	if ev.UserOp == "" {
		ev.UserOp = event.OpEvaluate
	}
	p.opt.Events.Detail(ev)
	return func() {
		begin := ev.Time
		ev.Kind, ev.Time = event.Completed, p.opt.Now()
		ev.Elapsed = ev.Time.Sub(begin)
		p.opt.Events.Detail(ev) // before the release, which may end in closing what was used
		release()
	}
}

// userText returns the address of the user of a session.
func userText(who any) string {
	switch who := who.(type) {
	case addr.Object:
		return who.String()
	case *eval.Instance:
		return who.Addr().String()
	case *eval.ProviderObject:
		return who.Addr.String()
	case interface{ Addr() string }:
		return who.Addr()
	default:
		return ""
	}
}
