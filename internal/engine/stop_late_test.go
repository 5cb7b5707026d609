package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// deaf launches providers that heed a request to stop only if it comes when they are at work already: the
// first comes too early.
type deaf struct {
	provider.Launcher
	where     string // the call that the request comes before
	interrupt func()
}

func (d *deaf) Launch(ctx context.Context, a addr.Provider) (provider.Provider, diag.List) {
	p, diags := d.Launcher.Launch(ctx, a)
	if p == nil {
		return nil, diags
	}
	return &deafProvider{Provider: p, of: d, stops: make(chan struct{}, 9)}, diags
}

type deafProvider struct {
	provider.Provider
	of    *deaf
	stops chan struct{}
}

func (p *deafProvider) Stop(context.Context) error {
	p.stops <- struct{}{}
	return nil
}

// early interrupts, and returns when the provider was asked to stop.
func (p *deafProvider) early() {
	p.of.interrupt()
	<-p.stops
}

// late waits until the provider is asked to stop.
func (p *deafProvider) late() diag.List {
	select {
	case <-p.stops:
		return diag.Errorf("Stopped", "The provider was asked to stop.")
	case <-time.After(20 * time.Second):
		return diag.Errorf("Never stopped", "The provider was not asked to stop.")
	}
}

func (p *deafProvider) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	if p.of.where != "apply" {
		return p.Provider.ApplyResource(ctx, req)
	}
	p.early()
	return provider.ApplyResponse{}, p.late()
}

func (p *deafProvider) ValidateResource(ctx context.Context, mode addr.Mode, typeName string, v cty.Value) diag.List {
	diags := p.Provider.ValidateResource(ctx, mode, typeName, v)
	if p.of.where == "plan" && v.IsWhollyKnown() { // the second one: the first is that of validating
		p.early()
	}
	return diags
}

func (p *deafProvider) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	if p.of.where == "plan" {
		return provider.PlanResponse{}, p.late()
	}
	return p.Provider.PlanResource(ctx, req)
}

func (p *deafProvider) ImportResource(ctx context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	if p.of.where != "import" {
		return p.Provider.ImportResource(ctx, req)
	}
	p.early()
	return provider.ImportResponse{}, p.late()
}

func (p *deafProvider) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	if p.of.where != "open" {
		return p.Provider.OpenEphemeral(ctx, typeName, config)
	}
	p.early()
	return provider.OpenResponse{}, p.late()
}

// lateConfigs are configurations with a call of each kind.
var lateConfigs = map[string]string{
	"apply": `resource "sim_thing" "a" { name = "a" }`,
	"plan": `
resource "sim_thing" "a" {
  for_each = toset(["a"])
  name     = each.key
}
`,
	"import": `
resource "sim_thing" "a" { name = "a" }
import {
  to = sim_thing.a
  id = "a-1"
}
`,
	"open": `
ephemeral "sim_secret" "s" { name = "s" }
resource "sim_thing" "a" {
  name      = "a"
  secret_wo = ephemeral.sim_secret.s.value
}
`,
}

// TestStopReachesLateCalls interrupts just before a provider gets to know of a call: it is asked to stop
// again, for that call.
func TestStopReachesLateCalls(t *testing.T) {
	t.Parallel()
	for where, text := range lateConfigs {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, text)
			soft, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.launcher = &deaf{Launcher: w.processes(), where: where, interrupt: cancel}
			begin := time.Now()
			w.fails(command{soft: soft}, "Stopped")
			if d := time.Since(begin); d > 15*time.Second {
				t.Errorf("the provider was not asked to stop: the command took %s", d)
			}
		})
	}
}
