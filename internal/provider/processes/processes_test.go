package processes_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/processes"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
)

// launcher counts what it starts, and which of that has ended.
type launcher struct{ started, ended atomic.Int64 }

func (l *launcher) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	l.started.Add(1)
	return &fake{launcher: l}, nil
}

// count returns the numbers of processes that were started and ended.
func (l *launcher) count() [2]int { return [2]int{int(l.started.Load()), int(l.ended.Load())} }

// fake answers some calls, with nothing.
type fake struct {
	provider.Provider
	launcher *launcher
	ended    atomic.Bool
}

type catalog struct {
	provider.Catalog
	provider.StateStoreCatalog
	of *fake
}

// Record returns a recording whose protocol says whether the process has ended.
func (c catalog) Record(func(addr.Mode, string) bool) provider.Recording {
	if c.of.ended.Load() {
		return provider.Recording{}
	}
	return provider.Recording{Protocol: 6}
}

// Identity fails once the process has ended.
func (c catalog) Identity(string) (*schema.Identity, diag.List) {
	if c.of.ended.Load() {
		return nil, diag.Errorf("Ended", "")
	}
	return &schema.Identity{}, nil
}

func (catalog) Capabilities() provider.Capabilities { return provider.Capabilities{} }

func (f *fake) Catalog(context.Context) (provider.Catalog, diag.List) { return catalog{of: f}, nil }
func (*fake) Configure(context.Context, cty.Value) diag.List          { return nil }

func (*fake) OpenEphemeral(context.Context, string, cty.Value) (provider.OpenResponse, diag.List) {
	return provider.OpenResponse{}, nil
}

func (*fake) PlanResource(_ context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	return provider.PlanResponse{Deferred: provider.Deferred(req.Type)}, nil
}

func (*fake) RenewEphemeral(context.Context, string, []byte) (provider.RenewResponse, diag.List) {
	return provider.RenewResponse{}, nil
}

func (*fake) CloseEphemeral(context.Context, string, []byte) diag.List { return nil }

func (*fake) CallFunction(context.Context, string, []cty.Value) (cty.Value, error) {
	return cty.True, nil
}

func (f *fake) Close() error {
	f.launcher.ended.Add(1)
	f.ended.Store(true)
	return nil
}

var source = addr.BuiltinProvider

// TestEveryCallCountsOnce makes one call of each kind that needs no more than a context.
func TestEveryCallCountsOnce(t *testing.T) {
	ctx, set := t.Context(), processes.New(&launcher{})
	p, diags := set.Start(ctx, source)
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	for what, call := range map[string]func(){
		"configure": func() { p.Configure(ctx, cty.EmptyObjectVal) },
		"open":      func() { p.OpenEphemeral(ctx, "t", cty.EmptyObjectVal) },
		"renew":     func() { p.RenewEphemeral(ctx, "t", nil) },
		"close":     func() { p.CloseEphemeral(ctx, "t", nil) },
		"function":  func() { _, _ = set.CallFunction(ctx, source, "f", nil) },
	} {
		before := set.Calls()
		if call(); set.Calls() != before+1 {
			t.Errorf("%s: got %d calls counted, want 1", what, set.Calls()-before)
		}
	}
}

// TestReuse makes one provider for each distinct configuration, and another try after a failure.
func TestReuse(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	user := set.Join()
	configure := func() (provider.Provider, diag.List) { return set.Start(t.Context(), source) }
	pc := addr.ProviderConfig{Provider: source}
	if p, diags := user.Reuse(pc, cty.True, func() (provider.Provider, diag.List) { return nil, diag.Errorf("No", "It failed.") }); p != nil || !diags.HasErrors() {
		t.Fatal("a failure gave a provider")
	}
	first, _ := user.Reuse(pc, cty.True, configure)
	again, _ := set.Join().Reuse(pc, cty.True, configure)
	other, _ := user.Reuse(pc, cty.False, configure)
	if first == nil || first != again || other == first || l.count() != [2]int{2, 0} {
		t.Errorf("got %v processes started and ended, the first one reused: %t, want 2 for two configurations, reused", l.count(), first == again)
	}
	set.End(other)
	set.Close()
	if set.Close(); l.count() != [2]int{2, 2} {
		t.Errorf("processes started and ended: got %v, want 2 and 2", l.count())
	}
}

// TestReuseAfterFailureOfAnother has a user wait for a configuration that another one makes, and which fails.
// The next call tries again.
func TestReuseAfterFailureOfAnother(t *testing.T) {
	set := processes.New(&launcher{})
	pc, waiting, waited := addr.ProviderConfig{Provider: source}, set.Join(), make(chan struct{})
	fail := func() (provider.Provider, diag.List) { return nil, diag.Errorf("No", "It failed.") }
	set.Join().Reuse(pc, cty.True, func() (provider.Provider, diag.List) {
		go func() {
			defer close(waited)
			waiting.Reuse(pc, cty.True, fail) // not called, unless the other user is done first
		}()
		time.Sleep(50 * time.Millisecond)
		return fail()
	})
	<-waited
	if p, _ := waiting.Reuse(pc, cty.True, func() (provider.Provider, diag.List) { return set.Start(t.Context(), source) }); p == nil {
		t.Error("Reuse: got none, want a provider")
	}
}

