package simprovider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

func TestMain(m *testing.M) {
	if Serving() {
		ServeMain()
	}
	os.Exit(m.Run())
}

// rig is a provider under test, driven as an engine would.
type rig struct {
	*core
	t   *testing.T
	log string
}

func newRig(t *testing.T, rules ...Rule) *rig {
	t.Helper()
	r := bareRig(t, Options{Rules: rules})
	resp, err := r.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: jsonValue(`{"prefix":"p-","token":"CANARY-token"}`)})
	r.none(resp.Diagnostics, err)
	return r
}

// bareRig is a provider that is not configured.
func bareRig(t *testing.T, o Options) *rig {
	t.Helper()
	o.Dir, o.Log = t.TempDir(), filepath.Join(t.TempDir(), "log")
	c, err := newCore(o, 6)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{core: c, t: t, log: o.Log}
}

func jsonValue(text string) *tfprotov6.DynamicValue {
	return &tfprotov6.DynamicValue{JSON: []byte(text)}
}

func (r *rig) none(diags []*tfprotov6.Diagnostic, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, d := range diags {
		r.t.Fatalf("%s: %s", d.Summary, d.Detail)
	}
}

// fails expects an error diagnostic that holds the text.
func fails(t *testing.T, diags []*tfprotov6.Diagnostic, text string) {
	t.Helper()
	for _, d := range diags {
		if strings.Contains(d.Summary+": "+d.Detail, text) {
			return
		}
	}
	t.Errorf("no diagnostic holds %q: %+v", text, diags)
}

func (r *rig) object(dv *tfprotov6.DynamicValue, s *tfprotov6.Schema) object {
	r.t.Helper()
	o, err := decode(dv, s.ValueType())
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// propose merges prior computed values into the configuration, at the top level only.
func (r *rig) propose(typ string, prior *tfprotov6.DynamicValue, config string) *tfprotov6.DynamicValue {
	r.t.Helper()
	s := r.resources[typ]
	o, was := r.object(jsonValue(config), s), r.object(prior, s)
	for _, a := range s.Block.Attributes {
		if a.Computed && was != nil {
			o[a.Name] = was[a.Name]
		}
	}
	dv, err := encode(o, s.ValueType())
	if err != nil {
		r.t.Fatal(err)
	}
	return dv
}

func (r *rig) planChange(typ string, prior *tfprotov6.DynamicValue, config string) (*tfprotov6.PlanResourceChangeResponse, error) {
	r.t.Helper()
	req := &tfprotov6.PlanResourceChangeRequest{TypeName: typ, PriorState: prior}
	if config != "" {
		req.Config, req.ProposedNewState = jsonValue(config), r.propose(typ, prior, config)
	}
	return r.PlanResourceChange(r.t.Context(), req)
}

func (r *rig) applyPlan(typ string, prior *tfprotov6.DynamicValue, config string, p *tfprotov6.PlanResourceChangeResponse) (*tfprotov6.ApplyResourceChangeResponse, error) {
	r.t.Helper()
	req := &tfprotov6.ApplyResourceChangeRequest{TypeName: typ, PriorState: prior, PlannedState: p.PlannedState, PlannedPrivate: p.PlannedPrivate}
	if config != "" {
		req.Config = jsonValue(config)
	}
	return r.ApplyResourceChange(r.t.Context(), req)
}

// change plans and applies without errors.
func (r *rig) change(typ string, prior *tfprotov6.DynamicValue, config string) *tfprotov6.ApplyResourceChangeResponse {
	r.t.Helper()
	p, err := r.planChange(typ, prior, config)
	r.none(p.Diagnostics, err)
	a, err := r.applyPlan(typ, prior, config, p)
	r.none(a.Diagnostics, err)
	return a
}

func (r *rig) transcript() simlog.Log {
	r.t.Helper()
	l, err := simlog.ReadFile(r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

func isNull(t *testing.T, dv *tfprotov6.DynamicValue) bool {
	t.Helper()
	null, err := dv.IsNull()
	if err != nil {
		t.Fatal(err)
	}
	return null
}

func (o object) known(name string) bool { return isKnownNonNull(o[name]) }

func pathNames(paths []*tftypes.AttributePath) string {
	var out []string
	for _, p := range paths {
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}
