package changed

import (
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestAsked plans the objects that were asked for, and nothing else that is not due.
func TestAsked(t *testing.T) {
	for what, c := range map[string]struct {
		l    ledger
		want string
	}{
		"an instance":                 {ledger{refresh: []string{"t.many[1]"}}, "t.many[1]"},
		"a resource":                  {ledger{refresh: []string{"t.many"}}, "t.many[0] t.many[1]"},
		"an instance of a module":     {ledger{refresh: []string{`module.m["x"].t.i`}}, `module.m["x"].t.i`},
		"a module instance":           {ledger{refresh: []string{`module.m["x"]`}}, `module.m["x"].t.i module.m["x"].t.j[0]`},
		"a module":                    {ledger{refresh: []string{"module.m"}}, `module.m["x"].t.i module.m["x"].t.j[0] module.m["y"].t.i module.m["y"].t.j[0]`},
		"a resource in all instances": {ledger{refresh: []string{"module.m.t.i"}}, `module.m["x"].t.i module.m["y"].t.i`},
		"a key in all instances":      {ledger{refresh: []string{"module.m.t.j[0]"}}, `module.m["x"].t.j[0] module.m["y"].t.j[0]`},
		"an undeclared module":        {ledger{refresh: []string{"module.none.module.m"}}, ""},
		"an undeclared resource":      {ledger{refresh: []string{"t.other"}}, ""},
		"an undeclared key":           {ledger{refresh: []string{"module.other.t.j[5]"}}, ""},
		"one without a record":        {ledger{old: []string{"t.many[1]"}, records: without("t.many[1]")}, "t.many[1]"},
		"old objects":                 {ledger{old: []string{"t.b", "t.many[1]"}}, "t.b t.many[1]"},
	} {
		if c.l.records == nil {
			c.l.records = settled
		}
		p := newPlanning(t, &c.l, root, inner)
		p.plan()
		planned := slices.DeleteFunc(p.planned, func(word string) bool { return word == "/" || word == "ephemeral.t.e" }) // it is evaluated in each plan
		slices.Sort(planned)
		if got := strings.Join(planned, " "); got != c.want || !p.ok {
			t.Errorf("%s: got %s planned, want %s", what, got, c.want)
		}
	}
}

// TestAskedRecords reads the records of instances that were asked for at once.
func TestAskedRecords(t *testing.T) {
	p := newPlanning(t, &ledger{old: []string{"t.b", "t.many[1]"}, records: settled}, root, inner)
	p.plan()
	if p.asked != 1 || !slices.Contains(p.read, "t.a") {
		t.Errorf("got %d queries for records and %q read, want one and the object that a record names", p.asked, p.read)
	}
}

// TestMissing names the targets to be refreshed that select nothing of the state.
func TestMissing(t *testing.T) {
	p := newPlanning(t, &ledger{refresh: []string{"t.b", "t.gone", "module.m"}, records: settled}, root, inner)
	read := state.New()
	for _, text := range []string{"t.b", `module.m["x"].t.i`} {
		read.SetObject(addr.Object{Instance: instance(t, text)}, &state.Object{}, addr.ProviderConfig{})
	}
	if got := p.w.Missing(read); len(got) != 1 || got[0].String() != "t.gone" {
		t.Errorf("got %v missing, want t.gone", got)
	}
	var w *Work
	if got := w.Missing(read); got != nil {
		t.Errorf("got %v missing from a full plan, want none", got)
	}
}
