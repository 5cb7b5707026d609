package settle

import (
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestReads names the objects that a plan has read or creates, all of them if it leaves nothing out.
func TestReads(t *testing.T) {
	at := func(mode addr.Mode, name string) addr.Instance {
		return addr.Instance{Resource: addr.Resource{Mode: mode, Type: "t", Name: name}}
	}
	base := state.New()
	for _, a := range []addr.Instance{at(addr.Managed, "a"), at(addr.Managed, "b"), at(addr.Data, "a")} {
		base.SetObject(addr.Object{Instance: a}, &state.Object{}, addr.ProviderConfig{})
	}
	changes := []*plan.Change{
		{Addr: at(addr.Managed, "c"), Action: plan.Create},
		{Addr: at(addr.Managed, "d"), Action: plan.DeleteThenCreate},
		{Addr: at(addr.Managed, "e"), Action: plan.Delete},
		{Addr: at(addr.Data, "c"), Action: plan.Create},
	}
	read := func(o addr.Object) bool { return o.Instance.Resource.Name == "a" }
	for what, c := range map[string]struct {
		p          plan.Plan
		restricted bool
		all, none  bool
	}{
		"a full plan":       {plan.Plan{}, false, true, false},
		"a part":            {plan.Plan{}, true, false, false},
		"nothing refreshed": {plan.Plan{SkipRefresh: true}, false, false, true},
		"all goes":          {plan.Plan{Mode: plan.Destroy}, false, false, true},
	} {
		c.p.Base, c.p.Changes = base, changes
		got := Reads(&c.p, c.restricted, read)
		if (got == nil) != c.none || got != nil && got.All != c.all {
			t.Errorf("%s: got %+v, want all: %v, none: %v", what, got, c.all, c.none)
			continue
		}
		if got == nil || got.All {
			continue
		}
		var names []string
		for _, a := range got.Instances {
			names = append(names, a.String())
		}
		if text := strings.Join(names, " "); text != "t.a t.c t.d" {
			t.Errorf("%s: got %s, want t.a t.c t.d", what, text)
		}
	}
}
