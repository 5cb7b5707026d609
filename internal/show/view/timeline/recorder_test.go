package timeline

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
)

func (p *tape) model() *model {
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	return p.r.model()
}

// rowOf returns the row of an instance or provider.
func (p *tape) rowOf(m *model, name string) row {
	p.t.Helper()
	for _, g := range append(m.groups, group{rows: m.providers}) {
		for _, ro := range g.rows {
			if ro.name == name {
				return ro
			}
		}
	}
	p.t.Fatalf("no row for %s", name)
	return row{}
}

func TestExposure(t *testing.T) {
	for name, c := range map[string]struct {
		tape       func(p *tape)
		open, used time.Duration
		openings   int
		unclosed   int
		outcome    string
	}{
		"a life": {func(p *tape) {
			p.does(ms(10), ms(20), event.OpOpen, login)
			p.uses(ms(30), ms(40), login, "acme_user.app", event.OpCreate)
			p.does(ms(60), ms(70), event.OpClose, login)
		}, ms(50), ms(10), 1, 0, "closed"},
		"two lives": {func(p *tape) {
			p.does(0, ms(1), event.OpOpen, login)
			p.does(ms(2), ms(3), event.OpClose, login)
			p.does(ms(10), ms(11), event.OpOpen, login)
			p.does(ms(12), ms(14), event.OpClose, login)
		}, ms(5), 0, 2, 0, "closed"},
		"uses overlap": {func(p *tape) {
			p.does(0, ms(1), event.OpOpen, login)
			p.use(ms(2), event.Started, login, "a.a", event.OpCreate)
			p.use(ms(4), event.Started, login, "b.b", event.OpCreate)
			p.use(ms(6), event.Completed, login, "a.a", event.OpCreate)
			p.use(ms(7), event.Completed, login, "b.b", event.OpCreate)
			p.uses(ms(9), ms(10), login, "a.a", event.OpProvision)
			p.does(ms(11), ms(12), event.OpClose, login)
		}, ms(11), ms(6), 1, 0, "closed"},
		"the same user twice": {func(p *tape) {
			p.does(0, 0, event.OpOpen, login)
			p.use(ms(1), event.Started, login, "a.a", event.OpRead)
			p.use(ms(2), event.Started, login, "a.a", event.OpRead)
			p.use(ms(3), event.Completed, login, "a.a", event.OpRead)
			p.use(ms(5), event.Completed, login, "a.a", event.OpRead)
			p.does(ms(5), ms(6), event.OpClose, login)
		}, ms(6), ms(4), 1, 0, "closed"},
		"opening fails": {func(p *tape) { p.fails(0, ms(5), event.OpOpen, login) }, 0, 0, 0, 0, "open failed"},
		"a bad answer is closed": {func(p *tape) {
			p.fails(0, ms(5), event.OpOpen, login)
			p.does(ms(6), ms(8), event.OpClose, login)
		}, ms(3), 0, 1, 0, "open failed"},
		"closing fails": {func(p *tape) {
			p.does(0, ms(5), event.OpOpen, login)
			p.fails(ms(6), ms(8), event.OpClose, login)
		}, ms(3), 0, 1, 0, "close failed"},
		"never closed": {func(p *tape) {
			p.does(0, ms(5), event.OpOpen, login)
			p.use(ms(6), event.Started, login, "a.a", event.OpCreate)
			p.does(ms(9), ms(25), event.OpRead, "data.a.b")
		}, ms(20), ms(19), 1, 1, "not closed"},
		"closing is under way": {func(p *tape) {
			p.does(0, ms(5), event.OpOpen, login)
			p.event(ms(9), event.Started, event.OpClose, login)
		}, ms(4), 0, 1, 1, "not closed"},
		"opened again without closing": {func(p *tape) {
			p.does(0, ms(1), event.OpOpen, login)
			p.does(ms(4), ms(5), event.OpOpen, login)
			p.does(ms(7), ms(8), event.OpClose, login)
		}, ms(6), 0, 2, 1, "not closed"},
		"deferred": {func(p *tape) {
			p.event(ms(1), event.Deferred, event.OpOpen, login)
			p.uses(ms(2), ms(3), login, "a.a", event.OpPlan)
		}, 0, 0, 0, 0, "deferred"},
		"put off by the provider": {func(p *tape) {
			p.event(ms(1), event.Started, event.OpOpen, login)
			p.event(ms(2), event.PutOff, event.OpOpen, login)
			p.uses(ms(3), ms(4), login, "a.a", event.OpPlan)
		}, 0, 0, 0, 0, "deferred"},
		"put off by the provider, and closed": {func(p *tape) {
			p.event(ms(1), event.Started, event.OpOpen, login)
			p.event(ms(2), event.PutOff, event.OpOpen, login)
			p.does(ms(2), ms(3), event.OpClose, login)
			p.uses(ms(4), ms(5), login, "a.a", event.OpPlan)
		}, ms(1), 0, 1, 0, "closed, deferred at first"},
		"put off by the provider, then opened": {func(p *tape) {
			p.event(ms(1), event.Started, event.OpOpen, login)
			p.event(ms(2), event.PutOff, event.OpOpen, login)
			p.does(ms(4), ms(5), event.OpOpen, login)
			p.uses(ms(6), ms(7), login, "a.a", event.OpCreate)
			p.does(ms(8), ms(9), event.OpClose, login)
		}, ms(4), ms(1), 1, 0, "closed, deferred at first"},
		"deferred, then opened": {func(p *tape) {
			p.event(ms(1), event.Deferred, event.OpOpen, login)
			p.uses(ms(2), ms(3), login, "a.a", event.OpPlan)
			p.does(ms(4), ms(5), event.OpOpen, login)
			p.uses(ms(6), ms(7), login, "a.a", event.OpCreate)
			p.does(ms(8), ms(9), event.OpClose, login)
		}, ms(4), ms(1), 1, 0, "closed, deferred at first"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTape(t)
			c.tape(p)
			ro := p.rowOf(p.model(), login)
			unclosed := 0
			for _, w := range ro.windows {
				if w.unclosed {
					unclosed++
				}
			}
			words, _ := ro.outcome()
			got := []any{ro.open, ro.used, len(ro.windows), unclosed, words}
			if d := cmp.Diff([]any{c.open, c.used, c.openings, c.unclosed, c.outcome}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSummaryOfARun(t *testing.T) {
	m := small(t).model()
	want := summary{instances: 3, openings: 4, most: 2, open: ms(2300), used: ms(2070), longest: ms(1020), troubles: 2, deferred: 1}
	if d := cmp.Diff(want, m.summary, cmp.AllowUnexported(summary{})); d != "" {
		t.Error(d)
	}
}

// A provider's life is that of its use of ephemeral instances; what waits for deferred ones has no part in
// it.
func TestProviders(t *testing.T) {
	p := newTape(t)
	p.event(ms(1), event.Deferred, event.OpOpen, login)
	p.uses(ms(2), ms(5), login, vault, event.OpConfigure)
	p.uses(ms(3), ms(4), vault, "a.a", event.OpPlan)
	if m := p.model(); len(m.providers) != 0 {
		t.Errorf("provider without ephemeral values: got %v, want none", m.providers)
	}
	p.does(ms(10), ms(11), event.OpOpen, login)
	p.does(ms(10), ms(11), event.OpOpen, secret)
	p.use(ms(12), event.Started, login, vault, event.OpConfigure)
	p.use(ms(13), event.Started, secret, vault, event.OpConfigure)
	p.uses(ms(14), ms(17), vault, "a.a", event.OpCreate)
	p.use(ms(20), event.Completed, login, vault, event.OpConfigure)
	p.use(ms(20), event.Completed, secret, vault, event.OpConfigure)
	ro := p.rowOf(p.model(), vault)
	if len(ro.windows) != 1 || ro.open != ms(8) || ro.used != ms(3) || len(ro.uses) != 1 {
		t.Errorf("got it open %s in %d windows, used %s by %d, want %s in 1, %s by 1", ro.open, len(ro.windows), ro.used, len(ro.uses), ms(8), ms(3))
	}
}

// Rows are in the order of first openings, together with those of the same block.
func TestOrderOfRows(t *testing.T) {
	p := newTape(t)
	for i, name := range []string{"ephemeral.b.x[2]", "ephemeral.a.x", "ephemeral.b.x[0]", `module.m["z"].ephemeral.c.x`, "ephemeral.b.x[1]", `module.m["a"].ephemeral.c.x`} {
		p.does(ms(i), ms(i+1), event.OpOpen, name)
	}
	var got []string
	for _, g := range p.model().groups {
		got = append(got, g.name+":")
		for _, ro := range g.rows {
			got = append(got, ro.name)
		}
	}
	want := []string{
		"ephemeral.b.x:", "ephemeral.b.x[2]", "ephemeral.b.x[0]", "ephemeral.b.x[1]", "ephemeral.a.x:", "ephemeral.a.x",
		"module.m.ephemeral.c.x:", `module.m["z"].ephemeral.c.x`, `module.m["a"].ephemeral.c.x`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Nothing but addresses, operations and times is kept, whatever events carry.
func TestE84_NothingButAddressesAndTimes(t *testing.T) {
	const canary = "canary-4711"
	p := small(t)
	for _, kind := range []event.Kind{event.Started, event.Progress, event.Output, event.Failed} {
		for _, op := range []event.Op{event.OpOpen, event.OpCreate, event.OpProvision} {
			for _, name := range []string{login, "acme_user.app"} {
				p.r.Event(event.Event{
					Time: zero.Add(ms(66_300)), Kind: kind, Op: op, Object: p.object(name), IDKey: canary, ID: canary, Line: canary,
					Provisioner: "local-exec", Diags: diag.Errorf(canary, canary),
				})
			}
		}
	}
	var out bytes.Buffer
	if err := p.r.Write(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), canary) {
		t.Error("the page shows what an event carried")
	}
	if !strings.Contains(out.String(), "local-exec") {
		t.Error("the page does not show the provisioner")
	}
}

// Progress and output, which come as long as something lasts, leave nothing behind.
func TestMemoryIsBounded(t *testing.T) {
	p := newTape(t)
	p.event(0, event.Started, event.OpCreate, "a.a")
	for i := range 1000 {
		p.event(ms(i), event.Progress, event.OpCreate, "a.a")
		p.event(ms(i), event.Output, event.OpProvision, "a.a")
		p.event(ms(i), event.Progress, event.OpOpen, login)
	}
	if n := len(p.r.objectOrder[0].ops) + len(p.r.thingOrder); n != 1 {
		t.Errorf("%d things are kept, want 1", n)
	}
}
