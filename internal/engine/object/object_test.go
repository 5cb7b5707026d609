package object

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// TestRefresh has each answer to reading an object, and what it comes to.
func TestRefresh(t *testing.T) {
	old, read := thing(attrs{"id": str("i-1"), "name": str("old")}), thing(attrs{"id": str("i-1"), "name": str("new")})
	gone := cty.NullVal(block().Type())
	failure := diag.Errorf("failed", "it failed")
	for _, row := range []struct {
		name          string
		resp          provider.ReadResponse
		diags         diag.List
		ok            bool
		v             cty.Value
		private       string
		id            cty.Value
		summary, logs string
		ends          string // the id with the end of the operation
	}{
		{"read", provider.ReadResponse{New: read, Private: []byte("p1"), Identity: identity("a")}, nil, true, read, "p1", identity("a"), "", "", "i-1"},
		{"another identity", provider.ReadResponse{New: read, Private: []byte("p1"), Identity: identity("b")}, nil, true, read, "p1", identity("b"), "", "another identity while reading it", "i-1"},
		{"no identity", provider.ReadResponse{New: read, Identity: cty.NilVal}, nil, true, read, "", identity("a"), "", "", "i-1"},
		{"null identity", provider.ReadResponse{New: read, Identity: cty.NullVal(identity("a").Type())}, nil, true, read, "", identity("a"), "", "", "i-1"},
		{"unknown identity", provider.ReadResponse{New: read, Identity: cty.ObjectVal(attrs{"name": cty.UnknownVal(cty.String)})}, nil, false, read, "", identity("a"), "Provider produced invalid identity", "", "i-1"},
		{"gone", provider.ReadResponse{New: gone, Private: []byte("p1"), Identity: identity("b")}, nil, true, gone, "", cty.NilVal, "", "", ""},
		{"deferred", provider.ReadResponse{New: gone, Deferred: "later"}, nil, false, old, "p0", identity("a"), "Provider deferred a change", "", "i-1"},
		{"failure", provider.ReadResponse{New: gone}, failure, false, old, "p0", identity("a"), "failed", "", "i-1"},
		{"failure and deferred", provider.ReadResponse{New: gone, Deferred: "later"}, failure, false, old, "p0", identity("a"), "failed", "", "i-1"},
		{"failure with an object", provider.ReadResponse{New: thing(attrs{"secret": str("other-s3cret")}), Identity: cty.NilVal}, failure, false, thing(attrs{"secret": str("other-s3cret")}), "", identity("a"), "failed", "", "i-1"},
		{"gone, with a value", provider.ReadResponse{New: gone, Private: []byte(secret)}, nil, true, gone, "", cty.NilVal, "", "", ""},
		{"warning", provider.ReadResponse{New: read, Identity: cty.NilVal}, diag.Warnf("careful", "of it"), true, read, "", identity("a"), "careful", "", "i-1"},
		{"not known", provider.ReadResponse{New: thing(attrs{"id": cty.UnknownVal(cty.String)}), Identity: cty.NilVal}, nil, false, old, "p0", identity("a"), "Provider produced invalid object read", "", "i-1"},
		{"write-only value", provider.ReadResponse{New: thing(attrs{"id": str("i-1"), "secret": str("other-s3cret")}), Identity: cty.NilVal}, nil, false, thing(attrs{"id": str("i-1")}), "", identity("a"), "Provider produced invalid object", "", "i-1"},
		{"own value", provider.ReadResponse{New: thing(attrs{"id": str("i-1"), "name": str(secret)}), Identity: cty.NilVal}, nil, true, thing(attrs{"id": str("i-1")}), "", identity("a"), "Provider copied a write-only value", "", "i-1"},
		{"own value in private data", provider.ReadResponse{New: read, Private: []byte(secret), Identity: cty.NilVal}, nil, true, read, "p0", identity("a"), "Provider copied a write-only value", "", "i-1"},
		{"own value in the identity", provider.ReadResponse{New: read, Identity: identity(secret)}, nil, true, read, "", identity("a"), "Provider copied a write-only value", "", "i-1"},
	} {
		f := newFixture(t)
		f.read, f.diags = row.resp, row.diags
		meta := cty.ObjectVal(attrs{"m": str("x")})
		got, ok := f.Refresh(Prior{Value: old, Private: []byte("p0"), Identity: identity("a")}, meta)
		if ok != row.ok || !same(got.Value, row.v) || string(got.Private) != row.private || !same(got.Identity, row.id) {
			t.Errorf("%s: got %t, %#v, %s, %#v, want %t, %#v, %s, %#v", row.name, ok, got.Value, got.Private, got.Identity, row.ok, row.v, row.private, row.id)
		}
		f.says(t, row.name, row.summary)
		if logs := strings.Join(f.log, "\n"); (logs != "") != (row.logs != "") || !strings.Contains(logs, row.logs) {
			t.Errorf("%s: got the log %q, want %q in it", row.name, logs, row.logs)
		}
		if req, ok := f.asked.(provider.ReadRequest); !ok || req.Type != "thing_a" || !same(req.Prior, old) || string(req.Private) != "p0" || !same(req.Identity, identity("a")) || !same(req.ProviderMeta, meta) {
			t.Errorf("%s: got the request %#v, want all that was known of the object", row.name, f.asked)
		}
		f.Events.Flush()
		if n := len(f.events); n != 2 || f.events[0].ID != "i-1" || f.events[1].ID != row.ends || (f.events[1].Kind == event.Failed) == row.ok {
			t.Errorf("%s: got the events %v, want i-1 to begin and %s to end, completed: %t", row.name, f.events, row.ends, row.ok)
		}
	}
}

