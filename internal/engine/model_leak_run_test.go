package engine_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/stores/planfile"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// leakSchedule is one way in which the life of a world goes: the number decides how long each call takes, how
// many run at once, and whether plans are saved.
type leakSchedule struct {
	t      *testing.T
	number int
	world  *leakWorld
	dir    string
	trees  []*config.Tree // by round
	cloud  *leakCloud
	state  *state.State
	guard  *leak.Guard
	traces []*leakTrace
}

// leakTrace is what a round led to.
type leakTrace struct {
	plan, apply *leakPhase // apply is nil if there was none
	state       *state.State
	saved       string            // all of the saved plan; "" if it was not saved
	inPlan      string            // private data in the plan
	updates     map[string]bool   // what the plan updates, by the name of the thing
	shown       string            // events and diagnostics
	journal     *leakJournal      // of the apply
	outcome     map[string]string // canonical, for comparison with those of other schedules
}

// leakPhase is a plan, an apply, or an import.
type leakPhase struct {
	calls map[string][]leakCall
	diags diag.List
}

// run lives the whole life in virtual time.
func (s *leakSchedule) run() {
	synctest.Test(s.t, func(t *testing.T) {
		s.t = t
		s.cloud = &leakCloud{world: s.world, schedule: uint64(s.number)}
		s.state = state.New()
		for i, r := range s.world.rounds {
			if r.imports != nil {
				s.importOne(i, r)
			}
			s.command(i, r)
		}
	})
}

func (s *leakSchedule) saves() bool { return s.number%2 == 1 }

func (s *leakSchedule) variables() map[string]cty.Value {
	vars := map[string]cty.Value{}
	for _, v := range s.world.vars {
		if !v.inFile {
			vars[v.name] = cty.StringVal(v.text)
		}
	}
	return vars
}

// engine returns an engine with a guard of its own, as a process has.
func (s *leakSchedule) engine(policy leak.Policy, observe func(event.Event)) *engine.Engine {
	s.guard = leak.New()
	if s.world.credential != "" {
		s.guard.Remember(leak.Source{Kind: leak.Credential, Address: "the backend s3"}, cty.StringVal(s.world.credential).Mark(value.Sensitive), cty.String)
	}
	return engine.New(engine.Options{
		Launcher: s.cloud, Observer: event.ObserverFunc(observe), Parallelism: 1 + s.number%10, CloseLimit: time.Minute, Workspace: "default",
		RootDir: s.dir, WorkDir: s.dir, Leaks: s.guard, LeakPolicy: policy,
	})
}

// show returns an observer that appends what events show.
func (tr *leakTrace) show(mu *sync.Mutex) func(event.Event) {
	return func(ev event.Event) {
		mu.Lock()
		defer mu.Unlock()
		tr.shown += fmt.Sprintln(ev.Object, ev.IDKey, ev.ID, ev.Line, ev.User, ev.Provider)
		for _, d := range ev.Diags {
			tr.shown += fmt.Sprintln(d.Summary, d.Detail, d.Address)
		}
	}
}

// command plans and applies.
func (s *leakSchedule) command(i int, r *leakRound) {
	tr := &leakTrace{}
	s.traces = append(s.traces, tr)
	var mu sync.Mutex
	e := s.engine(r.policy, tr.show(&mu))
	defer func() { e.Close() }()
	s.cloud.begin(r, false)
	cfg, diags := e.Compile(s.t.Context(), s.trees[i])
	if diags.HasErrors() {
		s.t.Fatalf("the configuration is wrong: %s\n%s", diags.Err(), r.text)
	}
	p, diags := e.Plan(s.t.Context(), engine.PlanRequest{Config: cfg, State: s.state, Meta: state.Meta{Lineage: "2f1c7e0a-5a32-4d39-9e2d-6f1f0b6c1a11", Serial: 1}, Mode: r.mode, Variables: s.variables()})
	tr.plan = &leakPhase{s.cloud.calls, diags}
	tr.state = s.state
	tr.updates = map[string]bool{}
	for _, c := range p.Changes {
		tr.updates[c.Addr.Resource.Name] = tr.updates[c.Addr.Resource.Name] || c.Action == plan.Update
	}
	for _, c := range slices.Concat(p.Changes, p.Drift) {
		tr.inPlan += fmt.Sprintf("%s\n%s\n", c.PriorPrivate, c.PlannedPrivate)
	}
	if !diags.HasErrors() && s.saves() {
		tr.saved, p = s.save(p, i)
		e.Close()
		e = s.engine(leak.Standard, tr.show(&mu))
		cfg, _ = e.Compile(s.t.Context(), s.trees[i])
	}
	if !diags.HasErrors() && !r.planOnly {
		s.cloud.begin(r, true)
		tr.journal = &leakJournal{}
		run := state.NewRun(&state.File{Meta: state.Meta{Serial: 1}, State: s.state}, "1.0.0", tr.journal, func(context.Context, *state.File) error { return nil })
		_, diags := e.Apply(s.t.Context(), engine.ApplyRequest{Config: cfg, Plan: p, Variables: s.variables(), State: run})
		tr.apply = &leakPhase{s.cloud.calls, diags}
		applied, _ := run.End(s.t.Context())
		s.state, tr.state = applied.State, applied.State
	}
	e.Close()
	e.Flush()
	tr.finish(&mu)
}

