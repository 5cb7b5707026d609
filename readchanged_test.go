package mayfly

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// noting is a store that notes changes, and its calls. It fails at one of them.
type noting struct {
	store.Manager
	key     []byte
	failing string
	calls   []string
}

func (n *noting) call(name string) error {
	n.calls = append(n.calls, name)
	if name == n.failing {
		return errors.New("the connection is gone")
	}
	return nil
}

func (n *noting) Read(context.Context) (*state.File, error) { return nil, n.call("all") }
func (n *noting) ReadPart(context.Context, state.Part) (*state.File, error) {
	return nil, n.call("part")
}

func (n *noting) ReadMore(context.Context, state.Part, func(addr.Instance) bool) (*state.State, error) {
	return state.New(), n.call("more")
}

func (n *noting) HashKey(context.Context) ([]byte, time.Time, error) {
	return n.key, time.Time{}, n.call("key")
}

func (n *noting) LastRead(context.Context, time.Duration) ([]addr.Instance, error) {
	return nil, n.call("old")
}

func (n *noting) ReadChanged(_ context.Context, hashes state.BlockHashes) (*state.Changed, error) {
	return &state.Changed{Complete: hashes != nil}, n.call("changes")
}

func (n *noting) Records(context.Context, state.RecordQuery) ([]state.Record, error) { return nil, nil }

// TestReadChanged reads a part of a state for a plan of changes, and all if there is no key to hash with or
// the options need all.
func TestReadChanged(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, dir+"/main.tf", "resource \"terraform_data\" \"a\" {}\n")
	ended, end := context.WithCancel(t.Context())
	end()
	for what, row := range map[string]struct {
		n     noting
		opt   PlanOptions
		calls string
		err   string
		part  bool
	}{
		"changes":           {noting{key: []byte("key")}, PlanOptions{}, "key changes part", "", true},
		"no key":            {noting{}, PlanOptions{}, "key changes all", "", false},
		"a search":          {noting{key: []byte("key")}, PlanOptions{RequireEphemeral: true}, "key changes all", "", false},
		"no key to be read": {noting{failing: "key"}, PlanOptions{}, "key", "Error reading the state", false},
		"no changes read":   {noting{key: []byte("key"), failing: "changes"}, PlanOptions{}, "key changes", "Error reading the state", false},
		"no part read":      {noting{key: []byte("key"), failing: "part"}, PlanOptions{}, "key changes part", "Error reading the state", false},
		"not all read":      {noting{failing: "all"}, PlanOptions{}, "key changes all", "Error reading the state", false},
		"an interrupt":      {noting{key: []byte("key")}, PlanOptions{Soft: ended}, "key", "Configuration not compared", false},
		"old objects":       {noting{key: []byte("key")}, PlanOptions{RefreshOlder: time.Hour}, "key changes old part", "", true},
		"none is recorded":  {noting{}, PlanOptions{RefreshOlder: time.Hour}, "key changes all", "", false},
		"ages not read":     {noting{key: []byte("key"), failing: "old"}, PlanOptions{RefreshOlder: time.Hour}, "key changes old", "Error reading the state", false},
		"deferral":          {noting{}, PlanOptions{AllowDeferral: true}, "", "Scope of a change not possible", false},
	} {
		p, diags := Open(t.Context(), Options{Dir: dir, Launcher: &Launcher{}, State: StateOptions{Store: &row.n}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		defer p.Close()
		cfg, diags := p.compile(t.Context())
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		more := false
		o := &Operation{p: p, more: func(*state.State) { more = true }}
		work, _, diags := o.readChanged(t.Context(), cfg, row.opt)
		if got := strings.Join(row.n.calls, " "); got != row.calls {
			t.Errorf("%s: got the calls %q, want %q", what, got, row.calls)
		}
		if row.err != "" {
			if !diags.HasErrors() || diags[0].Summary != row.err || work != nil || more {
				t.Errorf("%s: got %v, want %q", what, diags, row.err)
			}
			continue
		}
		if diags.HasErrors() || (o.part != nil) != row.part || work.Partial() != row.part || !more {
			t.Errorf("%s: got the part %v, the providers of objects %v and %v, want a part: %v", what, o.part, more, diags, row.part)
		}
		o.more = nil
		if _, _, diags := o.readChanged(t.Context(), cfg, row.opt); diags.HasErrors() {
			t.Errorf("%s: got %v, want no errors", what, diags)
		}
	}
}

// TestScopeIsRefusedFirst refuses a plan of changes before the state is read, and also where that was not
// known when the operation began.
func TestScopeIsRefusedFirst(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, dir+"/main.tf", "resource \"terraform_data\" \"a\" {}\n")
	n := &noting{}
	p, diags := Open(t.Context(), Options{Dir: dir, Launcher: &Launcher{}, State: StateOptions{Store: n}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	defer p.Close()
	opt := PlanOptions{Scope: ScopeChanged, AllowDeferral: true}
	if _, diags := p.Begin(t.Context(), "plan", BeginOptions{Reads: true, Locking: store.Locking{NoLock: true}, For: &opt}); !diags.HasErrors() || len(n.calls) > 0 {
		t.Errorf("got %v and the calls %v, want an error and none", diags, n.calls)
	}
	o := &Operation{p: p}
	if _, diags := o.Plan(t.Context(), opt); !diags.HasErrors() || slices.Contains(n.calls, "changes") {
		t.Errorf("got %v and the calls %v, want an error and no changes read", diags, n.calls)
	}
}
