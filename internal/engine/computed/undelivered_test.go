package computed_test

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/computed"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/state"
)

func instance(t *testing.T, text string) addr.Instance {
	t.Helper()
	i, err := addr.ParseInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestUndelivered asks for the error about a value that sim_thing.late and sim_thing.gone are owed, and
// sim_thing.first has. Only those of them count that exist, use the value and are part of the plan.
func TestUndelivered(t *testing.T) {
	object := addr.Object{Instance: instance(t, `sim_account.a["x"]`)}
	first, late, gone := instance(t, "sim_thing.first"), instance(t, "sim_thing.late[0]"), instance(t, "sim_thing.gone")
	records := []state.Withheld{{
		Path: cty.GetAttrPath("token"), Computed: true, Created: true,
		To: []addr.ConfigResource{first.Config(), late.Config(), gone.Config()}, Owed: []addr.ConfigResource{late.Config(), gone.Config()},
	}}
	exists := func(r addr.ConfigResource) bool { return r != gone.Config() }
	every := func(addr.ConfigResource) bool { return true }
	token, note := value.Computed{By: `sim_account.a["x"].token`}, value.Computed{By: `sim_account.a["x"].note`}

	uses := &computed.Uses{}
	u := computed.FindUndelivered(object, records, exists)
	uses.Owe(u)
	if owed := computed.Names(u.Owed()); owed != "sim_thing.late" || computed.Names(u.Had) != "sim_thing.first" || !u.Created {
		t.Errorf("got %+v, owed to %s, want one that was created, owed to sim_thing.late", u, owed)
	}
	if uses.Miss(token, first) || uses.Miss(token, gone) || uses.Miss(note, late) || len(u.Error(every)) > 0 {
		t.Error("a value counts as missing that those who are owed it do not use")
	}
	if !uses.Miss(token, late) {
		t.Error("a value that is owed does not count as missing")
	}
	if len(u.Error(func(addr.ConfigResource) bool { return false })) > 0 {
		t.Error("got an error about resources that are no part of the plan")
	}
	text := u.Error(every)[0].Detail
	for _, want := range []string{"before sim_thing.late had it", "delivered to sim_thing.first", `-replace='sim_account.a["x"]'`} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q in it", text, want)
		}
	}
	if got := uses.Undelivered(); len(got) != 1 || got[0] != u {
		t.Errorf("got %v, want the object that was noted", got)
	}
	records[0].Owed = nil
	if got := computed.FindUndelivered(object, records, exists); got != nil {
		t.Errorf("got %+v of an object that owes nothing", got)
	}
}

// TestTakenOut notes a value that is taken out of the state.
func TestTakenOut(t *testing.T) {
	uses := &computed.Uses{}
	name := computed.Name(instance(t, "sim_account.a"), cty.GetAttrPath("token"))
	c := value.Computed{By: name}
	if uses.TakenOut(c) {
		t.Error("a value counts as taken out that is not")
	}
	uses.TakeOut(name)
	if past := (value.Computed{By: name, Past: true}); !uses.TakenOut(c) || uses.TakenOut(past) {
		t.Error("want the value that is there to count as taken out, and no other")
	}
}
