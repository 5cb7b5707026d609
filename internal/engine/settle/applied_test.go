package settle

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/engine/scope"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// recording is a run that keeps what it is to record.
type recording struct {
	state.Run
	objects  map[addr.Object]*state.Object
	recorded []state.Settlement
	reads    []state.Reads
}

func (r *recording) Object(o addr.Object) (*state.Object, addr.ProviderConfig) {
	return r.objects[o], addr.ProviderConfig{}
}

func (r *recording) Record(s state.Settlement) { r.recorded = append(r.recorded, s) }

func (r *recording) NoteReads(reads state.Reads) { r.reads = append(r.reads, reads) }

// TestReadsAreNoted has the run note the reads of a plan, if it has made any.
func TestReadsAreNoted(t *testing.T) {
	run := &recording{}
	Applied{Plan: &plan.Plan{}, Run: run}.Record()
	if len(run.reads) > 0 {
		t.Errorf("got the reads %+v of a plan without any, want none", run.reads)
	}
	Applied{Plan: &plan.Plan{Reads: &state.Reads{All: true}}, Run: run}.Record()
	if len(run.reads) != 1 || !run.reads[0].All {
		t.Errorf("got the reads %+v, want those of the plan", run.reads)
	}
	Applied{Plan: &plan.Plan{Reads: &state.Reads{All: true}}}.Record() // a run that notes nothing
}

func named(name string) addr.Instance {
	return addr.AbsResource{Resource: addr.Resource{Mode: addr.Managed, Type: "t", Name: name}}.Instance(addr.NoKey)
}