// TestPlan has each answer to planning a change, also for the second time.
func TestPlan(t *testing.T) {
	prior := Prior{Value: thing(attrs{"id": str("i-1"), "name": str("old")}), Private: []byte("p0"), Identity: identity("a")}
	configured := thing(attrs{"name": str("new"), "secret": str(secret)})
	planned, gone := thing(attrs{"id": str("i-1"), "name": str("new")}), cty.NullVal(block().Type())
	unknown := thing(attrs{"id": str("i-1"), "name": str("new"), "pin": cty.UnknownVal(cty.String)})
	wrong := thing(attrs{"id": str("i-1"), "name": str("another")})
	failure := diag.Errorf("failed", "it failed")
	for _, row := range []struct {
		name    string
		config  cty.Value
		first   cty.Value
		resp    provider.PlanResponse
		diags   diag.List
		ok      bool
		v       cty.Value
		private string
		id      cty.Value
		summary string
		logs    string
	}{
		{"update", configured, cty.NilVal, provider.PlanResponse{Planned: planned, Private: []byte("p1"), Identity: identity("a")}, nil, true, planned, "p1", identity("a"), "", ""},
		{"another identity", configured, cty.NilVal, provider.PlanResponse{Planned: planned, Identity: identity("b")}, nil, true, planned, "", identity("b"), "", "another identity while planning it"},
		{"secret identity", configured, cty.NilVal, provider.PlanResponse{Planned: planned, Identity: identity(secret)}, nil, false, planned, "", identity("a"), "Provider copied a write-only value", "another identity while planning it"},
		{"secret private data", configured, cty.NilVal, provider.PlanResponse{Planned: planned, Private: []byte(secret)}, nil, false, planned, "p0", cty.NilVal, "Provider copied a write-only value", ""},
		{"secret in the object", configured, cty.NilVal, provider.PlanResponse{Planned: thing(attrs{"id": str("i-1"), "name": str("new"), "pin": str(secret)})}, nil, false, planned, "", cty.NilVal, "Provider copied a write-only value", ""},
		{"deferred", configured, cty.NilVal, provider.PlanResponse{Planned: planned, Deferred: "later"}, nil, false, planned, "", cty.NilVal, "Provider deferred a change", ""},
		{"failure", configured, cty.NilVal, provider.PlanResponse{Planned: wrong, Deferred: "later"}, failure, false, wrong, "", cty.NilVal, "failed", ""},
		{"not as configured", configured, cty.NilVal, provider.PlanResponse{Planned: wrong}, nil, false, wrong, "", cty.NilVal, "Provider produced invalid plan", ""},
		{"legacy", configured, cty.NilVal, provider.PlanResponse{Planned: wrong, LegacyTypes: true}, nil, true, wrong, "", cty.NilVal, "", "tolerated because it uses the legacy type system: name: "},
		{"null", configured, cty.NilVal, provider.PlanResponse{Planned: gone, LegacyTypes: true}, nil, false, gone, "", cty.NilVal, "Provider produced invalid plan", "the plan is null"},
		{"null and wrong", configured, cty.NilVal, provider.PlanResponse{Planned: gone}, nil, false, gone, "", cty.NilVal, "Provider produced invalid plan", ""},
		{"another type", configured, cty.NilVal, provider.PlanResponse{Planned: str("x")}, nil, false, cty.NilVal, "", cty.NilVal, "Provider produced invalid plan", ""},
		{"second", configured, unknown, provider.PlanResponse{Planned: thing(attrs{"id": str("i-1"), "name": str("new"), "pin": str("17")})}, nil, true, thing(attrs{"id": str("i-1"), "name": str("new"), "pin": str("17")}), "", cty.NilVal, "", ""},
		{"second differs", configured, thing(attrs{"id": str("i-2"), "name": str("new")}), provider.PlanResponse{Planned: planned}, nil, false, planned, "", cty.NilVal, "Provider produced inconsistent final plan", ""},
		{"second is configured differently", configured, thing(attrs{"id": str("i-1"), "name": str("another")}), provider.PlanResponse{Planned: planned}, nil, false, planned, "", cty.NilVal, "Argument has changed since the plan", ""},
		{"second loses what is not configured", configured, thing(attrs{"id": str("i-1"), "name": str("new"), "pin": str("17")}), provider.PlanResponse{Planned: planned}, nil, false, planned, "", cty.NilVal, "Provider produced inconsistent final plan", ""},
		{"destroy", gone, cty.NilVal, provider.PlanResponse{Planned: gone, Identity: identity("b")}, nil, true, gone, "", identity("b"), "", ""},
		{"destroy not", gone, cty.NilVal, provider.PlanResponse{Planned: planned}, nil, false, planned, "", cty.NilVal, "Provider produced invalid plan", ""},
		{"destroy fails", gone, cty.NilVal, provider.PlanResponse{Planned: planned}, failure, false, planned, "", cty.NilVal, "failed", ""},
	} {
		f := newFixture(t)
		f.plan, f.diags = row.resp, row.diags
		got, ok := f.Plan(PlanRequest{Prior: prior, Config: row.config, First: row.first, Private: []byte("first"), Meta: cty.NilVal})
		if ok != row.ok || !same(got.Planned, row.v) || string(got.Private) != row.private || !same(got.Identity, row.id) {
			t.Errorf("%s: got %t, %#v, %s, %#v, want %t, %#v, %s, %#v", row.name, ok, got.Planned, got.Private, got.Identity, row.ok, row.v, row.private, row.id)
		}
		f.says(t, row.name, row.summary)
		if logs := strings.Join(f.log, "\n"); (logs != "") != (row.logs != "") || !strings.Contains(logs, row.logs) {
			t.Errorf("%s: got the log %q, want %q in it", row.name, logs, row.logs)
		}
		proposed := row.config
		if !row.config.IsNull() {
			proposed = schema.ProposedNew(block(), prior.Value, row.config)
		}
		if req, ok := f.asked.(provider.PlanRequest); !ok || req.Type != "thing_a" || !same(req.Proposed, proposed) || !same(req.Config, row.config) || string(req.PriorPrivate) != "p0" || string(req.PlannedPrivate) != "first" {
			t.Errorf("%s: got the request %#v, want %#v proposed for the configuration %#v, and both private data", row.name, f.asked, proposed, row.config)
		}
	}
}

