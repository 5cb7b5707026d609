package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/oddvalue"
	"github.com/mayfly-iac/mayfly/state"
)

// spoiling launches providers whose answers are altered.
type spoiling struct {
	provider.Launcher
	apply func(provider.ApplyRequest, provider.ApplyResponse, diag.List) (provider.ApplyResponse, diag.List)
	read  func(provider.ReadResponse) provider.ReadResponse
	plan  func(provider.PlanRequest, provider.PlanResponse) provider.PlanResponse
}

// Launch implements provider.Launcher.
func (s *spoiling) Launch(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	p, diags := s.Launcher.Launch(ctx, a)
	if p == nil {
		return nil, diags
	}
	return &spoiled{p, s}, diags
}

type spoiled struct {
	provider.Provider
	by *spoiling
}

// ApplyResource implements provider.Changer.
func (s *spoiled) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	resp, diags := s.Provider.ApplyResource(ctx, req)
	if s.by.apply == nil {
		return resp, diags
	}
	return s.by.apply(req, resp, diags)
}

// ReadResource implements provider.Reader.
func (s *spoiled) ReadResource(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	resp, diags := s.Provider.ReadResource(ctx, req)
	if s.by.read != nil && !diags.HasErrors() {
		resp = s.by.read(resp)
	}
	return resp, diags
}

// PlanResource implements provider.Reader.
func (s *spoiled) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	resp, diags := s.Provider.PlanResource(ctx, req)
	if s.by.plan != nil && !diags.HasErrors() {
		resp = s.by.plan(req, resp)
	}
	return resp, diags
}

// replaced returns an object with other values of some attributes.
func replaced(v cty.Value, attrs map[string]cty.Value) cty.Value {
	all := v.AsValueMap()
	for name, a := range attrs {
		all[name] = a
	}
	return cty.ObjectVal(all)
}

// openTypes is the schema's type of an object of terraform_data: all attributes but the id have types of
// their own.
func openTypes(v cty.Value) cty.Type {
	attrs := map[string]cty.Type{}
	for name := range v.Type().AttributeTypes() {
		attrs[name] = cty.DynamicPseudoType
	}
	attrs["id"] = cty.String
	return cty.Object(attrs)
}

const manyThings = `
resource "sim_thing" "x" {
  count = 12
  name  = "x${count.index}"
}

resource "terraform_data" "d" {
  count = 12
  input = count.index
}
`

// TestWhatExistsIsRecorded has providers answer with random values, parts of which cannot be stored. Each
// object is in the state with everything that can be stored, and each part that cannot is null and reported.
func TestWhatExistsIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, manyThings)
	var mu sync.Mutex
	want, identities, private, faults := map[string]cty.Value{}, map[string]string{}, map[string]string{}, 0
	rng := rand.New(rand.NewPCG(1, 2))
	spoil := func(req provider.ApplyRequest, resp provider.ApplyResponse, diags diag.List) (provider.ApplyResponse, diag.List) {
		mu.Lock()
		defer mu.Unlock()
		seed := rng.IntN(1 << 30)
		if req.Type == "terraform_data" {
			d := oddvalue.Spoiled(3).Example(seed)
			i, _ := req.Config.GetAttr("input").AsBigFloat().Int64()
			resp.New, resp.LegacyTypes = replaced(resp.New, map[string]cty.Value{"output": d.Value}), true // else it is not as planned
			want[fmt.Sprintf("terraform_data.d[%d]", i)], faults = replaced(resp.New, map[string]cty.Value{"output": d.Stored}), faults+d.Faults
			return resp, diags
		}
		n, s, l := oddvalue.Number(true).Example(seed), oddvalue.Text(true).Example(seed+1), oddvalue.Text(true).Example(seed+2)
		before := resp.New
		resp.New = replaced(before, map[string]cty.Value{"serial": n.Value, "status": s.Value, "computed_list": cty.ListVal([]cty.Value{l.Value, s.Value})})
		name := req.Config.GetAttr("name").AsString()
		address := "sim_thing.x[" + strings.TrimPrefix(name, "x") + "]"
		want[address] = replaced(before, map[string]cty.Value{"serial": n.Stored, "status": s.Stored, "computed_list": cty.ListVal([]cty.Value{l.Stored, s.Stored})})
		faults += n.Faults + 2*s.Faults + l.Faults
		identities[address] = `{"name":"` + name + `"}`
		if rng.IntN(3) == 0 {
			resp.Identity = cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(name + "\xff")})
			identities[address], faults = `{"name":null}`, faults+1
		}
		resp.Private = []byte{0xff, 0, byte(seed)}
		private[address] = string(resp.Private)
		return resp, diags
	}
	w.launcher = &spoiling{Launcher: w.processes(), apply: spoil}
	r := w.run(command{})
	if faults < 10 || r.errors() != faults {
		t.Errorf("got %d errors: %v, want one for each of %d parts that cannot be stored, at least 10", r.errors(), r.diags(), faults)
	}
	for _, d := range r.diags() {
		if d.Severity == diag.Error && (!strings.Contains(d.Detail, "cannot be stored") || !strings.Contains(d.Detail, "It was left out") || d.Address == "") {
			t.Errorf("an error that doesn't tell what was left out: %s: %s", d.Summary, d.Detail)
		}
	}
	if len(want) != 24 {
		t.Fatalf("%d objects were made, want 24", len(want))
	}
	for address, v := range want {
		o := w.object(address)
		if o == nil {
			t.Errorf("%s exists and is not recorded", address)
			continue
		}
		ty := v.Type()
		if strings.HasPrefix(address, "terraform_data") {
			ty = openTypes(v)
		}
		got, err := o.DecodeUnmarked(ty)
		if err != nil || !got.RawEquals(v) {
			t.Errorf("%s is recorded as %#v, %v, want %#v", address, got, err, v)
		}
		if o.Tainted {
			t.Errorf("%s is tainted, although the provider reported no failure", address)
		}
		if string(o.Identity) != identities[address] || string(o.Private) != private[address] {
			t.Errorf("%s: got the identity %s and private data %x, want %s and %x", address, o.Identity, o.Private, identities[address], private[address])
		}
	}
	w.launcher = nil
	w.run(command{planOnly: true}) // reads the state
}

