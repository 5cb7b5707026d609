package changed

import (
	"testing"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/state"
)

// TestGiven has the hash of what the provider of an object was given, with the version of its row, unless the
// object is due for another reason than its inputs and its block.
func TestGiven(t *testing.T) {
	a := addr.AbsResource{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: "a"}}.Instance(addr.NoKey)
	whole := state.Record{Given: state.Hash{1}, Version: state.Version{2}}
	for name, c := range map[string]struct {
		why    state.Reasons
		kind   state.UnitKind
		record *state.Record
		full   string
		want   bool
	}{
		"by its inputs":     {state.ByInput, state.InstanceUnit, &whole, "", true},
		"by its block":      {state.ByBlock | state.ByInput, state.InstanceUnit, &whole, "", true},
		"was to be changed": {state.ByObject | state.ByBlock, state.InstanceUnit, &whole, "", false},
		"by its row":        {state.ByRow, state.InstanceUnit, &whole, "", false},
		"always":            {state.Always | state.ByBlock, state.InstanceUnit, &whole, "", false},
		"another unit":      {state.ByObject, state.RepetitionUnit, &whole, "", true},
		"no record":         {state.ByInput, state.InstanceUnit, nil, "", false},
		"no hash":           {state.ByInput, state.InstanceUnit, &state.Record{}, "", false},
		"a full plan":       {state.ByInput, state.InstanceUnit, &whole, "so", false},
	} {
		w := &Work{full: c.full, asks: askedAbout([]state.Due{{Unit: state.Unit{Kind: c.kind, Addr: a.String()}, Why: c.why}}, Asked{})}
		w.attempt.given = map[addr.Instance]Given{}
		w.noteGiven(a, c.record)
		got, is := w.Given(a)
		if is != c.want || is && (got.Hash != whole.Given || got.Version != whole.Version) {
			t.Errorf("%s: got %v, %v, want %v", name, got, is, c.want)
		}
	}
	target := addr.Target{Module: a.Module, Resource: &a.Resource}
	for name, asked := range map[string]Asked{"to be refreshed": {Refresh: []addr.Target{target}}, "not read for long": {Old: []addr.Instance{a}}, "to be replaced": {Replace: []addr.Instance{a}}} {
		w := &Work{asks: askedAbout(nil, asked)}
		w.attempt.given, w.attempt.asked = map[addr.Instance]Given{}, asked
		w.noteGiven(a, &whole)
		if _, is := w.Given(a); is {
			t.Errorf("%s: got a hash, want none: the provider is asked", name)
		}
	}
	if _, is := (*Work)(nil).Given(a); is {
		t.Error("a plan of another scope: got a hash, want none")
	}
}

// TestGivenOfWork has the hash of each instance that is due, or that a changed block has.
func TestGivenOfWork(t *testing.T) {
	for name, l := range map[string]ledger{"due": {due: []string{"t.b"}}, "of a changed block": {blocks: []string{"resource.t.b"}}} {
		l.records = settled
		p := newPlanning(t, &l, root, inner)
		p.plan()
		if got, is := p.w.Given(instance(t, "t.b")); !is || got.Hash != (state.Hash{9}) {
			t.Errorf("%s: got %v, %v, want the hash of the record", name, got, is)
		}
	}
}