// TestPlannedIdentityWithAWarning keeps what may be stored.
func TestPlannedIdentityWithAWarning(t *testing.T) {
	f := newFixture(t)
	f.Env.Leaks.Guard.Reveal(leak.Source{Kind: leak.Configuration, Address: addr.ProviderConfig{Provider: source}.String()}, str("configured-17").Mark(value.Ephemeral), cty.String)
	f.plan = provider.PlanResponse{Planned: thing(attrs{"name": str("new")}), Identity: identity("configured-17")}
	got, ok := f.Plan(PlanRequest{Prior: Prior{Value: cty.NullVal(block().Type()), Identity: cty.NilVal}, Config: thing(attrs{"name": str("new")}), First: cty.NilVal, Meta: cty.NilVal})
	if !ok || !same(got.Identity, identity("configured-17")) {
		t.Errorf("%t, %#v", ok, got.Identity)
	}
	f.says(t, "identity", "Ephemeral value is stored")
}

// TestReport reports about an attribute at its place in the block.
func TestReport(t *testing.T) {
	file, hd := hclsyntax.ParseConfig([]byte("id = 1\nname = 2\n"), "main.tf", hcl.InitialPos)
	if hd.HasErrors() {
		t.Fatal(hd)
	}
	f := newFixture(t)
	f.Body = file.Body
	f.Report(diag.List{{Summary: "wrong", Path: cty.GetAttrPath("name")}})
	if len(f.reported) != 1 || f.reported[0].Subject == nil || f.reported[0].Subject.Start.Line != 2 {
		t.Errorf("reported: got %v, want one diagnostic on line 2", f.reported)
	}
	f.says(t, "at its place", "wrong")
}

