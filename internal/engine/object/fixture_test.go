package object

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/processes"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

const secret = "own-s3cret-17"

type attrs = map[string]cty.Value

func str(s string) cty.Value { return cty.StringVal(s) }

// scripted is a provider whose answers a test gives. It keeps what it was asked.
type scripted struct {
	id        *schema.Identity
	generates bool
	failure   diag.List // of the catalog
	unknown   diag.List // of its identities

	read     provider.ReadResponse
	plan     provider.PlanResponse
	imported provider.ImportResponse
	moved    provider.MoveResponse
	value    cty.Value // of upgrades and of generated configuration
	diags    diag.List
	asked    any
}

// offer is what the provider offers.
type offer struct {
	provider.Catalog
	*scripted
}

func (o offer) Identity(string) (*schema.Identity, diag.List) { return o.id, o.unknown }

func (o offer) Capabilities() provider.Capabilities {
	return provider.Capabilities{GenerateResourceConfig: o.generates}
}

// launcher starts the provider.
type launcher struct{ *scripted }

func (l launcher) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	return served{scripted: l.scripted}, nil
}

// served is the provider as it is asked.
type served struct {
	provider.Provider
	*scripted
}

func (s served) Catalog(context.Context) (provider.Catalog, diag.List) {
	return offer{scripted: s.scripted}, s.failure
}

func (s served) UpgradeResource(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	s.asked = req
	return s.value, s.diags
}

func (s served) UpgradeIdentity(_ context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	s.asked = req
	return s.value, s.diags
}

func (s served) ReadResource(_ context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	s.asked = req
	return s.read, s.diags
}

func (s served) PlanResource(_ context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	s.asked = req
	return s.plan, s.diags
}

func (s served) ImportResource(_ context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	s.asked = req
	return s.imported, s.diags
}

func (s served) MoveResource(_ context.Context, req provider.MoveRequest) (provider.MoveResponse, diag.List) {
	s.asked = req
	return s.moved, s.diags
}

func (s served) GenerateConfig(_ context.Context, req provider.GenerateRequest) (cty.Value, diag.List) {
	s.asked = req
	return s.value, s.diags
}

// fixture is an operation on an object, with what it reports and logs.
type fixture struct {
	*scripted
	Op
	reported diag.List
	log      []string
	events   []event.Event
}

func (f *fixture) Event(e event.Event) { f.events = append(f.events, e) }

var source = func() addr.Provider {
	p, err := addr.ParseProvider("example.com/a/thing")
	if err != nil {
		panic(err)
	}
	return p
}()

// block has attributes of each kind.
func block() *schema.Block {
	return &schema.Block{Attributes: map[string]*schema.Attribute{
		"id": {Type: cty.String, Computed: true}, "name": {Type: cty.String, Optional: true}, "pin": {Type: cty.String, Computed: true, Sensitive: true},
		"secret": {Type: cty.String, Optional: true, WriteOnly: true},
	}}
}

// thing returns an object of block, null where given says nothing.
func thing(given attrs) cty.Value {
	all := attrs{}
	for name, ty := range block().Type().AttributeTypes() {
		all[name] = cty.NullVal(ty)
		if v, ok := given[name]; ok {
			all[name] = v
		}
	}
	return cty.ObjectVal(all)
}

func identity(name string) cty.Value { return cty.ObjectVal(attrs{"name": str(name)}) }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	instance, err := addr.ParseInstance("thing_a.x")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{scripted: &scripted{id: &schema.Identity{Version: 3, Attributes: map[string]*schema.IdentityAttribute{"name": {Type: cty.String}}}}}
	env := &Env{
		Ctx: t.Context(), Providers: processes.New(launcher{f.scripted}), Events: event.NewReporter(f, time.Now, nil), Leaks: contract.Leaks{Guard: leak.New()},
		Sink: func(l diag.List) { f.reported = append(f.reported, l...) }, Log: func(line string) { f.log = append(f.log, line) },
	}
	f.Op = New(env, addr.Object{Instance: instance}, &schema.Schema{Version: 2, Block: block()}, source)
	if f.Use(nil, addr.ProviderConfig{}) || !f.Use(served{scripted: f.scripted}, addr.ProviderConfig{Provider: source}) {
		t.Fatal("there is a provider where there is none")
	}
	f.Answers.Given(thing(attrs{"secret": str(secret).Mark(value.Ephemeral)}))
	return f
}

// says fails if what was reported is not one diagnostic with a summary, or nothing for "".
func (f *fixture) says(t *testing.T, name, summary string) {
	t.Helper()
	if summary == "" && len(f.reported) > 0 || summary != "" && (len(f.reported) != 1 || f.reported[0].Summary != summary) {
		t.Errorf("%s: reported %v, want %q", name, f.reported, summary)
	}
	for _, d := range f.reported {
		if strings.Contains(d.String(), secret) {
			t.Errorf("%s: the secret is in a message", name)
		}
		if d.Address != "thing_a.x" {
			t.Errorf("%s: it is about: got %q, want %q", name, d.Address, "thing_a.x")
		}
	}
	f.reported = nil
}

func same(a, b cty.Value) bool {
	if a == cty.NilVal || b == cty.NilVal {
		return a == cty.NilVal && b == cty.NilVal
	}
	return a.RawEquals(b)
}
