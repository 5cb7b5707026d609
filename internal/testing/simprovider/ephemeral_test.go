package simprovider

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
)

func (r *rig) openOne(typ, config string) (*tfprotov6.OpenEphemeralResourceResponse, object) {
	r.t.Helper()
	resp, err := r.OpenEphemeralResource(r.t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typ, Config: jsonValue(config)})
	r.none(resp.Diagnostics, err)
	return resp, r.object(resp.Result, r.opened[typ])
}

func (r *rig) renewOne(private []byte) *tfprotov6.RenewEphemeralResourceResponse {
	r.t.Helper()
	resp, err := r.RenewEphemeralResource(r.t.Context(), &tfprotov6.RenewEphemeralResourceRequest{TypeName: typeSecret, Private: private})
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

func (r *rig) closeOne(private []byte) []*tfprotov6.Diagnostic {
	r.t.Helper()
	resp, err := r.CloseEphemeralResource(r.t.Context(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: typeSecret, Private: private})
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.Diagnostics
}

func TestEphemeralLifecycle(t *testing.T) {
	r := newRig(t)
	resp, o := r.openOne(typeSecret, `{"name":"db","renew_after":"1m"}`)
	if o.text("value") != simcloud.Canary(typeSecret, "db") || o.number("opened") != 1 || time.Until(resp.RenewAt) > time.Minute || resp.RenewAt.IsZero() {
		t.Errorf("OpenEphemeralResource: got %v, renewal at %s, want the canary, opened once, renewal within a minute", o, resp.RenewAt)
	}
	if open, err := simcloud.OpenLeases(r.cloud.dir); err != nil || cmp.Diff([]string{"sim_secret.db"}, open) != "" {
		t.Errorf("open leases: got %v, %v, want sim_secret.db", open, err)
	}
	renewed := r.renewOne(resp.Private)
	r.none(renewed.Diagnostics, nil)
	fails(t, r.closeOne(resp.Private), "not the latest")
	r.none(r.closeOne(renewed.Private), nil)
	fails(t, r.closeOne(renewed.Private), "already closed")
	if open, err := simcloud.OpenLeases(r.cloud.dir); err != nil || len(open) != 0 {
		t.Errorf("open leases after the close: got %v, %v, want none", open, err)
	}
	ws := r.transcript().Windows()
	if len(ws) != 1 || len(ws[0].Renewals) != 1 || len(ws[0].Closes) != 3 || ws[0].Closed() {
		t.Errorf("windows: got %+v, want one with a renewal and 3 closes, not closed", ws)
	}
	_, second := r.openOne(typeSecret, `{"name":"db"}`)
	if second.text("lease") == o.text("lease") || second.text("value") != o.text("value") {
		t.Error("a second opening must have another lease and the same value")
	}
}

func TestEphemeralFaults(t *testing.T) {
	r := newRig(t)
	parentResp, parent := r.openOne(typeSecret, `{"name":"p"}`)
	childResp, _ := r.openOne(typeToken, `{"name":"c","parent_token":"`+parent.text("lease")+`"}`)
	fails(t, r.closeOne(parentResp.Private), "closed before sim_token.c")
	r.none(r.closeOne(childResp.Private), nil)

	_, dead := r.openOne(typeSecret, `{"name":"d","expire_after":"1ns"}`)
	config := `{"name":"x","secret_wo":"` + dead.text("lease") + `"}`
	plan, err := r.planChange(typeThing, nil, config)
	r.none(plan.Diagnostics, err)
	applied, err := r.applyPlan(typeThing, nil, config, plan)
	if err != nil {
		t.Fatal(err)
	}
	fails(t, applied.Diagnostics, "has expired")
	r.cloud.lenient = true
	applied, err = r.applyPlan(typeThing, nil, config, plan)
	r.none(applied.Diagnostics, err)

	bare := bareRig(t, Options{})
	resp, err := bare.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeSecret, Config: jsonValue(`{"name":"p"}`)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, resp.Diagnostics, "before it was configured")
}

func TestEphemeralFailOn(t *testing.T) {
	r := newRig(t)
	resp, err := r.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeSecret, Config: jsonValue(`{"name":"o","fail_on":"open"}`)})
	if err != nil {
		t.Fatal(err)
	}
	fails(t, resp.Diagnostics, "fail on open")
	resp, _ = r.openOne(typeSecret, `{"name":"r","fail_on":"renew"}`)
	fails(t, r.renewOne(resp.Private).Diagnostics, "fail on renew")
	r.none(r.closeOne(resp.Private), nil)
	resp, _ = r.openOne(typeSecret, `{"name":"c","fail_on":"close"}`)
	fails(t, r.closeOne(resp.Private), "fail on close")
	if open, err := simcloud.OpenLeases(r.cloud.dir); err != nil || cmp.Diff([]string{"sim_secret.c"}, open) != "" {
		t.Errorf("leases that failed to close: got %v, %v, want sim_secret.c", open, err)
	}
}

// TestDelays runs in virtual time: a delayed create takes its time, and a stop interrupts it but not the
// close that follows.
func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		opened, _ := r.openOne(typeSecret, `{"name":"s","open_delay":"2s","close_delay":"3s"}`)
		start := time.Now()
		r.change(typeThing, nil, `{"name":"x","delay":"10s"}`)
		if got := time.Since(start); got != 10*time.Second {
			t.Errorf("the create took %s, want %s", got, 10*time.Second)
		}
		config := `{"name":"y","create_delay":"1h"}`
		plan, err := r.planChange(typeSlow, nil, config)
		r.none(plan.Diagnostics, err)
		go func() {
			time.Sleep(time.Second)
			if _, err := r.StopProvider(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}()
		applied, err := r.applyPlan(typeSlow, nil, config, plan)
		if err != nil {
			t.Fatal(err)
		}
		fails(t, applied.Diagnostics, "asked to stop")
		r.none(r.closeOne(opened.Private), nil)
		if w := r.transcript().Windows(); w[0].Length() != 11*time.Second {
			t.Errorf("the window was %s, want %s", w[0].Length(), 11*time.Second)
		}
	})
}