// TestLogs logs what providers may do, if there is a log.
func TestLogs(t *testing.T) {
	f := newFixture(t)
	calls := 0
	errs := func() []error { calls++; return []error{fmt.Errorf("one"), fmt.Errorf("two")} }
	f.LogTolerated(contract.Plan, errs)
	if len(f.log) != 2 || !strings.HasPrefix(f.log[0], "[WARN] provider example.com/a/thing returned a plan for thing_a.x") {
		t.Errorf("log: got %q, want two warnings of a plan for thing_a.x", f.log)
	}
	unknown := cty.ObjectVal(attrs{"name": cty.UnknownVal(cty.String)})
	null := cty.NullVal(identity("a").Type())
	f.log = nil
	for _, pair := range [][2]cty.Value{{cty.NilVal, identity("b")}, {null, identity("b")}, {unknown, identity("b")}, {identity("a"), cty.NilVal}, {identity("a"), null}, {identity("a"), identity("a")}} {
		if f.LogIdentity("reading", pair[0], pair[1]); f.log != nil {
			t.Errorf("from %#v to %#v: %q", pair[0], pair[1], f.log)
		}
	}
	f.Env.Log = nil
	f.LogTolerated(contract.Plan, errs)
	f.LogIdentity("reading", identity("a"), identity("b"))
	f.warnf("to nobody")
	if calls != 1 {
		t.Errorf("the rules were checked %d times, want 1", calls)
	}
	f.Report(nil)
	f.says(t, "nothing", "")
}

// stored returns a state object with attributes.
func stored(t *testing.T, v cty.Value) *state.Object {
	t.Helper()
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := state.ObjectFrom(d)
	if err != nil {
		t.Fatal(err)
	}
	o.SchemaVersion, o.Private = 2, []byte("p0")
	return o
}

