package planfile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
)

// TestUnknownKeysInDeferralsOnly refuses to write a plan that an apply could not read: with a key that is not
// known, in any address but the ones of deferrals.
func TestUnknownKeysInDeferralsOnly(t *testing.T) {
	generic := fullDeferrals(t)[1].Change
	known := &plan.Change{Addr: instanceAt(t, "t.n"), Provider: random, Action: plan.Create}
	with := func(f func(*plan.Change)) *plan.Plan {
		c := *known
		f(&c)
		return &plan.Plan{Changes: []*plan.Change{&c}}
	}
	for name, p := range map[string]*plan.Plan{
		"change":     {Changes: []*plan.Change{generic}},
		"drift":      {Drift: []*plan.Change{generic}},
		"key":        with(func(c *plan.Change) { c.Addr.Key = addr.AnyKey }),
		"module":     with(func(c *plan.Change) { c.Addr.Module = generic.Addr.Module.Child("in", addr.NoKey) }),
		"provider":   with(func(c *plan.Change) { c.Provider.Key = addr.AnyKey }),
		"dependency": with(func(c *plan.Change) { c.Deps = generic.Deps }),
		"moved":      with(func(c *plan.Change) { c.PrevAddr = generic.Addr }),
		"target":     {Targets: []addr.Target{{Module: generic.Addr.Module}}},
		"after":      {Deferrals: fullDeferrals(t), ForceReplace: []addr.Instance{generic.Addr}},
	} {
		err := Write(&bytes.Buffer{}, &File{Plan: p, Version: "1"})
		if err == nil || !strings.Contains(err.Error(), errGeneric.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := &plan.Plan{Deferrals: []*plan.Deferral{{Change: generic, Reason: "s3cret"}}}
	if err := Write(&bytes.Buffer{}, &File{Plan: p, Version: "1"}); err == nil || !strings.Contains(err.Error(), `the deferral of module.m["*"].t.n["*"]: unknown reason`) {
		t.Errorf("a reason that is not valid: %v", err)
	}
}
