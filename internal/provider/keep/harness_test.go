package keep

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/provider/keep/serve"
)

// attrs are attribute values by name: string, int, bool, nil, []string, map[string]string, or [unknown].
type attrs map[string]any

var unknown = tftypes.UnknownValue

// host speaks the protocol to one provider process, as an engine does.
type host struct {
	t       *testing.T
	server  tfprotov6.ProviderServer
	schemas *tfprotov6.GetProviderSchemaResponse
	clock   *time.Time
}

func newHost(t *testing.T) *host {
	t.Helper()
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	h := &host{t: t, clock: &at}
	p := newProvider(Options{}, func() time.Time { return at })
	t.Cleanup(func() { _ = p.Close() })
	h.server = serve.New(p)
	var err error
	h.schemas, err = h.server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil || len(h.schemas.Diagnostics) > 0 {
		t.Fatalf("schema: %v, %v", err, texts(h.schemas.Diagnostics))
	}
	return h
}

// configured gives a host whose provider works on the store at path.
func configured(t *testing.T, config attrs) *host {
	t.Helper()
	h := newHost(t)
	h.ok(h.configure(config))
	return h
}

func tempStore(t *testing.T) string { return filepath.Join(t.TempDir(), "keep.age") }

func (h *host) configure(config attrs) []*tfprotov6.Diagnostic {
	h.t.Helper()
	dv := h.encode(h.schemas.Provider.ValueType(), config)
	valid, err := h.server.ValidateProviderConfig(h.t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: dv})
	h.must(err)
	if len(valid.Diagnostics) > 0 {
		return valid.Diagnostics
	}
	resp, err := h.server.ConfigureProvider(h.t.Context(), &tfprotov6.ConfigureProviderRequest{Config: dv})
	h.must(err)
	return resp.Diagnostics
}

// object makes a value of the type with the attributes given and null for the others; nil attributes make a
// null object.
func (h *host) object(typ tftypes.Type, a attrs) tftypes.Value {
	h.t.Helper()
	if a == nil {
		return tftypes.NewValue(typ, nil)
	}
	types := typ.(tftypes.Object).AttributeTypes
	vals := map[string]tftypes.Value{}
	for name, at := range types {
		v := a[name]
		switch given := v.(type) {
		case int:
			v = int64(given)
		case []string:
			list := []tftypes.Value{}
			for _, s := range given {
				list = append(list, tftypes.NewValue(tftypes.String, s))
			}
			v = list
		case map[string]string:
			m := map[string]tftypes.Value{}
			for key, s := range given {
				m[key] = tftypes.NewValue(tftypes.String, s)
			}
			v = m
		}
		vals[name] = tftypes.NewValue(at, v)
	}
	for name := range a {
		if _, ok := types[name]; !ok {
			h.t.Fatalf("no attribute %q", name)
		}
	}
	return tftypes.NewValue(typ, vals)
}

func (h *host) encode(typ tftypes.Type, a attrs) *tfprotov6.DynamicValue {
	h.t.Helper()
	dv, err := tfprotov6.NewDynamicValue(typ, h.object(typ, a))
	h.must(err)
	return &dv
}

// decode is the reverse of encode; lists stay tftypes values. Nil means a null object.
func (h *host) decode(typ tftypes.Type, dv *tfprotov6.DynamicValue) attrs {
	h.t.Helper()
	if dv == nil {
		return nil
	}
	v, err := dv.Unmarshal(typ)
	h.must(err)
	if v.IsNull() {
		return nil
	}
	var vals map[string]tftypes.Value
	h.must(v.As(&vals))
	out := attrs{}
	for name, av := range vals {
		out[name] = h.plain(av)
	}
	return out
}

func (h *host) plain(v tftypes.Value) any {
	h.t.Helper()
	switch {
	case !v.IsKnown():
		return unknown
	case v.IsNull():
		return nil
	case v.Type().Is(tftypes.String):
		var s string
		h.must(v.As(&s))
		return s
	case v.Type().Is(tftypes.Bool):
		var b bool
		h.must(v.As(&b))
		return b
	case v.Type().Is(tftypes.Number):
		var f big.Float
		h.must(v.As(&f))
		i, _ := f.Int64()
		return int(i)
	}
	if v.Type().Is(tftypes.Map{}) {
		var m map[string]tftypes.Value
		h.must(v.As(&m))
		return m
	}
	var list []tftypes.Value
	h.must(v.As(&list))
	return list
}

func (h *host) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) ok(diags []*tfprotov6.Diagnostic) {
	h.t.Helper()
	if len(diags) > 0 {
		h.t.Fatalf("unexpected: %s", texts(diags))
	}
}

// fails checks for an error with that summary.
func (h *host) fails(diags []*tfprotov6.Diagnostic, summary string) {
	h.t.Helper()
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError && d.Summary == summary {
			return
		}
	}
	h.t.Errorf("want the error %q, got %q", summary, texts(diags))
}

func texts(diags []*tfprotov6.Diagnostic) string {
	var out strings.Builder
	for _, d := range diags {
		out.WriteString(d.Severity.String() + ": " + d.Summary + ": " + d.Detail + "\n")
	}
	return out.String()
}

// managed follows one object of a managed resource through plan and apply.
type managed struct {
	*host
	name    string
	typ     tftypes.Type
	state   attrs
	private []byte
}

func (h *host) managed(name string) *managed {
	return &managed{host: h, name: name, typ: h.schemas.ResourceSchemas[name].ValueType()}
}

