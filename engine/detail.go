package engine

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/eval"
)

// sessionOf starts the session of whoever is about to use ephemeral values. who is an *eval.Instance, an
// *eval.Value, an *eval.ProviderObject or an addr.Object; it becomes text only if somebody observes uses.
func sessionOf(who any, op Operation) *eval.Session {
	s := eval.NewSession()
	s.User, s.Purpose = who, string(op)
	return s
}

// detail reports an event to an observer that asks for details.
func (e *Engine) detail(ev Event) {
	if e.events.details == nil {
		return
	}
	if ev.Time.IsZero() {
		ev.Time = e.opt.Now()
	}
	e.events.add(ev, true)
}

// lasting reports something that begins now and ends when the returned function is called; ok then says
// whether it went well.
func (e *Engine) lasting(op Operation, obj addr.Object, ok *bool) func() {
	if e.events.details == nil {
		return func() {}
	}
	begin := e.opt.Now()
	e.detail(Event{Kind: Started, Op: op, Object: obj, Time: begin})
	return func() {
		kind := Completed
		if !*ok {
			kind = Failed
		}
		end := e.opt.Now()
		e.detail(Event{Kind: kind, Op: op, Object: obj, Time: end, Elapsed: end.Sub(begin)})
	}
}

// used reports that s holds a lease on what u names, an instance or a provider, until the returned function
// is called, which calls release.
func (w *walk) used(s *eval.Session, u eval.Use, release func()) func() {
	if w.events.details == nil {
		return release
	}
	ev := Event{Kind: Started, Op: OpUse, User: userText(s.User), UserOp: Operation(s.Purpose), Time: w.opt.Now()}
	if u.Kind == eval.UseInstance {
		ev.Object = addr.Object{Instance: u.Instance}
	} else {
		ev.Provider = useText(u)
	}
	if ev.UserOp == "" {
		ev.UserOp = OpEvaluate
	}
	w.detail(ev)
	return func() {
		begin := ev.Time
		ev.Kind, ev.Time = Completed, w.opt.Now()
		ev.Elapsed = ev.Time.Sub(begin)
		w.detail(ev) // before the release, which may end in closing what was used
		release()
	}
}

// userText is the address of whoever a session belongs to.
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
