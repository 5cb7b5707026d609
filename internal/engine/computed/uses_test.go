package computed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

// TestUnavailable asks for the error about a value of sim_account.a["x.y"] with different records of it.
func TestUnavailable(t *testing.T) {
	producer, user, other := instance(t, `sim_account.a["x.y"]`), instance(t, "sim_thing.user"), instance(t, "sim_thing.other")
	at, to := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), []addr.ConfigResource{user.Config()}
	for _, row := range []struct {
		name    string
		record  *state.Withheld
		by      computed.Use
		readers []string
		want    string // after the name of the attribute
		used    string // the blocks that are said to use the values; "" for no sentence about them
	}{
		{"made", &state.Withheld{At: at, To: to}, computed.Use{When: computed.ThisRun, Instance: user}, []string{"sim_thing.user"}, "made at 2026-01-02 03:04:05 UTC for sim_thing.user\n", ""},
		{"other readers", &state.Withheld{At: at, To: to}, computed.Use{When: computed.ThisRun, Instance: user}, []string{"provider.sim.x", "sim_thing.user"}, "made at 2026-01-02 03:04:05 UTC for sim_thing.user\n", "provider.sim.x, sim_thing.user"},
		{"the user is no news", &state.Withheld{At: at, To: to}, computed.Use{When: computed.ThisRun, Instance: other}, []string{"sim_thing.other", "sim_thing.user"}, "made at", ""},
		{"found", &state.Withheld{At: at, Found: true}, computed.Use{When: computed.ThisRun, Instance: user}, []string{"sim_thing.other"}, "made before 2026-01-02 03:04:05 UTC, and not stored since then\n", "sim_thing.other"},
		{"found and sent", &state.Withheld{At: at, Found: true, To: to}, computed.Use{When: computed.ThisRun, Instance: user}, nil, "made before 2026-01-02 03:04:05 UTC, not stored since then, and sent to sim_thing.user\n", ""},
		{"no time", &state.Withheld{To: to}, computed.Use{When: computed.ThisRun}, nil, "made for sim_thing.user at a time that is not known\n", ""},
		{"no record", nil, computed.Use{When: computed.ThisRun}, []string{"sim_thing.user"}, "with no record in the state\n", "sim_thing.user"},
		{"in every run", nil, computed.Use{}, nil, "with no record in the state\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			uses := &computed.Uses{State: state.New(), Readers: func() map[addr.ConfigResource][]string {
				return map[addr.ConfigResource][]string{producer.Config(): row.readers}
			}}
			if row.record != nil {
				row.record.Path, row.record.Computed = cty.GetAttrPath("token"), true
				uses.State.SetObject(addr.Object{Instance: producer}, &state.Object{Withheld: []state.Withheld{*row.record}}, addr.ProviderConfig{})
			}
			text := uses.Unavailable(row.by, []value.Computed{{By: `sim_account.a["x.y"].token`, Past: true}})[0].Detail
			if want := `sim_account.a["x.y"].token, ` + row.want; !strings.Contains(text, want) {
				t.Errorf("got %q, want %q in it", text, want)
			}
			if used := "values of sim_account.a are used by " + row.used + "."; strings.Contains(text, used) != (row.used != "") || row.used == "" && strings.Contains(text, "used by") {
				t.Errorf("got %q, want it to say who uses the values: %q", text, row.used)
			}
			if option := `-replace='sim_account.a["x.y"]'`; strings.Contains(text, option) != (row.by.When == computed.ThisRun) {
				t.Errorf("got %q, want %q in it: %t", text, option, (row.by.When == computed.ThisRun))
			}
		})
	}
}
