package mayfly

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// rows is a store that notes changes.
type rows struct{ store.Manager }

func (rows) ReadPart(context.Context, state.Part) (*state.File, error) { return nil, nil }
func (rows) ReadMore(context.Context, state.Part, func(addr.Instance) bool) (*state.State, error) {
	return state.New(), nil
}
func (rows) HashKey(context.Context) ([]byte, time.Time, error) { return nil, time.Time{}, nil }
func (rows) ReadChanged(context.Context, state.BlockHashes) (*state.Changed, error) {
	return &state.Changed{}, nil
}
func (rows) Records(context.Context, state.RecordQuery) ([]state.Record, error) { return nil, nil }
func (rows) LastRead(context.Context, time.Duration) ([]addr.Instance, error)   { return nil, nil }

// parts is a store in rows that notes no changes.
type parts struct {
	store.Manager
}

func (parts) ReadPart(context.Context, state.Part) (*state.File, error) { return nil, nil }
func (parts) ReadMore(context.Context, state.Part, func(addr.Instance) bool) (*state.State, error) {
	return state.New(), nil
}

// TestScopeIsRefused refuses a plan of changes with options that choose other objects, and without a store
// that notes changes.
func TestScopeIsRefused(t *testing.T) {
	x, err := addr.ParseTarget("t.a")
	if err != nil {
		t.Fatal(err)
	}
	for what, row := range map[string]struct {
		m    store.Manager
		opt  PlanOptions
		want string
	}{
		"nothing else": {rows{}, PlanOptions{ForceReplace: make([]addr.Instance, 1), SkipRefresh: true}, ""},
		"no rows":      {nil, PlanOptions{}, `backend "postgres"`},
		"no records":   {parts{}, PlanOptions{}, `backend "postgres"`},
		"destroy":      {rows{}, PlanOptions{Mode: plan.Destroy}, "the mode that destroys everything"},
		"refresh":      {rows{}, PlanOptions{Mode: plan.RefreshOnly}, "the mode that only refreshes"},
		"target":       {rows{}, PlanOptions{Targets: []addr.Target{x}}, "targets or excludes"},
		"exclude":      {rows{}, PlanOptions{Excludes: []addr.Target{x}}, "targets or excludes"},
		"invoke":       {rows{}, PlanOptions{Invoke: make([]addr.Instance, 1)}, "actions to invoke"},
		"deferral":     {rows{}, PlanOptions{AllowDeferral: true}, "deferral"},
	} {
		diags := refuseScope(&Operation{p: &Project{opt: Options{State: StateOptions{Store: row.m}}}}, row.opt)
		if got := diags.HasErrors(); got != (row.want != "") || got && !strings.Contains(diags[0].Detail, row.want) {
			t.Errorf("%s: got %v, want %q", what, diags, row.want)
		}
	}
}

// versioned is a launcher of its own that knows versions.
type versioned struct{ ProviderLauncher }

func (versioned) Version(addr.Provider) (string, bool) { return "2.0.0", true }

// TestVersionOfProviders knows the versions of installed providers, and takes the ones in the program for
// known.
func TestVersionOfProviders(t *testing.T) {
	source := addr.DefaultProvider("x")
	known := func(p addr.Provider) (string, bool) { return "1.0.0", p == source }
	for what, row := range map[string]struct {
		l    ProviderLauncher
		of   addr.Provider
		want string
		ok   bool
	}{
		"embedded":      {&Launcher{}, addr.BuiltinProvider, "", true},
		"installed":     {&Launcher{Version: known}, source, "1.0.0", true},
		"not installed": {&Launcher{Version: known}, addr.DefaultProvider("y"), "1.0.0", false},
		"nothing known": {&Launcher{}, source, "", false},
		"no launcher":   {(*Launcher)(nil), source, "", false},
		"another one":   {nil, source, "", false},
		"one that says": {versioned{}, source, "2.0.0", true},
	} {
		p := &Project{opt: Options{Launcher: row.l}}
		if got, ok := p.version(row.of); got != row.want || ok != row.ok {
			t.Errorf("%s: got %q, %v, want %q, %v", what, got, ok, row.want, row.ok)
		}
	}
}
