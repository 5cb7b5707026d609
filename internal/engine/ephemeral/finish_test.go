package ephemeral

import (
	"context"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/processes"
)

// deferrer is a provider that puts off its plans. It counts the processes that have ended.
type deferrer struct {
	provider.Provider
	ended int
}

func (d *deferrer) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	return d, nil
}

func (*deferrer) PlanResource(context.Context, provider.PlanRequest) (provider.PlanResponse, diag.List) {
	return provider.PlanResponse{Deferred: provider.DeferredAbsent}, nil
}

func (d *deferrer) Close() error { d.ended++; return nil }

type capable struct{ provider.Catalog }

func (capable) Capabilities() provider.Capabilities { return provider.Capabilities{} }

func (*deferrer) Catalog(context.Context) (provider.Catalog, diag.List) { return capable{}, nil }

// TestFinishEndsUndecided has a provider put off an answer. Its process ends with the pool, unless another
// pool uses it.
func TestFinishEndsUndecided(t *testing.T) {
	d := &deferrer{}
	set := processes.New(d)
	pc := addr.ProviderConfig{Provider: addr.BuiltinProvider}
	start := func() (provider.Provider, diag.List) { return set.Start(t.Context(), pc.Provider) }
	if _, diags := start(); diags.HasErrors() { // the first process goes on
		t.Fatal(diags.Err())
	}
	one, other := NewPool(Options{Providers: set}), NewPool(Options{Providers: set})
	shared, _ := one.user.Reuse(pc, cty.True, start)
	if got, _ := other.user.Reuse(pc, cty.True, start); got != shared {
		t.Fatal("Reuse: got another process, want the same one")
	}
	shared.PlanResource(t.Context(), provider.PlanRequest{})
	if one.Finish(); d.ended != 0 {
		t.Errorf("Finish: got %d processes ended, want none: another pool uses it", d.ended)
	}
	other.Finish()
	if other.Finish(); d.ended != 1 {
		t.Errorf("Finish of the last: got %d processes ended, want 1", d.ended)
	}
}
