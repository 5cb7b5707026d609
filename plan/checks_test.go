package plan

import (
	"reflect"
	"testing"

	"github.com/mayfly-iac/mayfly/state"
)

func TestLastingChecks(t *testing.T) {
	failed := []state.CheckObject{{Addr: "x", Status: state.CheckFail, Failures: []string{"no"}}}
	p := &Plan{Mode: Normal, Checks: []state.CheckResult{
		{Kind: "resource", Config: "t.a", Status: state.CheckFail, Objects: failed},
		{Kind: "check", Config: "check.a", Status: state.CheckFail, Objects: failed},
	}}
	want := []state.CheckResult{p.Checks[0], {
		Kind: "check", Config: "check.a", Status: state.CheckUnknown, Objects: []state.CheckObject{{Addr: "x", Status: state.CheckUnknown}},
	}}
	if got := p.LastingChecks(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	p.Mode = RefreshOnly
	if got := p.LastingChecks(); !reflect.DeepEqual(got, p.Checks) || p.Checks[1].Status != state.CheckFail {
		t.Errorf("LastingChecks of a plan that changes nothing: got %v, want %v", got, p.Checks)
	}
}
