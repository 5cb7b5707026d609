package changed

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// TestExtent counts objects that a plan has evaluated, and those that were read with their whole resources,
// each once. The rows are those that the store counts.
func TestExtent(t *testing.T) {
	l := &ledger{due: []string{"t.b", "t.many[2]"}, records: with([]string{"t.many[2]", "resource.t.many", "t.a"}, []string{"t.user", "resource.t.user", "all t.many"})}
	p := newPlanning(t, l, root, inner)
	p.w.src.Found.Objects, p.w.src.Unversioned = 7, []string{"example.com/a/b"}
	p.plan()
	p.w.src.Rows.Store(5)
	read := state.New()
	for _, text := range []string{"t.many[2]", "t.user"} {
		read.SetObject(addr.Object{Instance: instance(t, text)}, &state.Object{}, addr.ProviderConfig{})
	}
	// t.b is new. ephemeral.t.e was evaluated, too, but it does not count as an object.
	if got, want := *p.w.Extent(read), (plan.Extent{Objects: 7, Evaluated: 2, New: 1, Rows: 5, Collections: map[string]int{"t.many": 1}, Collected: 1, Unversioned: []string{"example.com/a/b"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got the extent %+v, want %+v", got, want)
	}
	p = newPlanning(t, &ledger{incomplete: true}, root, inner)
	if got, want := *p.w.Extent(read), (plan.Extent{Full: "no full plan has been applied with this scope yet"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got the extent %+v of a plan that became a full one, want %+v", got, want)
	}
	var w *Work
	if got := w.Extent(read); got != nil {
		t.Errorf("got the extent %+v of a full plan, want none", got)
	}
}

// TestEvaluatesValues says of which module instances values were evaluated, and which are new.
func TestEvaluatesValues(t *testing.T) {
	none := without(`module.m["y"].t.i`, `module.m["y"].t.j[0]`)
	x, y := addr.RootInstance.Child("m", addr.StringKey("x")), addr.RootInstance.Child("m", addr.StringKey("y"))
	for _, c := range []struct {
		name  string
		l     ledger
		fresh []addr.ModuleInstance
		late  []string
		x, y  bool
	}{
		{"nothing", ledger{}, nil, nil, false, false},
		{"a value of one", ledger{due: []string{`check module.m["x"].output.o`}}, nil, []string{"module.m"}, true, false},
		{"a value of all", ledger{due: []string{"check module.m.output.o", "output o"}}, nil, []string{"", "module.m"}, true, true},
		{"all values of one", ledger{due: []string{`values module.m["y"]`}, records: with([]string{`values module.m["y"]`, "module.m.values"})}, nil, []string{"module.m"}, false, true},
		{"a module instance without a record of its values", ledger{due: []string{`values module.m["y"]`}}, []addr.ModuleInstance{y}, []string{"module.m"}, false, true},
		{"a check block", ledger{due: []string{`check module.m["x"].check.c`}}, nil, []string{"module.m"}, false, false},
		{"a new module instance", ledger{blocks: []string{"module.m"}, records: none}, []addr.ModuleInstance{y}, []string{"", "module.m"}, false, true},
		{"a full plan", ledger{incomplete: true}, nil, nil, true, true},
	} {
		if c.l.records == nil {
			c.l.records = settled
		}
		p := newPlanning(t, &c.l, root, inner)
		p.plan()
		if got := p.w.Fresh(); !slices.Equal(got, c.fresh) {
			t.Errorf("%s: got %v new, want %v", c.name, got, c.fresh)
		}
		var late []string
		for _, m := range p.w.Late() {
			late = append(late, m.String())
		}
		if !slices.Equal(late, c.late) {
			t.Errorf("%s: got values of %q, want %q", c.name, late, c.late)
		}
		if gotX, gotY := p.w.EvaluatesValues(p.run.Module(x)), p.w.EvaluatesValues(p.run.Module(y)); gotX != c.x || gotY != c.y {
			t.Errorf("%s: got values of x evaluated: %v, of y: %v; want %v and %v", c.name, gotX, gotY, c.x, c.y)
		}
	}
}