func sealed(t *testing.T, v cty.Value) value.Durable {
	t.Helper()
	d, err := value.Seal(v, v.Type(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func thing(v cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"v": v}) }

func on(name string) []plan.Dep { return []plan.Dep{{Resource: named(name).Abs()}} }

// TestApplied has a plan with units that were evaluated from an object each, and something happen in the
// apply. Units that were evaluated from something else than there is stay open.
func TestApplied(t *testing.T) {
	planned, text := thing(cty.StringVal("new")), cty.StringVal("x")
	block := state.Block{Name: "resource.t.x"}
	for name, c := range map[string]struct {
		action plan.Action
		after  cty.Value // of x
		stored cty.Value // NilVal for none
		do     func(a *Applied, p *plan.Plan)
		want   string
	}{
		"as planned":    {plan.Update, planned, planned, nil, ""},
		"not planned":   {plan.NoOp, planned, thing(cty.StringVal("other")), nil, ""},
		"another value": {plan.Update, planned, thing(cty.StringVal("other")), nil, "check check.c\nof-x\noutput o\nrepetition t.n"},
		"unknown":       {plan.Update, thing(cty.UnknownVal(cty.String)), planned, nil, "check check.c\nof-x\noutput o\nrepetition t.n"},
		"not there":     {plan.Update, planned, cty.NilVal, nil, "check check.c\nof-x\noutput o\nrepetition t.n"},
		"another type":  {plan.Update, planned, cty.ObjectVal(map[string]cty.Value{"w": text}), nil, "check check.c\nof-x\noutput o\nrepetition t.n"},
		"destroyed":     {plan.Delete, cty.NilVal, cty.NilVal, nil, ""},
		"forgotten":     {plan.Forget, cty.NilVal, cty.NilVal, nil, ""},
		"not destroyed": {plan.Delete, cty.NilVal, planned, nil, "check check.c\nof-x\noutput o\nrepetition t.n"},
		"not reached": {plan.Update, planned, planned, func(a *Applied, _ *plan.Plan) {
			a.Blocked.Add(named("x"))
		}, "check check.c\nof-x\noutput o\nrepetition t.n"},
		"drift is not recorded": {plan.NoOp, planned, planned, func(a *Applied, p *plan.Plan) {
			p.Base = state.New()
			a.Outcomes.Recordable(a.Run, p, func(addr.Instance) bool { return false }, []state.ObjectChange{{Object: addr.Object{Instance: named("x")}, New: &state.Object{}}})
		}, "check check.c\nof-x\noutput o\nrepetition t.n\nx"},
		"dependencies are not recorded": {plan.NoOp, planned, planned, func(a *Applied, p *plan.Plan) {
			p.Base = state.New()
			a.Outcomes.Recordable(a.Run, p, func(addr.Instance) bool { return false }, []state.ObjectChange{{Object: addr.Object{Instance: named("of-x")}}})
		}, "of-x"},
		"data is not recorded": {plan.NoOp, planned, planned, func(a *Applied, p *plan.Plan) {
			p.Base = state.New()
			a.Outcomes.Recordable(a.Run, p, func(addr.Instance) bool { return false }, []state.ObjectChange{{Object: addr.Object{Instance: named("data")}}})
		}, "data"},
		"a condition has failed": {plan.NoOp, planned, planned, func(a *Applied, _ *plan.Plan) {
			a.Checks = append(a.Checks, state.CheckResult{Objects: []state.CheckObject{{Addr: "t.of-x", Status: state.CheckFail}, {Addr: "output.o", Status: state.CheckUnknown}}})
		}, "of-x\noutput o"},
		"a check was not evaluated": {plan.NoOp, planned, planned, func(a *Applied, _ *plan.Plan) {
			a.Checks = nil
		}, "check check.c"},
		"an output is not known": {plan.NoOp, planned, planned, func(_ *Applied, p *plan.Plan) {
			p.Outputs[0].After = sealed(t, cty.UnknownVal(cty.String))
		}, "output o"},
		"another output failed": {plan.Update, planned, planned, func(a *Applied, _ *plan.Plan) { a.Failed = true }, "output o"},
		"a new output, and a failure": {plan.NoOp, planned, planned, func(a *Applied, p *plan.Plan) {
			a.Failed, p.Outputs[0].Action = true, plan.Create
		}, "output o"},
		"a failure elsewhere": {plan.NoOp, planned, planned, func(a *Applied, _ *plan.Plan) { a.Failed = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := &plan.Change{Addr: named("x"), PrevAddr: named("x"), Action: c.action}
			if c.after != cty.NilVal {
				x.After = sealed(t, c.after)
			}
			run := &recording{objects: map[addr.Object]*state.Object{}}
			if c.stored != cty.NilVal {
				o, err := state.ObjectFrom(sealed(t, c.stored))
				if err != nil {
					t.Fatal(err)
				}
				run.objects[x.Object()] = o
			}
			p := &plan.Plan{
				Changes: []*plan.Change{
					x,
					{Addr: named("of-x"), PrevAddr: named("of-x"), Action: plan.NoOp, Deps: on("x")},
					{Addr: named("alone"), PrevAddr: named("alone"), Action: plan.NoOp},
					{Addr: named("alone"), PrevAddr: named("alone"), Deposed: "00000001", Action: plan.NoOp},
				},
				Outputs: []*plan.OutputChange{{Name: "o", Action: plan.NoOp, After: sealed(t, text), Deps: on("x")}, {Name: "gone", Action: plan.Delete}},
				Settling: &plan.Settling{Moment: 3, Full: true, Hashes: state.BlockHashes{{Blocks: []state.BlockHash{{Name: block.Name}}}}, Units: []state.Finding{
					{Unit: state.Unit{Kind: state.RepetitionUnit, Addr: "t.n"}, Reads: plan.Subjects(on("x"))},
					{Unit: state.Unit{Kind: state.CheckUnit, Addr: "check.c"}, Reads: plan.Subjects(on("x"))},
					{Unit: state.Unit{Kind: state.CheckUnit, Addr: "check.gone"}, Gone: true, Reads: plan.Subjects(on("x"))},
					{Unit: state.UnitOf(named("data"))},
				}},
			}
			a := Applied{Plan: p, Run: run, Outcomes: &scope.Outcomes{}, Blocked: &plan.Instances{}, Checks: []state.CheckResult{{Objects: []state.CheckObject{{Addr: "check.c", Status: state.CheckPass}}}}}
			if c.do != nil {
				c.do(&a, p)
			}
			a.Record()
			if len(run.recorded) != 1 {
				t.Fatalf("got %d settlements, want 1", len(run.recorded))
			}
			s := run.recorded[0]
			if !s.Full || s.Moment != 3 || len(s.Covered) != 1 || s.Covered[0] != block {
				t.Errorf("got full %v at %d, covering %v, want a full one at 3 that covers %v", s.Full, s.Moment, s.Covered, block)
			}
			var open, all []string
			for u := range s.Found {
				key := strings.TrimPrefix(u.Unit.Key(), "t.")
				if all = append(all, key); u.Open {
					open = append(open, key)
				}
			}
			slices.Sort(open)
			if got := strings.Join(open, "\n"); got != c.want {
				t.Errorf("got open\n%s\nwant\n%s", got, c.want)
			}
			want := []string{"of-x", "alone", "output o", "repetition t.n", "check check.c", "check check.gone", "data"}
			if c.action == plan.NoOp {
				want = append([]string{"x"}, want...)
			}
			if !slices.Equal(all, want) {
				t.Errorf("got the units %v, want %v", all, want)
			}
			for range s.Found { // it may end at any unit
				break
			}
		})
	}
}

// TestNothingRecorded has no units of a plan with another scope recorded, and none in a run of another store.
func TestNothingRecorded(t *testing.T) {
	run := &recording{}
	Applied{Plan: &plan.Plan{}, Run: run}.Record()
	if len(run.recorded) != 0 {
		t.Errorf("got %d settlements, want none", len(run.recorded))
	}
	var plain struct{ state.Run }
	Applied{Plan: &plan.Plan{Settling: &plan.Settling{}}, Run: plain}.Record()
}
