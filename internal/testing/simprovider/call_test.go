package simprovider

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
)

func TestGRPCErrors(t *testing.T) {
	for do, want := range map[string]codes.Code{doRPCError: codes.Unknown, doUnimpl: codes.Unimplemented} {
		r := newRig(t, Rule{RPC: planRPC, Do: do, Text: "no such luck"})
		_, err := r.planChange(typeThing, nil, fullThing)
		if status.Code(err) != want || !strings.Contains(err.Error(), "no such luck") {
			t.Errorf("%s: got %v, want the code %v and the text of the rule", do, err, want)
		}
		if c := r.transcript().Calls(simlog.Filter{RPC: planRPC}); len(c) != 1 || !c[0].Failed() || c[0].Aborted() {
			t.Errorf("%s in the transcript: got %+v, want one failed call that was not aborted", do, c)
		}
	}
}

// TestTimes strikes in virtual time: a delay and a hang take their time, whatever is cancelled.
func TestTimes(t *testing.T) {
	for do, want := range map[string]time.Duration{doDelay: 2 * time.Second, doHang: 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			rule := Rule{RPC: "CloseEphemeralResource", Do: do}
			if do == doDelay {
				rule.MS = 2000
			}
			r := newRig(t, rule)
			opened, _ := r.openOne(typeSecret, `{"name":"s"}`)
			start := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := r.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{TypeName: typeSecret, Private: opened.Private})
			if err != nil || time.Since(start) != want {
				t.Errorf("%s: got an end after %s, %v, want one after %s", do, time.Since(start), err, want)
			}
		})
	}
}

// TestStopping strikes in virtual time: hang-until-stop answers nothing but an error at the stop, answer-late
// does its work after it.
func TestStopping(t *testing.T) {
	for _, do := range []string{doHangStop, doAnswerLate} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Rule{RPC: planRPC, Do: do, MS: 500})
			start := time.Now()
			go func() {
				time.Sleep(3 * time.Second)
				if _, err := r.StopProvider(t.Context(), nil); err != nil {
					t.Error(err)
				}
			}()
			plan, err := r.planChange(typeThing, nil, fullThing)
			switch do {
			case doHangStop:
				if status.Code(err) != codes.Canceled || time.Since(start) != 3*time.Second {
					t.Errorf("got %v after %s, want the code %v after 3s", err, time.Since(start), codes.Canceled)
				}
			case doAnswerLate:
				r.none(plan.Diagnostics, err)
				if time.Since(start) != 3500*time.Millisecond {
					t.Errorf("answered after %s, want %s", time.Since(start), 3500*time.Millisecond)
				}
			}
			ends := r.transcript().Calls(simlog.Filter{RPC: planRPC})
			if !ends[0].End.Stopped || ends[0].Begin.Stopped {
				t.Errorf("the transcript does not tell when the stop was: %+v", ends[0])
			}
		})
	}
}

// TestCrashMoments shows for each moment whether the cloud has the object and the caller an answer.
func TestCrashMoments(t *testing.T) {
	for when, want := range map[string]struct {
		code          int
		made, answers bool
	}{
		whenBefore: {code: 3}, whenDuring: {code: 3, made: true}, "": {code: 3, made: true}, whenAfter: {code: 7, made: true, answers: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			rule := Rule{RPC: applyRPC, Do: doExit, When: when}
			if when == whenAfter {
				rule.Code = want.code
			}
			exited := make(chan int, 1)
			r := bareRig(t, Options{Rules: []Rule{rule}, Exit: func(code int) { exited <- code }})
			conf, err := r.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: jsonValue(`{}`)})
			r.none(conf.Diagnostics, err)
			plan, err := r.planChange(typeThing, nil, fullThing)
			r.none(plan.Diagnostics, err)
			_, err = r.applyPlan(typeThing, nil, fullThing, plan)
			if code := <-exited; code != want.code || (err == nil) != want.answers {
				t.Errorf("%q: got exit status %d, %v, want %d, answers: %t", when, code, err, want.code, want.answers)
			}
			_, err = simcloud.ReadObject(r.cloud.dir, "x-1")
			if (err == nil) != want.made {
				t.Errorf("%q, the object: got %v, want it made: %t", when, err, want.made)
			}
			if calls := r.transcript().Calls(simlog.Filter{RPC: applyRPC}); calls[0].Aborted() || calls[0].Failed() == want.answers {
				t.Errorf("%q in the transcript: %+v", when, calls)
			}
		})
	}
}