// TestUpgrade decodes stored objects, and asks the provider about those of another version.
func TestUpgrade(t *testing.T) {
	whole := thing(attrs{"id": str("i-1"), "name": str("old")})
	change := func(f func(*state.Object)) *state.Object {
		o := stored(t, whole)
		f(o)
		return o
	}
	olderWithSecret := stored(t, thing(attrs{"name": str(secret)}))
	olderWithSecret.SchemaVersion = 1
	failure := diag.Errorf("failed", "it failed")
	for _, row := range []struct {
		name    string
		o       *state.Object
		answer  cty.Value
		diags   diag.List
		ok      bool
		v, id   cty.Value
		cleaned bool
		summary string
		asked   bool
	}{
		{"current", stored(t, whole), cty.NilVal, nil, true, whole, cty.NilVal, false, "", false},
		{"write-only value", stored(t, thing(attrs{"id": str("i-1"), "secret": str("other-s3cret")})), cty.NilVal, nil, true, thing(attrs{"id": str("i-1")}), cty.NilVal, true, "Write-only value in the state", false},
		{"older", change(func(o *state.Object) { o.SchemaVersion = 1 }), whole, nil, true, whole, cty.NilVal, false, "", true},
		{"another shape", stored(t, cty.ObjectVal(attrs{"other": str("x")})), whole, nil, true, whole, cty.NilVal, false, "", true},
		{"flat", &state.Object{SchemaVersion: 2, Flatmap: map[string]string{"id": "i-1"}}, whole, nil, true, whole, cty.NilVal, false, "", true},
		{"newer", change(func(o *state.Object) { o.SchemaVersion = 3 }), whole, nil, false, cty.NilVal, cty.NilVal, false, "Resource instance was stored by a newer provider", false},
		{"failure", change(func(o *state.Object) { o.SchemaVersion = 1 }), cty.NilVal, failure, false, cty.NilVal, cty.NilVal, false, "failed", true},
		{"failure with a value", change(func(o *state.Object) { o.SchemaVersion = 1 }), whole, failure, false, cty.NilVal, cty.NilVal, false, "failed", true},
		{"upgraded write-only value", change(func(o *state.Object) { o.SchemaVersion = 1 }), thing(attrs{"id": str("i-1"), "secret": str("other-s3cret")}), nil, true, thing(attrs{"id": str("i-1")}), cty.NilVal, false, "Invalid resource state upgrade", true},
		{"what was stored", olderWithSecret, thing(attrs{"name": str(secret)}), nil, true, thing(attrs{"name": str(secret)}), cty.NilVal, false, "", true},
		{"null", change(func(o *state.Object) { o.SchemaVersion = 1 }), cty.NullVal(block().Type()), nil, false, cty.NilVal, cty.NilVal, false, "Provider produced invalid upgraded state", true},
		{"identity", change(func(o *state.Object) { o.Identity, o.IdentityVersion = []byte(`{"name":"a"}`), 3 }), cty.NilVal, nil, true, whole, identity("a"), false, "", false},
		{"older identity", change(func(o *state.Object) { o.Identity, o.IdentityVersion = []byte(`{"name":"a"}`), 2 }), identity("b"), nil, true, whole, identity("b"), false, "", true},
		{"identity of another shape", change(func(o *state.Object) { o.Identity, o.IdentityVersion = []byte(`{"other":"a"}`), 3 }), identity("b"), nil, true, whole, identity("b"), false, "", true},
		{"secret identity", change(func(o *state.Object) { o.Identity, o.IdentityVersion = []byte(`{"name":"a"}`), 2 }), identity(secret), nil, true, whole, cty.NilVal, false, "Provider copied a write-only value", true},
		{"identity fails", change(func(o *state.Object) { o.Identity, o.IdentityVersion = []byte(`{"name":"a"}`), 2 }), cty.NilVal, failure, false, whole, cty.NilVal, false, "failed", true},
	} {
		f := newFixture(t)
		f.value, f.diags = row.answer, row.diags
		got, ok := f.Upgrade(row.o)
		if ok != row.ok || !same(got.Value, row.v) || !same(got.Identity, row.id) || got.Cleaned != row.cleaned || got.Object != row.o || string(got.Private) != string(row.o.Private) {
			t.Errorf("%s: got %t, %#v, %#v, want %t, %#v, %#v, cleaned: %t", row.name, ok, got, got.Value, row.ok, row.v, row.id, row.cleaned)
		}
		if row.cleaned && len(f.reported) == 1 {
			row.summary = f.reported[0].Summary
		}
		f.says(t, row.name, row.summary)
		if _, asked := f.asked.(provider.UpgradeRequest); asked != row.asked {
			t.Errorf("%s: got the request %#v, want an upgrade: %t", row.name, f.asked, row.asked)
		}
	}
	for name, prepare := range map[string]func(*fixture){"without schemas": func(f *fixture) { f.failure = failure }, "without identities": func(f *fixture) { f.id = nil }} {
		f := newFixture(t)
		prepare(f)
		got, ok := f.Upgrade(change(func(o *state.Object) { o.Identity = []byte(`{"name":"a"}`) }))
		if !ok || !same(got.Value, whole) || got.Identity != cty.NilVal || f.asked != nil {
			t.Errorf("%s: got %t, %#v, want the whole value without identity, and nothing asked", name, ok, got)
		}
	}
	idle := newFixture(t)
	idle.Provider = nil
	if got, ok := idle.Upgrade(change(func(o *state.Object) { o.Identity, o.IdentityVersion = []byte(`{"name":"a"}`), 2 })); !ok || !same(got.Value, whole) || got.Identity != cty.NilVal {
		t.Errorf("without a provider: got %t, %#v, want the whole value without identity", ok, got)
	}
	for name, o := range map[string]*state.Object{
		"older":         change(func(o *state.Object) { o.SchemaVersion = 1 }),
		"another shape": stored(t, cty.ObjectVal(attrs{"other": str("x")})),
		"write-only":    stored(t, thing(attrs{"id": str("i-1"), "secret": str("x")})),
	} {
		if AsItIs(&idle.Op, o) {
			t.Errorf("%s: got an object that stays as it is, want one that is upgraded or cleaned", name)
		}
	}
	if !AsItIs(&idle.Op, stored(t, whole)) {
		t.Error("got an object that is upgraded or cleaned, want one that stays as it is")
	}
	f := newFixture(t)
	f.id, f.unknown = nil, diag.Errorf("unknown", "it is not known")
	if _, ok := f.Upgrade(change(func(o *state.Object) { o.Identity = []byte(`{"name":"a"}`) })); !ok {
		t.Error("an object cannot be used without its identity")
	}
	f.says(t, "identities that are wrong", "unknown")
	if f.IsCurrent(&state.Object{SchemaVersion: 2, Flatmap: map[string]string{}}) || !f.IsCurrent(stored(t, whole)) {
		t.Error("flat objects need an upgrade, and no others")
	}
}

