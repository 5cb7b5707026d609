package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/state/store"
)

// listed observes a query.
type listed struct {
	texts []string // all that was observed, in order
	found func(*event.ListResult) bool
}

func (l *listed) ListStarted(e event.ListStart) {
	l.texts = append(l.texts, fmt.Sprintf("start %s %s", e.List, e.Config))
}

func (l *listed) ListFound(r *event.ListResult) bool {
	if l.found != nil {
		return l.found(r)
	}
	l.texts = append(l.texts, fmt.Sprintf("found %s %s %s", r.List, r.IdentityText, r.Name), string(r.Identity), string(r.Object), r.Resource, r.Import)
	return true
}

func (l *listed) ListCompleted(e event.ListEnd) {
	l.texts = append(l.texts, fmt.Sprintf("end %s %d", e.List, e.Results))
}

// lines returns what was found and how lists ended, sorted.
func (l *listed) lines() string {
	var out []string
	for _, text := range l.texts {
		if strings.HasPrefix(text, "found ") || strings.HasPrefix(text, "end ") {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// query makes a query with the text of a query file.
func (w *world) query(text string, l *listed, c command, change func(*engine.QueryRequest)) *result {
	w.t.Helper()
	w.file("q.tfquery.hcl", text)
	r := &result{w: w}
	e := w.engine(&c, func(ev event.Event) { r.events = append(r.events, ev) })
	tree, diags := (&config.Loader{Queries: config.SomeQueries}).Load(w.dir)
	if diags.HasErrors() {
		w.t.Fatal(diags.Err())
	}
	cfg, diags := e.Compile(w.t.Context(), tree)
	if diags.HasErrors() {
		w.t.Fatal(diags.Err())
	}
	manager, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	req := engine.QueryRequest{Config: cfg, State: w.stored(manager).State, Variables: c.vars, Observer: l, Soft: c.soft}
	if change != nil {
		change(&req)
	}
	r.planDiags = engine.Query(w.t.Context(), e, req)
	e.Close()
	r.planDiags = append(r.planDiags, e.Flush()...)
	r.planLog = w.newEntries()
	w.checkAlways(r)
	return r
}

// TestE85ListsTakeEphemeralValues has a provider repeat an ephemeral value in everything that it returns. The
// value configures the provider too.
func TestE85ListsTakeEphemeralValues(t *testing.T) {
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "list" }
provider "sim" {
  alias = "p"
  token = ephemeral.sim_secret.s.lease
}`)
	l := &listed{}
	r := w.query(`
list "sim_thing" "secret" {
  provider         = sim.p
  include_resource = true
  config {
    prefix  = ephemeral.sim_secret.s.value
    hint    = ephemeral.sim_secret.s.value
    made_up = 2
  }
}
list "sim_thing" "next" {
  provider = sim.p
  for_each = { for i, r in list.sim_thing.secret.data : i => r }
  config {
    prefix  = each.value.identity.name
    made_up = 1
  }
}`, l, command{}, func(req *engine.QueryRequest) { req.Generate = true })
	if r.planDiags.HasErrors() {
		t.Fatal(r.planDiags.Err())
	}
	for _, text := range l.texts {
		if strings.Contains(text, simcloud.Canary("sim_secret", "list")) {
			t.Errorf("the value is in %s", text)
		}
	}
	if got := strings.Count(l.lines(), "found"); got != 4 {
		t.Errorf("got %d results, want 4:\n%s", got, l.lines())
	}
	if got := len(r.planLog.Calls(simlog.Filter{RPC: "OpenEphemeralResource"})); got != 1 {
		t.Errorf("the instance was opened %d times, want 1", got)
	}
}

// TestQueryReadsObjects has lists refer to a resource in the state, a data source and each other.
func TestQueryReadsObjects(t *testing.T) {
	const thing = `resource "sim_thing" "a" { name = "a" }` + "\n"
	w := newWorld(t, thing)
	if r := w.run(command{}); r.diags().HasErrors() {
		t.Fatal(r.diags().Err())
	}
	w.config(thing + `
variable "prefix" {}
data "sim_lookup" "a" { name = "a" }`)
	vars, l := map[string]cty.Value{"prefix": cty.StringVal("")}, &listed{}
	r := w.query(`
locals { names = [for r in list.sim_thing.first.data : r.display_name] }
list "sim_thing" "first" {
  config {
    prefix = "${var.prefix}${sim_thing.a.name}"
  }
}
list "sim_thing" "second" {
  count            = length(local.names)
  include_resource = count.index == 0
  limit            = data.sim_lookup.a.serial
  config {
    prefix  = local.names[count.index]
    made_up = 3
  }
}
list "sim_shape" "none" {}
`, l, command{vars: vars}, nil)
	if r.planDiags.HasErrors() {
		t.Fatal(r.planDiags.Err())
	}
	want := `end list.sim_shape.none 0
end list.sim_thing.first 1
end list.sim_thing.second[0] 1
found list.sim_thing.first name=a The thing a
found list.sim_thing.second[0] name=The thing a0 The thing The thing a0`
	if got := l.lines(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := len(r.planLog.Calls(simlog.Filter{RPC: "PlanResourceChange"})); got != 0 {
		t.Errorf("%d changes were planned, want 0", got)
	}
}

// TestQueryNeedsItsProvider has a list whose provider is configured from an object that does not exist yet.
func TestQueryNeedsItsProvider(t *testing.T) {
	w, l := newWorld(t, `
resource "sim_thing" "base" { name = "base" }
provider "sim" {
  alias  = "late"
  region = sim_thing.base.id
}`), &listed{}
	r := w.query(`
list "sim_thing" "l" {
  provider = sim.late
  config { prefix = "" }
}`, l, command{}, nil)
	if !r.planDiags.HasErrors() || !strings.Contains(r.planDiags.Err().Error(), "Invalid provider configuration") {
		t.Errorf("got %v, want an error about the configuration of the provider", r.planDiags)
	}
	if got := l.lines(); got != "" {
		t.Errorf("got %q, want no list queried", got)
	}
}

// TestQueryEnds ends a query from outside: its observer has seen enough, and an interrupt comes.
func TestQueryEnds(t *testing.T) {
	const endless = `list "sim_thing" "l" {
  config {
    prefix  = "x"
    made_up = 100
    hang_at = 3
  }
}`
	w := newWorld(t, "")
	n := 0
	r := w.query(endless, &listed{found: func(*event.ListResult) bool { n++; return n < 2 }}, command{}, nil)
	if len(r.planDiags) > 0 || n != 2 {
		t.Errorf("got %d results, and then %v, want 2 without diagnostics", n, r.planDiags)
	}
	soft, interrupt := context.WithCancel(t.Context())
	n = 0
	r = w.query(endless, &listed{found: func(*event.ListResult) bool {
		if n++; n == 3 {
			interrupt()
		}
		return true
	}}, command{soft: soft}, nil)
	if !r.planDiags.HasErrors() || n != 3 {
		t.Errorf("got %d results, and then %v, want 3, and then an error", n, r.planDiags)
	}
}

// TestQueryEndsWithLists interrupts a query when all results are there, or when the provider stops the list.
// Nothing shows which, so it is an error.
func TestQueryEndsWithLists(t *testing.T) {
	w := newWorld(t, "")
	for range 20 { // the end may come before the interrupt is noticed, or after that
		soft, interrupt := context.WithCancel(t.Context())
		r := w.query(`list "sim_thing" "l" {
  config { made_up = 1 }
}`, &listed{found: func(*event.ListResult) bool {
			time.Sleep(2 * time.Millisecond) // the provider's end of the list is there by then, mostly
			interrupt()
			return true
		}}, command{soft: soft}, nil)
		if text := texts(r.planDiags); !r.planDiags.HasErrors() || !strings.Contains(text, "interrupted") {
			t.Errorf("got %q after an interrupt, want an error that says so", text)
		}
	}
}

// TestManyResultsTakeNoMemory lists many objects. With MAYFLY_TEST_LIST_RESULTS there are as many as it says.
func TestManyResultsTakeNoMemory(t *testing.T) {
	many, err := strconv.Atoi(cmp.Or(os.Getenv("MAYFLY_TEST_LIST_RESULTS"), "5000"))
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var n int
	var first, last uint64
	w := newWorld(t, "")
	r := w.query(fmt.Sprintf(`list "sim_thing" "l" {
  limit            = 10000000
  include_resource = true
  config { made_up = %d }
}`, many), &listed{found: func(*event.ListResult) bool {
		switch n++; n {
		case 1000:
			first = heap()
		case many:
			last = heap()
		}
		return true
	}}, command{}, nil)
	if r.planDiags.HasErrors() || n != many {
		t.Fatalf("got %d results, %v, want %d", n, r.planDiags, many)
	}
	t.Logf("%d results: %d kB after 1000, %d kB after all", many, first>>10, last>>10)
	if last > first+1<<20 {
		t.Errorf("the heap has grown from %d kB to %d kB", first>>10, last>>10)
	}
}

// TestListedSecretsAreHidden has a list include an object with a sensitive attribute: it is null for
// observers, and sensitive in expressions.
func TestListedSecretsAreHidden(t *testing.T) {
	w := newWorld(t, `resource "sim_shape" "s" {
  name   = "s"
  secret = "tiger-in-the-tank"
}`)
	if r := w.run(command{}); r.diags().HasErrors() {
		t.Fatal(r.diags().Err())
	}
	l := &listed{}
	r := w.query(`
list "sim_shape" "all" { include_resource = true }
list "sim_shape" "next" { for_each = toset(list.sim_shape.all.data[*].state.secret) }
`, l, command{}, func(req *engine.QueryRequest) { req.Generate = true })
	if err := r.planDiags.Err(); err == nil || !strings.Contains(err.Error(), "Sensitive values") {
		t.Errorf("got %v", err)
	}
	all := strings.Join(l.texts, "\n")
	if strings.Contains(all, "tiger") || !strings.Contains(all, `"secret":null`) || !strings.Contains(all, "= null # sensitive") {
		t.Errorf("observed:\n%s", all)
	}
}

// TestGeneratedBlocks has configuration written for objects that come with the results and for others, which
// are imported for it.
func TestGeneratedBlocks(t *testing.T) {
	const lists = `
list "sim_thing" "whole" {
  config {
    prefix = "a"
  }
}
list "sim_thing" "bare" {
  include_resource = true
  config {
    prefix     = "a"
    objectless = true
  }
}`
	w := newWorld(t, `resource "sim_thing" "a" { name = "a" }`)
	if r := w.run(command{}); r.diags().HasErrors() {
		t.Fatal(r.diags().Err())
	}
	generate := func(req *engine.QueryRequest) { req.Generate = true }
	var results []*event.ListResult
	l := &listed{found: func(r *event.ListResult) bool { results = append(results, r); return true }}
	if r := w.query(lists, l, command{}, generate); r.planDiags.HasErrors() || len(results) != 2 {
		t.Fatalf("got %d results, %v, want 2", len(results), r.planDiags)
	}
	for _, r := range results {
		if r.Object != nil {
			t.Errorf("%s has an object, which it does not include or does not get: %s", r.List, r.Object)
		}
		if !strings.Contains(r.Resource, `"a"`) || !strings.Contains(r.Import, `name = "a"`) {
			t.Errorf("%s: %s\n%s", r.List, r.Import, r.Resource)
		}
	}
	results = nil
	w.query(lists, l, command{}, nil)
	for _, r := range results {
		if r.Resource != "" || r.Import != "" {
			t.Errorf("%s: got the blocks %q, %q, want none, as they were not asked for", r.List, r.Resource, r.Import)
		}
	}

	// What cannot be imported, and what the provider does not describe, is an error, and no result.
	results = nil
	r := w.query(`
list "sim_thing" "gone" {
  config {
    made_up    = 2
    objectless = true
  }
}`, l, command{}, generate)
	if !r.planDiags.HasErrors() || len(results) > 0 {
		t.Errorf("%d results of objects that do not exist: %v", len(results), r.planDiags)
	}
	w.env["SIM_SCHEMA"], w.rules = "generate", `[{"rpc": "GenerateResourceConfig", "do": "error", "text": "not described"}]`
	r = w.query(lists, l, command{}, generate)
	if !r.planDiags.HasErrors() || len(results) > 0 {
		t.Errorf("%d results that the provider does not describe: %v", len(results), r.planDiags)
	}
}
