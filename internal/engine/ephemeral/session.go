package ephemeral

import (
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
)

// NewSession starts the session of a user of ephemeral values: an *eval.Instance, *eval.Value,
// *eval.ProviderObject or addr.Object, which becomes text only if uses are observed.
func NewSession(who any, op event.Op) *eval.Session {
	s := eval.NewSession()
	s.User, s.Purpose = who, string(op)
	return s
}

// reportUse reports that s holds a lease on what u names, an instance or a provider, until the returned
// function is called, which calls release.
func (p *Pool) reportUse(s *eval.Session, u eval.Use, release func()) func() {
	if !p.opt.Events.Detailed() {
		return release
	}
	ev := event.Event{Kind: event.Started, Op: event.OpUse, User: userText(s.User), UserOp: event.Op(s.Purpose), Time: p.opt.Now()}
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