// TestStoredIsInTheOpen lets come back what the state had of the object, in each place, and nothing of what
// the operation begins with if that is another object.
func TestStoredIsInTheOpen(t *testing.T) {
	number := cty.MustParseNumberVal("4711081512")
	for name, o := range map[string]*state.Object{
		"attribute": stored(t, thing(attrs{"name": str("<" + secret + ">")})), "key": stored(t, cty.ObjectVal(attrs{secret: cty.True})),
		"identity": {Identity: []byte(`{"name":"` + secret + `"}`)}, "private data": {Private: []byte("x" + secret)}, "flat": {Flatmap: map[string]string{"a": secret}},
		"JSON in JSON": stored(t, thing(attrs{"name": str(`{"a":"` + secret + `"}`)})),
	} {
		for way, open := range map[string]func(f *fixture){
			"first":    func(f *fixture) { f.begin(o) },
			"recorded": func(f *fixture) { f.Recorded = o; f.begin(&state.Object{}) },
			"beside":   func(f *fixture) { f.Recorded = o; f.PublishRecorded() },
		} {
			f := newFixture(t)
			open(f)
			if v, diags := f.Answers.Accept(thing(attrs{"name": str(secret)}), nil, contract.Object); diags != nil || v.GetAttr("name") != str(secret) {
				t.Errorf("%s, %s: got %v, want the value accepted without diagnostics", name, way, diags)
			}
		}
		f := newFixture(t)
		f.Recorded = &state.Object{}
		f.begin(o)
		if _, diags := f.Answers.Accept(thing(attrs{"name": str(secret)}), nil, contract.Object); !diags.HasErrors() {
			t.Errorf("%s: what the operation begins with is public, although it was not recorded", name)
		}
	}
	f := newFixture(t)
	f.PublishRecorded()
	f.Env.Leaks.Guard.Remember(leak.Source{Kind: leak.Credential, Address: "a key"}, number.Mark(value.Sensitive), cty.Number)
	f.open(stored(t, cty.ObjectVal(attrs{"n": number})))
	if _, diags := f.Answers.Accept(thing(attrs{"name": str("4711081512")}), nil, contract.Object); diags != nil {
		t.Errorf("a number: %v", diags)
	}
	if _, diags := f.Answers.Accept(thing(attrs{"name": str(secret)}), nil, contract.Object); !diags.HasErrors() {
		t.Error("what was nowhere is public")
	}
	texts := 0
	eachText([]byte(`["a", {"k": 1}, "b"] broken`), func(string) bool { texts++; return true })
	if texts != 4 {
		t.Errorf("%d texts in a document that is broken at its end, want 4", texts)
	}
}