// bad is an object's status that cannot be stored.
func bad(v cty.Value) cty.Value {
	return replaced(v, map[string]cty.Value{"status": cty.StringVal("\xff")})
}

// TestUnstorableAnswersOfOtherCalls: a failed operation taints what it made, and what is left of a destroyed
// object is recorded, deposed or not. What is planned or read is refused while planning.
func TestUnstorableAnswersOfOtherCalls(t *testing.T) {
	t.Parallel()
	const text = `resource "sim_thing" "x" {
  name       = "x"
  replace_me = "%s"
  lifecycle { create_before_destroy = true }
}`
	w := newWorld(t, fmt.Sprintf(text, "1"))
	plain := w.processes()
	failing := func(req provider.ApplyRequest, resp provider.ApplyResponse, diags diag.List) (provider.ApplyResponse, diag.List) {
		resp.New = bad(resp.New)
		return resp, append(diags, diag.Errorf("Failed", "It failed.")...)
	}
	w.launcher = &spoiling{Launcher: plain, apply: failing}
	w.fails(command{}, "cannot be stored", "status")
	if o := w.object("sim_thing.x"); o == nil || !o.Tainted {
		t.Fatalf("what failed is recorded as %+v", o)
	}
	w.launcher = plain
	w.ok(command{})

	w.launcher = &spoiling{Launcher: plain, plan: func(_ provider.PlanRequest, resp provider.PlanResponse) provider.PlanResponse {
		resp.Planned = bad(resp.Planned)
		return resp
	}}
	w.config(fmt.Sprintf(text, "2"))
	if r := w.fails(command{}, "cannot be stored", "status"); r.applied != nil {
		t.Error("a plan was applied that cannot be stored")
	}
	w.launcher = &spoiling{Launcher: plain, read: func(resp provider.ReadResponse) provider.ReadResponse {
		resp.New = bad(resp.New)
		return resp
	}}
	w.fails(command{}, "cannot be stored", "status")
	if o := w.object("sim_thing.x"); o == nil || o.Tainted {
		t.Errorf("after it was read, the record is %+v", o)
	}

	w.launcher = &spoiling{Launcher: plain, apply: func(req provider.ApplyRequest, resp provider.ApplyResponse, diags diag.List) (provider.ApplyResponse, diag.List) {
		if req.Planned.IsNull() {
			resp.New = bad(req.Prior)
			return resp, append(diags, diag.Errorf("Failed", "It failed.")...)
		}
		return resp, diags
	}}
	w.fails(command{}, "cannot be stored", "status")
	var left *state.Object
	for _, in := range w.state().AllInstances() {
		for _, o := range in.Deposed {
			left = o
		}
	}
	if left == nil || !strings.Contains(string(left.JSON()), `"status":null`) || !strings.Contains(string(left.JSON()), `"name":"x"`) {
		t.Errorf("what is left of the old object is recorded as %+v", left)
	}
}

// TestUnstorableKnownAttribute has a provider return a value that cannot be stored for an attribute that the
// configuration sets: one error says so, and none that the result is not as planned.
func TestUnstorableKnownAttribute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `resource "sim_thing" "x" { name = "x" }`)
	w.launcher = &spoiling{Launcher: w.processes(), apply: func(_ provider.ApplyRequest, resp provider.ApplyResponse, diags diag.List) (provider.ApplyResponse, diag.List) {
		resp.New = replaced(resp.New, map[string]cty.Value{"name": cty.StringVal("x\xff")})
		return resp, diags
	}}
	r := w.run(command{})
	if got := r.diags(); r.errors() != 1 || !strings.Contains(got[len(got)-1].Detail, "cannot be stored") {
		t.Errorf("got %v, want one error, about a value that cannot be stored", got)
	}
}

// TestPrefixOfPlannedValueIsNotStored has a provider that plans a text that begins with a secret. It is not
// part of the plan, which is as good without it.
func TestPrefixOfPlannedValueIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "x" {
  name      = "x"
  secret_wo = ephemeral.sim_secret.s.lease
}`)
	secret := ""
	w.launcher = &spoiling{Launcher: w.processes(), plan: func(req provider.PlanRequest, resp provider.PlanResponse) provider.PlanResponse {
		secret = req.Config.GetAttr("secret_wo").AsString()
		resp.Planned = replaced(resp.Planned, map[string]cty.Value{"status": cty.UnknownVal(cty.String).Refine().StringPrefixFull(secret).NewValue()})
		return resp
	}}
	r := w.ok(command{planOnly: true}).plans("sim_thing.x create")
	if after := r.plan.Changes[0].After; secret == "" || strings.Contains(string(after.Packed()), secret) {
		t.Errorf("the plan holds the secret, which has %d bytes", len(secret))
	}
}
