package processes_test

import (
	"context"
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

// launcher counts what it starts.
type launcher struct{ started, ended int }

func (l *launcher) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	l.started++
	return &fake{launcher: l}, nil
}

// fake answers some calls, with nothing.
type fake struct {
	provider.Provider
	launcher *launcher
	ended    bool
}

type catalog struct {
	provider.Catalog
	provider.StateStoreCatalog
	of *fake
}

// Record returns a recording whose protocol says whether the process has ended.
func (c catalog) Record(func(addr.Mode, string) bool) provider.Recording {
	if c.of.ended {
		return provider.Recording{}
	}
	return provider.Recording{Protocol: 6}
}

// Identity fails once the process has ended.
func (c catalog) Identity(string) (*schema.Identity, diag.List) {
	if c.of.ended {
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
	f.launcher.ended++
	f.ended = true
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
	configure := func() (provider.Provider, diag.List) { return set.Start(t.Context(), source) }
	pc := addr.ProviderConfig{Provider: source}
	if p, diags := set.Reuse(pc, cty.True, func() (provider.Provider, diag.List) { return nil, diag.Errorf("No", "It failed.") }); p != nil || !diags.HasErrors() {
		t.Fatal("a failure gave a provider")
	}
	first, _ := set.Reuse(pc, cty.True, configure)
	again, _ := set.Reuse(pc, cty.True, configure)
	other, _ := set.Reuse(pc, cty.False, configure)
	if first == nil || first != again || other == first || l.started != 2 {
		t.Errorf("got %d processes, the first one reused: %t, want 2 for two configurations, reused", l.started, first == again)
	}
	set.End(other)
	set.Close()
	if set.Close(); l.ended != 2 {
		t.Errorf("processes ended: got %d, want 2", l.ended)
	}
}

// TestEndUndecided has another process take the place of one that has put off an answer, and no other.
func TestEndUndecided(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	defer set.Close()
	pc := addr.ProviderConfig{Provider: source}
	reuse := func(config cty.Value) provider.Provider {
		p, _ := set.Reuse(pc, config, func() (provider.Provider, diag.List) { return set.Start(t.Context(), source) })
		return p
	}
	first, unsure, sure := reuse(cty.NullVal(cty.Bool)), reuse(cty.False), reuse(cty.True)
	for _, p := range []provider.Provider{first, unsure} {
		p.PlanResource(t.Context(), provider.PlanRequest{Type: string(provider.DeferredAbsent)})
	}
	sure.PlanResource(t.Context(), provider.PlanRequest{})
	if again := reuse(cty.False); again != unsure {
		t.Error("Reuse in the same operation: got another process, want the same one")
	}
	set.EndUndecided()
	if l.ended != 1 || reuse(cty.True) != sure {
		t.Errorf("EndUndecided: got %d ended processes, want one: that put off an answer and is not the first", l.ended)
	}
	if reuse(cty.False) == unsure || reuse(cty.NullVal(cty.Bool)) == first || l.started != 5 {
		t.Errorf("Reuse after EndUndecided: got %d started processes, want 5: others for two configurations", l.started)
	}
}

// TestAskStartsAnother asks a provider whose first process has ended.
func TestAskStartsAnother(t *testing.T) {
	l := &launcher{}
	set := processes.New(l)
	p, _ := set.Start(t.Context(), source)
	set.End(p)
	asked := 0
	set.Ask(t.Context(), source, func(provider.Reader) diag.List { asked++; return nil })
	if asked != 1 || l.started != 2 {
		t.Errorf("got %d questions, with %d processes started, want 1, with 2", asked, l.started)
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
	if l.started != 2 {
		t.Errorf("got %d processes, want 2: one in place of the first", l.started)
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