// proposed merges configuration and prior state as an engine does: computed attributes that are not set keep
// their prior value.
func (m *managed) proposed(config attrs) attrs {
	if config == nil {
		return nil
	}
	out := attrs{}
	maps.Copy(out, config)
	for _, a := range m.schemas.ResourceSchemas[m.name].Block.Attributes {
		if a.Computed && out[a.Name] == nil {
			out[a.Name] = m.state[a.Name]
		}
		if a.WriteOnly {
			delete(out, a.Name)
		}
	}
	return out
}

func (m *managed) plan(config attrs) (*tfprotov6.PlanResourceChangeResponse, attrs) {
	m.t.Helper()
	resp, err := m.server.PlanResourceChange(m.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: m.name, Config: m.encode(m.typ, config), PriorState: m.encode(m.typ, m.state),
		ProposedNewState: m.encode(m.typ, m.proposed(config)), PriorPrivate: m.private,
	})
	m.must(err)
	planned := m.decode(m.typ, resp.PlannedState)
	m.noValue(planned)
	return resp, planned
}

func (m *managed) apply(config attrs) []*tfprotov6.Diagnostic {
	m.t.Helper()
	p, planned := m.plan(config)
	m.ok(p.Diagnostics)
	resp, err := m.server.ApplyResourceChange(m.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: m.name, Config: m.encode(m.typ, config), PriorState: m.encode(m.typ, m.state),
		PlannedState: p.PlannedState, PlannedPrivate: p.PlannedPrivate,
	})
	m.must(err)
	after := m.decode(m.typ, resp.NewState)
	m.noValue(after)
	if len(resp.Diagnostics) == 0 {
		for name, v := range planned {
			if v != unknown && after != nil && after[name] != v {
				m.t.Errorf("%s.%s: got %v, want %v as it was planned", m.name, name, after[name], v)
			}
		}
		m.state, m.private = after, resp.Private
	}
	return resp.Diagnostics
}

func (m *managed) read() []*tfprotov6.Diagnostic {
	m.t.Helper()
	resp, err := m.server.ReadResource(m.t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: m.name, CurrentState: m.encode(m.typ, m.state), Private: m.private,
	})
	m.must(err)
	m.state, m.private = m.decode(m.typ, resp.NewState), resp.Private
	m.noValue(m.state)
	return resp.Diagnostics
}

func (m *managed) importID(id string) []*tfprotov6.Diagnostic {
	m.t.Helper()
	resp, err := m.server.ImportResourceState(m.t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: m.name, ID: id})
	m.must(err)
	if len(resp.Diagnostics) > 0 {
		return resp.Diagnostics
	}
	if len(resp.ImportedResources) != 1 {
		m.t.Fatalf("imported %d objects, want 1", len(resp.ImportedResources))
	}
	m.state, m.private = m.decode(m.typ, resp.ImportedResources[0].State), resp.ImportedResources[0].Private
	m.noValue(m.state)
	return m.read()
}

// noValue checks what holds for every response there is: a write-only attribute is null.
func (m *managed) noValue(a attrs) {
	m.t.Helper()
	if a["value_wo"] != nil {
		m.t.Errorf("%s: a response holds value_wo = %v", m.name, a["value_wo"])
	}
}

// opened is an ephemeral resource that was opened.
type opened struct {
	*host
	name    string
	result  attrs
	private []byte
	renewAt time.Time
}

func (h *host) open(name string, config attrs) (*opened, []*tfprotov6.Diagnostic) {
	h.t.Helper()
	typ := h.schemas.EphemeralResourceSchemas[name].ValueType()
	dv := h.encode(typ, config)
	valid, err := h.server.ValidateEphemeralResourceConfig(h.t.Context(), &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: name, Config: dv})
	h.must(err)
	if len(valid.Diagnostics) > 0 {
		return nil, valid.Diagnostics
	}
	resp, err := h.server.OpenEphemeralResource(h.t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: name, Config: dv})
	h.must(err)
	if len(resp.Diagnostics) > 0 {
		return nil, resp.Diagnostics
	}
	return &opened{host: h, name: name, result: h.decode(typ, resp.Result), private: resp.Private, renewAt: resp.RenewAt}, nil
}

func (o *opened) renew() []*tfprotov6.Diagnostic {
	o.t.Helper()
	resp, err := o.server.RenewEphemeralResource(o.t.Context(), &tfprotov6.RenewEphemeralResourceRequest{TypeName: o.name, Private: o.private})
	o.must(err)
	if len(resp.Diagnostics) == 0 {
		o.private, o.renewAt = resp.Private, resp.RenewAt
	}
	return resp.Diagnostics
}

func (o *opened) close() []*tfprotov6.Diagnostic {
	o.t.Helper()
	resp, err := o.server.CloseEphemeralResource(o.t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: o.name, Private: o.private})
	o.must(err)
	return resp.Diagnostics
}

func (h *host) data(name string, config attrs) (attrs, []*tfprotov6.Diagnostic) {
	h.t.Helper()
	typ := h.schemas.DataSourceSchemas[name].ValueType()
	resp, err := h.server.ReadDataSource(h.t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: name, Config: h.encode(typ, config)})
	h.must(err)
	return h.decode(typ, resp.State), resp.Diagnostics
}

func TestCancelledOperationSaysSo(t *testing.T) {
	h := configured(t, attrs{"path": tempStore(t)})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	typ := h.schemas.EphemeralResourceSchemas["keep_lease"].ValueType()
	resp, err := h.server.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: "keep_lease", Config: h.encode(typ, attrs{})})
	h.must(err)
	h.fails(resp.Diagnostics, "Interrupted")
}
