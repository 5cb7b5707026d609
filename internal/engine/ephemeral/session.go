package ephemeral

import (
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
	// OutOfReach reports whether an instance cannot be opened before a later plan, because of its own
	// dependencies: then its object is unknown.
	OutOfReach func(*future.Task, *eval.Instance) bool
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

// Session is the time during which one operation uses ephemeral values. It opens the instances that the
// operation lacks, side by side, and holds the leases until End. A Session belongs to one task.
type Session struct {
	*eval.Opened
	// Purpose is the operation, for observers.
	Purpose event.Op

	pool  *Pool
	rules *Rules
	turn  *slot.Turn // of the operation
	user  any        // an *eval.Instance, *eval.Value, *eval.ProviderObject or addr.Object; nil for none
	holding
}

// holding has the leases of a session, or of one of the openings that run side by side for it.
type holding struct {
	releases []func()
	checks   []func() bool // each may run beside others and must not panic
	failed   bool

	unconfigured bool             // a provider's configuration has unknown parts
	outOfReach   []*eval.Instance // instances that cannot be opened before a later plan
	putOff       []*eval.Instance // instances behind these whose providers have put off their opening
}

// take adds the leases of another one.
func (h *holding) take(o *holding) {
	h.releases = append(h.releases, o.releases...)
	h.checks = append(h.checks, o.checks...)
	h.failed = h.failed || o.failed
	h.unconfigured = h.unconfigured || o.unconfigured
	h.outOfReach = append(h.outOfReach, o.outOfReach...)
	h.putOff = append(h.putOff, o.putOff...)
}

// NewSession starts a session of the operation whose turn it is. user is the user of the opened instances: an
// *eval.Instance, *eval.Value, *eval.ProviderObject, addr.Object or nil. End must be called.
func (p *Pool) NewSession(turn *slot.Turn, rules *Rules, user any, op event.Op) *Session {
	s := &Session{Purpose: op, pool: p, rules: rules, turn: turn, user: user}
	s.Opened = eval.NewOpened(s)
	return s
}

// part returns the session of something that is opened for s, while the slot of the turn is lent.
func (s *Session) part(user any, op event.Op) *Session {
	return s.pool.NewSession(s.turn, s.rules, user, op)
}

// Turn returns the turn of the operation.
func (s *Session) Turn() *slot.Turn { return s.turn }

// Open implements eval.Opener.
func (s *Session) Open(t *future.Task, needs []eval.Need) { s.open(t, needs, nil) }

// Provider returns the configured provider of an operation on the instance, and opens the needs beside it. It
// returns nil if anything failed, which was reported. The needs of the provider's configuration must have
// been prepared.
func (s *Session) Provider(t *future.Task, po *eval.ProviderObject, i addr.Instance, needs ...eval.Need) (p provider.Reader) {
	if !s.failed {
		s.open(t, needs, func(t *future.Task, h *holding) { p = s.providerFor(t, h, po, i) })
	}
	if s.failed {
		return nil
	}
	return p
}

// ProviderOf returns the configured provider of the instance and its address, and opens beside it the
// instances that depends_on holds open, and the needs. The provider is nil if anything failed, which was
// reported.
func (s *Session) ProviderOf(t *future.Task, in *eval.Instance, needs ...eval.Need) (provider.Reader, addr.ProviderConfig) {
	po := in.Provider(t)
	if po == nil {
		return nil, addr.ProviderConfig{}
	}
	return s.Provider(t, po, in.Addr(), append(in.Held(t), needs...)...), po.Addr
}

// BodyNeeds returns the instances that evaluating the configuration of the instance would open first. If it
// was interrupted, s has failed.
func (s *Session) BodyNeeds(t *future.Task, in *eval.Instance) []eval.Need {
	needs, ok := in.BodyLacks(t, s.Opened)
	if !ok {
		s.failed = true
	}
	return needs
}

// open opens the instances that s does not have yet, and calls also, all side by side. also may be nil. An
// instance that cannot be opened has an unknown object afterwards.
func (s *Session) open(t *future.Task, needs []eval.Need, also func(*future.Task, *holding)) {
	var all []*opening
	for _, n := range needs {
		if !s.Has(n.Instance) {
			o := &opening{need: n, object: eval.Unopened(n.Instance)}
			s.Add(n.Instance, o.object) // until it is open, and so that it is not opened twice
			o.call = func(t *future.Task, h *holding) {
				defer t.Enter(n.Instance, n.Via)()
				n.NoteOpening()
				o.object = s.instance(t, h, n.Instance)
			}
			all = append(all, o)
		}
	}
	if also != nil {
		all = append(all, &opening{call: also})
	}
	defer func() { // also after a panic, and in this order, so that they are released in the opposite one
		for _, o := range all {
			if o.need.Instance != nil {
				s.Add(o.need.Instance, o.object)
			}
			s.take(&o.holding)
		}
	}()
	if len(all) == 1 {
		all[0].call(t, &all[0].holding)
	} else if len(all) > 1 {
		s.openBeside(t, all)
	}
}

// opening opens something for a session.
type opening struct {
	need   eval.Need // without an instance for a provider
	object cty.Value // of the instance
	call   func(*future.Task, *holding)
	holding
}

// openBeside calls all openings side by side. Meanwhile the slot serves their calls, and other tasks run.
func (s *Session) openBeside(t *future.Task, all []*opening) {
	defer t.Idle()()
	defer s.turn.Lend()()
	var others sync.WaitGroup
	defer others.Wait()
	for _, o := range all[1:] {
		others.Go(func() { o.run(s.pool.run) })
	}
	all[0].run(s.pool.run)
}

// run calls the opening, which has failed if it panics.
func (o *opening) run(run *eval.Run) {
	defer func() {
		if p := recover(); p != nil {
			run.Report(diag.Bug("opening ephemeral resources", bug.New(p)))
			o.failed = true
		}
	}()
	o.call(&future.Task{}, &o.holding)
}

// instance returns the object of an instance, on which h holds a lease then. It is opened if it is not open.
func (s *Session) instance(t *future.Task, h *holding, in *eval.Instance) cty.Value {
	if in.Config().Addr.Mode == addr.Managed {
		return s.pool.borrowed(h, in)
	}
	if s.rules.skips(in) {
		return eval.Unopened(in)
	}
	if s.rules.outOfReach(t, in) {
		h.outOfReach = append(h.outOfReach, in)
		return eval.Unopened(in)
	}
	if s.rules.Opening != nil {
		s.rules.Opening(in)
	}
	use := s.rules.use(t, in)
	l, v, ok := s.acquire(t, h, use, func() (lease.Thing[content], error) {
		o := opener{Pool: s.pool, in: in, t: t, s: s.part(in, event.OpOpen)}
		return o.open()
	})
	if !ok {
		return eval.Unopened(in)
	}
	if v.outOfReach {
		h.outOfReach = append(h.outOfReach, in)
		h.putOff = append(h.putOff, v.putOff...)
		return v.object
	}
	h.checks = append(h.checks, func() (fresh bool) {
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

// acquire takes a lease, which h holds, and returns it with its value. If that fails, it reports why, and h
// has failed. open opens the thing, with calls of the turn, if it is not open.
func (s *Session) acquire(t *future.Task, h *holding, use eval.Use, open func() (lease.Thing[content], error)) (l *lease.Lease[eval.Use, content], v content, ok bool) {
	p := s.pool
	l, err := s.lease(t, use, open)
	if err == nil {
		s.turn.Keep()
		h.releases = append(h.releases, p.reportUse(s, use, l.Release))
		v, err = l.Value(p.opt.Ctx)
	}
	if err != nil {
		p.reportAcquire(use, err)
		h.failed = true
	}
	return l, v, err == nil
}

// lease takes a lease. While another operation opens or closes the thing, the slot serves the openings of all
// operations, and unless s has something open, another operation may begin.
func (s *Session) lease(t *future.Task, use eval.Use, open func() (lease.Thing[content], error)) (*lease.Lease[eval.Use, content], error) {
	wait := func(ready <-chan struct{}) error {
		defer t.Idle()()
		defer s.turn.Release()()
		select {
		case <-ready:
		case <-s.pool.opt.Soft.Done():
		case <-s.pool.opt.Ctx.Done():
		}
		if s.pool.opt.Soft.Err() != nil || s.pool.opt.Ctx.Err() != nil {
			return errNotAwaited // an operation that has not begun to use the thing does not begin to
		}
		return nil
	}
	return s.pool.Acquire(use, wait, func() (lease.Thing[content], error) {
		s.turn.Keep()
		return open()
	})
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

// endUnless ends s unless *used is set. Call it with defer, so that a panic leaves no lease behind.
func (s *Session) endUnless(used *bool) {
	if !*used {
		s.End()
	}
}

// End drops the values and releases the leases, the newest first.
func (s *Session) End() {
	s.Drop()
	s.end()
}

func (h *holding) end() {
	h.checks = nil
	for i := len(h.releases) - 1; i >= 0; i-- {
		h.releases[i]()
	}
	h.releases = nil
}

// reportUse reports that s holds a lease on the instance or provider that u names, until the returned
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
		p.opt.Events.Detail(ev) // before the release, which may close the instance
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
