package turn

import (
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestMissing notes the instances that have not been read, and only those.
func TestMissing(t *testing.T) {
	instance := func(text string) addr.Instance {
		a, err := addr.ParseInstance(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	st := state.New()
	st.SetObject(addr.Object{Instance: instance("t.there")}, &state.Object{}, addr.ProviderConfig{})
	asked := map[state.Subject]bool{
		state.InstanceSubject(instance("t.absent")):                                true,
		{Kind: state.AllInstances, Addr: "module.a.t.x"}:                           true,
		{Kind: state.AllWithin, Addr: "module.b.module.c.t.x", Within: ""}:         true,
		{Kind: state.AllWithin, Addr: "module.d.module.c.t.x", Within: "module.d"}: true,
	}
	for text, missing := range map[string]bool{
		"t.there":                     false,
		"t.absent":                    false,
		"t.other":                     true,
		"module.a.t.x[7]":             false,
		"module.a[0].t.x[7]":          true,
		"module.b[1].module.c.t.x":    false,
		"module.b.t.x":                true,
		"module.d.module.c[2].t.x":    false,
		"module.d[0].module.c[2].t.x": true,
	} {
		o := &Objects{st: st, asked: asked}
		if got := o.Of(instance(text)); got != st {
			t.Errorf("Of(%s): got another state, want the one that was read", text)
		}
		if got := slices.Contains(o.missing, state.InstanceSubject(instance(text))); got != missing {
			t.Errorf("Of(%s) notes it as missing: got %v, want %v", text, got, missing)
		}
	}
}