// importOne is the command import.
func (s *leakSchedule) importOne(i int, r *leakRound) {
	tr := &leakTrace{}
	s.traces = append(s.traces, tr)
	var mu sync.Mutex
	e := s.engine(r.policy, tr.show(&mu))
	defer e.Close()
	s.cloud.begin(r, false)
	cfg, _ := e.Compile(s.t.Context(), s.trees[i])
	to, err := addr.ParseInstance(r.imports.address(i))
	if err != nil {
		s.t.Fatal(err)
	}
	st, diags := e.Import(s.t.Context(), engine.ImportRequest{Config: cfg, State: s.state, Variables: s.variables(), To: to, ID: r.imports.importID})
	if tr.plan = (&leakPhase{s.cloud.calls, diags}); st != nil {
		s.state = st
	}
	tr.state = s.state
	e.Flush()
	tr.finish(&mu)
}

// save writes a plan and reads it again.
func (s *leakSchedule) save(p *plan.Plan, i int) (string, *plan.Plan) {
	return savePlan(s.t, p, s.world.rounds[i].text)
}

// savePlan writes a plan and reads it again. It returns all that was written, too.
func savePlan(t *testing.T, p *plan.Plan, text string) (string, *plan.Plan) {
	t.Helper()
	var buf bytes.Buffer
	err := planfile.Write(&buf, &planfile.File{Plan: p, Config: map[string][]byte{"main.tf": []byte(text)}, RootDir: ".", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := planfile.ReadBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, entry := range z.File {
		rd, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.Copy(&all, rd); err != nil {
			t.Fatal(err)
		}
	}
	return all.String(), f.Plan
}

// finish makes the canonical outcome.
func (tr *leakTrace) finish(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	tr.outcome = map[string]string{"state": leakStateText(tr.state)}
	for name, p := range map[string]*leakPhase{"plan": tr.plan, "apply": tr.apply} {
		if p == nil {
			continue
		}
		for _, d := range p.diags {
			tr.shown += fmt.Sprintln(d.Summary, d.Detail, d.Address)
		}
		tr.outcome[name+" diagnostics"] = strings.Join(leakFindings(p.diags), "\n")
		var sb strings.Builder
		for _, thing := range slices.Sorted(maps.Keys(p.calls)) {
			for _, c := range leakSorted(p.calls[thing]) {
				fmt.Fprintf(&sb, "%s %s %s %q %s\n", thing, c.rpc, leakJSONOf(c.value), c.private, leakJSONOf(c.identity))
			}
		}
		tr.outcome[name+" calls"] = sb.String()
	}
	if tr.journal != nil {
		tr.outcome[fmt.Sprintf("journal (plan saved: %t)", tr.saved != "")] = tr.journal.canonical()
	}
}

// leakPlace matches the place that a diagnostic of the guard names.
var leakWhere = regexp.MustCompile(` in (the [^,]* of the [a-z ]* of [^,]*|a key or the name [^,]* of the [a-z ]* of [^,]*), (so that|where|without)`)

var leakKey = regexp.MustCompile(`\["[^\]]*"\]|\[\.\.\.\]`)

// leakFindings returns the diagnostics, sorted: severity, summary, and the place or object.
func leakFindings(diags diag.List) []string {
	set := map[string]bool{}
	for _, d := range diags {
		at := d.Address
		if m := leakWhere.FindStringSubmatch(d.Detail); m != nil {
			at = m[1]
			if end := strings.LastIndex(at, " of the "); end > 0 { // keys may be values, which messages don't show
				at = leakKey.ReplaceAllString(at[:end], "[*]") + at[end:]
			}
		} else if strings.HasPrefix(d.Detail, "[") {
			at = d.Detail[:strings.Index(d.Detail, "]")+1]
		}
		set[leakDeposed.ReplaceAllString(fmt.Sprintf("%s | %s | %s", d.Severity, d.Summary, at), "(deposed)")] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// leakStateText is all that a state has of objects and outputs.
func leakStateText(st *state.State) string {
	var sb strings.Builder
	text := func(a addr.Object, o *state.Object) string {
		return leakDeposed.ReplaceAllString(fmt.Sprintf("%s %s %q %s tainted=%t version=%d sensitive=%#v dependencies=%v\n", a, o.JSON(), o.Private, o.Identity, o.Tainted, o.SchemaVersion, o.Sensitive, o.Dependencies), "(deposed)")
	}
	for a, in := range st.AllInstances() {
		if in.Current != nil {
			sb.WriteString(text(addr.Object{Instance: a}, in.Current))
		}
		var deposed []string
		for key, o := range in.Deposed {
			deposed = append(deposed, text(addr.Object{Instance: a, Deposed: key}, o))
		}
		sb.WriteString(strings.Join(slices.Sorted(slices.Values(deposed)), ""))
	}
	for _, name := range slices.Sorted(maps.Keys(st.Outputs)) {
		v, err := st.Outputs[name].Value.Unmarked()
		fmt.Fprintf(&sb, "output %s %#v %v\n", name, v, err)
	}
	return sb.String()
}

// leakJournal is a journal in memory, with everything that was written to it.
type leakJournal struct {
	mu    sync.Mutex
	last  uint64
	lines map[uint64][]string
}

func (j *leakJournal) add(id uint64, text string) (uint64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id == 0 {
		j.last++
		id = j.last
	}
	if j.lines == nil {
		j.lines = map[uint64][]string{}
	}
	j.lines[id] = append(j.lines[id], text)
	return id, nil
}

// canonical returns all entries in an order that does not depend on time.
func (j *leakJournal) canonical() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []string
	for _, lines := range j.lines {
		all = append(all, leakDeposed.ReplaceAllString(strings.Join(lines, "\n"), "(deposed)"))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func leakChanges(changes []state.ObjectChange) string {
	var sb strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&sb, " %s", c.Object)
		if o := c.New; o != nil {
			fmt.Fprintf(&sb, " %s %q %s tainted=%t", o.JSON(), o.Private, o.Identity, o.Tainted)
		}
	}
	return sb.String()
}

// Begin implements state.Journal.
func (j *leakJournal) Begin(o addr.Object, action string) (uint64, error) {
	return j.add(0, action+" "+o.String())
}

// Commit implements state.Journal.
func (j *leakJournal) Commit(id uint64, changes ...state.ObjectChange) error {
	_, err := j.add(id, "commit"+leakChanges(changes))
	return err
}

// Fail implements state.Journal.
func (j *leakJournal) Fail(id uint64, changes ...state.ObjectChange) error {
	_, err := j.add(id, "fail"+leakChanges(changes))
	return err
}

// Opening implements state.Journal.
func (j *leakJournal) Opening(i addr.Instance, _ addr.Provider, _ time.Time) (uint64, error) {
	return j.add(0, "open "+i.String())
}

// Closed implements state.Journal.
func (j *leakJournal) Closed(id uint64) error {
	_, err := j.add(id, "closed")
	return err
}

// leakJSONOf returns a value in short; "" for none.
func leakJSONOf(v cty.Value) string {
	if v == cty.NilVal || v.IsNull() {
		return ""
	}
	v = cty.UnknownAsNull(v)
	out, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return err.Error()
	}
	return string(out)
}