func TestPanicAndStderr(t *testing.T) {
	r := newRig(t, Rule{RPC: readRPC, Do: doStderr, Text: "hear me"}, Rule{RPC: readRPC, Do: doPanic, Text: "on purpose"})
	f, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	was := realStderr
	realStderr = f
	defer func() { realStderr = was }()
	defer func() {
		if got := recover(); got != "on purpose" {
			t.Errorf("panic: got %v, want %v", got, "on purpose")
		}
		text, err := os.ReadFile(f.Name())
		if err != nil || !strings.HasPrefix(string(text), "hear me\n") {
			t.Errorf("stderr = %q, %v", text, err)
		}
	}()
	_, err = r.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{TypeName: typeThing})
	t.Errorf("the call returned: %v", err)
}

// TestEveryMethodIsRecorded calls each method once and finds it in the transcript under its name, both ends.
func TestEveryMethodIsRecorded(t *testing.T) {
	r := bareRig(t, Options{})
	ctx := t.Context()
	_, e1 := r.GetMetadata(ctx, nil)
	_, e2 := r.GetProviderSchema(ctx, nil)
	_, e3 := r.GetResourceIdentitySchemas(ctx, nil)
	_, e4 := r.ValidateProviderConfig(ctx, &tfprotov6.ValidateProviderConfigRequest{})
	_, e5 := r.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{})
	_, e6 := r.StopProvider(ctx, nil)
	_, e7 := r.ValidateResourceConfig(ctx, &tfprotov6.ValidateResourceConfigRequest{})
	_, e8 := r.UpgradeResourceState(ctx, &tfprotov6.UpgradeResourceStateRequest{})
	_, e9 := r.UpgradeResourceIdentity(ctx, &tfprotov6.UpgradeResourceIdentityRequest{})
	_, e10 := r.ReadResource(ctx, &tfprotov6.ReadResourceRequest{})
	_, e11 := r.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{})
	_, e12 := r.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{})
	_, e13 := r.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{})
	_, e14 := r.MoveResourceState(ctx, &tfprotov6.MoveResourceStateRequest{})
	_, e15 := r.GenerateResourceConfig(ctx, &tfprotov6.GenerateResourceConfigRequest{})
	_, e16 := r.ValidateDataResourceConfig(ctx, &tfprotov6.ValidateDataResourceConfigRequest{})
	_, e17 := r.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{})
	_, e18 := r.GetFunctions(ctx, nil)
	_, e19 := r.CallFunction(ctx, &tfprotov6.CallFunctionRequest{})
	_, e20 := r.ValidateEphemeralResourceConfig(ctx, &tfprotov6.ValidateEphemeralResourceConfigRequest{})
	_, e21 := r.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{})
	_, e22 := r.RenewEphemeralResource(ctx, &tfprotov6.RenewEphemeralResourceRequest{})
	_, e23 := r.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{})
	_, e24 := r.ValidateListResourceConfig(ctx, &tfprotov6.ValidateListResourceConfigRequest{})
	_, e25 := r.ListResource(ctx, &tfprotov6.ListResourceRequest{})
	_, e26 := r.ValidateActionConfig(ctx, &tfprotov6.ValidateActionConfigRequest{})
	_, e27 := r.PlanAction(ctx, &tfprotov6.PlanActionRequest{})
	_, e28 := r.InvokeAction(ctx, &tfprotov6.InvokeActionRequest{})
	err := errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22, e23, e24, e25, e26, e27, e28)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.transcript().Calls(simlog.Filter{}) {
		if c.Aborted() {
			t.Errorf("%s has no end", c.Begin.RPC)
		}
		got = append(got, c.Begin.RPC)
	}
	want := slices.Clone(rpcs[1:])
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("recorded: got %v, want %v", got, want)
	}
}