// TestMoved converts an object of another type.
func TestMoved(t *testing.T) {
	whole := thing(attrs{"id": str("i-1")})
	from, err := addr.ParseInstance("thing_b.y")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		resp    provider.MoveResponse
		diags   diag.List
		ok      bool
		v, id   cty.Value
		private string
		summary string
	}{
		{"moved", provider.MoveResponse{Target: whole, Private: []byte("p1"), Identity: identity("a")}, nil, true, whole, identity("a"), "p1", ""},
		{"null", provider.MoveResponse{Target: cty.NullVal(block().Type())}, nil, false, cty.NilVal, cty.NilVal, "", "Provider produced invalid moved object"},
		{"failure", provider.MoveResponse{Target: whole}, diag.Errorf("failed", "it failed"), false, cty.NilVal, cty.NilVal, "", "failed"},
		{"secret identity", provider.MoveResponse{Target: whole, Identity: identity(secret)}, nil, true, whole, cty.NilVal, "", "Provider copied a write-only value"},
		{"secret private data", provider.MoveResponse{Target: whole, Private: []byte(secret)}, nil, true, whole, cty.NilVal, "", "Provider copied a write-only value"},
	} {
		f := newFixture(t)
		f.moved, f.diags = row.resp, row.diags
		o := stored(t, whole)
		got, ok := f.ConvertMoved(o, from, addr.ProviderConfig{Provider: source})
		if ok != row.ok || !same(got.Value, row.v) || !same(got.Identity, row.id) || string(got.Private) != row.private || got.Object != o {
			t.Errorf("%s: got %t, %#v, want %t, %#v, %s, %#v", row.name, ok, got, row.ok, row.v, row.private, row.id)
		}
		f.says(t, row.name, row.summary)
		if req, ok := f.asked.(provider.MoveRequest); !ok || req.SourceType != "thing_b" || req.TargetType != "thing_a" || !slices.Equal(req.SourceJSON, o.JSON()) || string(req.SourcePrivate) != "p0" {
			t.Errorf("%s: got the request %#v, want thing_b moved to thing_a with what is stored", row.name, f.asked)
		}
	}
	f := newFixture(t)
	f.moved = provider.MoveResponse{Target: thing(attrs{"name": str(secret)})}
	if got, ok := f.ConvertMoved(stored(t, thing(attrs{"name": str(secret)})), from, addr.ProviderConfig{}); !ok || got.Value.GetAttr("name") != str(secret) {
		t.Errorf("value that the object had before: got %t, %#v, want it kept", ok, got.Value)
	}
}