// TestPutOff has another process take the place of one that has put off an answer, and no other.
func TestPutOff(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	defer set.Close()
	pc := addr.ProviderConfig{Provider: source}
	reuse := func(u *processes.User, config cty.Value) provider.Provider {
		p, _ := u.Reuse(pc, config, func() (provider.Provider, diag.List) { return set.Start(t.Context(), source) })
		return p
	}
	user := set.Join()
	first, unsure, sure := reuse(user, cty.NullVal(cty.Bool)), reuse(user, cty.False), reuse(user, cty.True)
	putOff(t, first)
	putOff(t, unsure)
	sure.PlanResource(t.Context(), provider.PlanRequest{})
	if again := reuse(user, cty.False); again != unsure {
		t.Error("Reuse by the same user: got another process, want the same one")
	}
	user.Leave()
	user.Leave()
	if l.count() != [2]int{3, 1} {
		t.Errorf("Leave: got %v processes started and ended, want 3 and 1: one that put off an answer and is not the first", l.count())
	}
	next := set.Join()
	if reuse(next, cty.True) != sure {
		t.Error("Reuse by the next user: got another process, want the one that has answered")
	}
	if reuse(next, cty.False) == unsure || reuse(next, cty.NullVal(cty.Bool)) == first || l.count() != [2]int{5, 1} {
		t.Errorf("Reuse by the next user: got %v processes started and ended, want 5 and 1: others for two configurations", l.count())
	}
}

// TestPutOffWhileInUse has two users of a process that puts off an answer, and one that comes later. It goes
// on until both have left, and the third gets another.
func TestPutOffWhileInUse(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	defer set.Close()
	pc := addr.ProviderConfig{Provider: source}
	reuse := func(u *processes.User) provider.Provider {
		p, _ := u.Reuse(pc, cty.True, func() (provider.Provider, diag.List) { return set.Start(t.Context(), source) })
		return p
	}
	if _, diags := set.Start(t.Context(), source); diags.HasErrors() { // the first process, which never ends
		t.Fatal(diags.Err())
	}
	a, b, c := set.Join(), set.Join(), set.Join()
	shared := reuse(a)
	if reuse(b) != shared {
		t.Fatal("two users got two processes, want one")
	}
	putOff(t, shared)
	if reuse(c) == shared || reuse(b) != shared {
		t.Error("after an answer was put off: got one process for all, want another one for the user that came later")
	}
	for _, leave := range []struct {
		user *processes.User
		want [2]int
	}{{a, [2]int{3, 0}}, {c, [2]int{3, 0}}, {b, [2]int{3, 1}}} {
		if leave.user.Leave(); l.count() != leave.want {
			t.Errorf("Leave: got %v processes started and ended, want %v: the last user ends it", l.count(), leave.want)
		}
	}
	if reuse(set.Join()) == shared {
		t.Error("Reuse by another user: got the process that has put off an answer, want the other one")
	}
	if l.count() != [2]int{3, 1} {
		t.Errorf("got %v processes started and ended, want 3 and 1", l.count())
	}
}

// putOff has a provider put off an answer.
func putOff(t *testing.T, p provider.Provider) {
	t.Helper()
	p.PlanResource(t.Context(), provider.PlanRequest{Type: string(provider.DeferredAbsent)})
}

// TestAskStartsAnother asks a provider whose first process has ended.
func TestAskStartsAnother(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	p, _ := set.Start(t.Context(), source)
	set.End(p)
	asked := 0
	set.Ask(t.Context(), source, func(provider.Reader) diag.List { asked++; return nil })
	if asked != 1 || l.count()[0] != 2 {
		t.Errorf("got %d questions, with %d processes started, want 1, with 2", asked, l.count()[0])
	}
}

// TestIdentityAfterEnd asks the catalog for the identity of a type when its process has ended.
func TestIdentityAfterEnd(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	p, _ := set.Start(t.Context(), source)
	c, _ := set.Catalog(t.Context(), source)
	set.End(p)
	for range 2 {
		if id, diags := c.Identity("a"); id == nil || diags.HasErrors() {
			t.Errorf("Identity: got %v, %v, want a schema", id, diags)
		}
	}
	if got := c.(provider.Recorder).Record(nil); got.Protocol != 6 {
		t.Errorf("Record: got %+v, want that of the process in place of the first", got)
	}
	if l.count()[0] != 2 {
		t.Errorf("got %d processes, want 2: one in place of the first", l.count()[0])
	}
}

// slowLauncher takes a second for each launch.
type slowLauncher struct{}

func (slowLauncher) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	time.Sleep(time.Second)
	return &fake{launcher: &launcher{}}, nil
}

// TestLoad starts three providers in the time of one.
func TestLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := processes.New(slowLauncher{})
		begin := time.Now()
		set.Load(t.Context(), []addr.Provider{{Type: "a"}, {Type: "b"}, {Type: "c"}})
		if took := time.Since(begin); took != time.Second {
			t.Errorf("starting three providers took %s, want 1s", took)
		}
		set.Close()
	})
}
