package timeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/event"
)

var zero = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tape feeds a recorder with events at times since zero.
type tape struct {
	t testing.TB
	r *Recorder
}

func newTape(t testing.TB) *tape { return &tape{t, New()} }

func (p *tape) object(text string) addr.Object {
	p.t.Helper()
	i, err := addr.ParseInstance(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return addr.Object{Instance: i}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (p *tape) event(at time.Duration, kind event.Kind, op event.Op, object string) {
	p.t.Helper()
	p.r.Event(event.Event{Time: zero.Add(at), Kind: kind, Op: op, Object: p.object(object)})
}

// does is an operation from one time to another.
func (p *tape) does(from, to time.Duration, op event.Op, object string) {
	p.t.Helper()
	p.event(from, event.Started, op, object)
	p.event(to, event.Completed, op, object)
}

func (p *tape) fails(from, to time.Duration, op event.Op, object string) {
	p.t.Helper()
	p.event(from, event.Started, op, object)
	p.event(to, event.Failed, op, object)
}

func (p *tape) phase(at time.Duration, kind event.Kind, op event.Op) {
	p.r.Detail(event.Event{Time: zero.Add(at), Kind: kind, Op: op})
}

func (p *tape) plans(from, to time.Duration, object string) {
	p.t.Helper()
	o := p.object(object)
	p.r.Detail(event.Event{Time: zero.Add(from), Kind: event.Started, Op: event.OpPlan, Object: o})
	p.r.Detail(event.Event{Time: zero.Add(to), Kind: event.Completed, Op: event.OpPlan, Object: o})
}

func (p *tape) use(at time.Duration, kind event.Kind, used, user string, op event.Op) {
	p.t.Helper()
	e := event.Event{Time: zero.Add(at), Kind: kind, Op: event.OpUse, User: user, UserOp: op}
	if used[0] == 'p' {
		e.Provider = used
	} else {
		e.Object = p.object(used)
	}
	p.r.Detail(e)
}

func (p *tape) uses(from, to time.Duration, used, user string, op event.Op) {
	p.t.Helper()
	p.use(from, event.Started, used, user, op)
	p.use(to, event.Completed, used, user, op)
}

const (
	login  = "ephemeral.vault_login.ci"
	secret = `module.database.ephemeral.vault_secret.admin["eu-west-1"]`
	late   = "ephemeral.vault_secret.late"
	vault  = `provider["registry.example.com/acme/vault"].ci`
)

// small is a plan and an apply with one of everything.
func small(t testing.TB) *tape {
	p := newTape(t)
	p.phase(0, event.Started, event.OpPlanning)
	p.does(ms(40), ms(160), event.OpOpen, login)
	p.use(ms(160), event.Started, login, vault, event.OpConfigure)
	p.does(ms(190), ms(300), event.OpOpen, secret)
	p.uses(ms(190), ms(190), vault, secret, event.OpOpen)
	p.event(ms(200), event.Deferred, event.OpOpen, late)
	p.plans(ms(170), ms(420), "module.database.acme_instance.main")
	p.uses(ms(310), ms(420), secret, "module.database.acme_instance.main", event.OpPlan)
	p.does(ms(430), ms(470), event.OpClose, secret)
	p.use(ms(480), event.Completed, login, vault, event.OpConfigure)
	p.does(ms(490), ms(540), event.OpClose, login)
	p.phase(ms(550), event.Completed, event.OpPlanning)

	p.phase(ms(65_000), event.Started, event.OpApplying)
	p.does(ms(65_030), ms(65_140), event.OpOpen, login)
	p.use(ms(65_140), event.Started, login, vault, event.OpConfigure)
	p.does(ms(65_180), ms(65_260), event.OpOpen, secret)
	p.use(ms(65_270), event.Started, secret, "module.database.acme_instance.main", event.OpCreate)
	p.does(ms(65_600), ms(65_650), event.OpRenew, login)
	p.event(ms(65_280), event.Started, event.OpCreate, "module.database.acme_instance.main")
	p.does(ms(65_700), ms(65_900), event.OpProvision, "module.database.acme_instance.main")
	p.event(ms(65_920), event.Completed, event.OpCreate, "module.database.acme_instance.main")
	p.use(ms(65_940), event.Completed, secret, "module.database.acme_instance.main", event.OpCreate)
	p.fails(ms(65_950), ms(65_990), event.OpClose, secret)
	p.fails(ms(65_960), ms(66_050), event.OpOpen, late)
	p.fails(ms(65_500), ms(66_100), event.OpUpdate, "acme_user.app")
	p.use(ms(66_110), event.Completed, login, vault, event.OpConfigure)
	p.does(ms(66_120), ms(66_160), event.OpClose, login)
	p.phase(ms(66_200), event.Failed, event.OpApplying)
	return p
}

// many is a run of n ephemeral instances, each with its own resource, worked on ten at a time.
func many(t testing.TB, n int) *tape {
	p := newTape(t)
	p.phase(0, event.Started, event.OpApplying)
	end := time.Duration(0)
	free := make([]time.Duration, 10)
	for i := range n {
		at := free[i%10]
		e, o := fmt.Sprintf("module.m%d.ephemeral.vault_secret.db[%q]", i%4, fmt.Sprintf("host-%03d", i)), fmt.Sprintf("module.m%d.acme_user.app[%d]", i%4, i)
		work := ms(60 + i*37%90)
		p.does(at, at+ms(20), event.OpOpen, e)
		p.uses(at+ms(22), at+ms(25)+work, e, o, event.OpCreate)
		p.does(at+ms(24), at+ms(24)+work, event.OpCreate, o)
		p.does(at+ms(30)+work, at+ms(42)+work, event.OpClose, e)
		free[i%10] = at + ms(45) + work
		end = max(end, free[i%10])
	}
	p.phase(end, event.Completed, event.OpApplying)
	return p
}
