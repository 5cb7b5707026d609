package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/plugin"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// heldSide is one of the two lives of a configuration: with the setting or without.
type heldSide struct {
	t      *testing.T
	with   bool
	dir    string
	state  *state.State
	hashes *fingerprint.Hashes
	cloud  string
	rules  []simprovider.Rule
	// through is asked in place of the provider for each change, which call makes; nil for none.
	through func(req provider.ApplyRequest, call heldCall) (provider.ApplyResponse, diag.List)

	mu    sync.Mutex
	calls []string // changes of the infrastructure by the last command
}

// heldCall asks the provider for a change.
type heldCall func() (provider.ApplyResponse, diag.List)

// heldCommand is a command, which both sides carry out.
type heldCommand struct {
	mode        plan.Mode
	skipRefresh bool
	planOnly    bool
	save        bool     // the plan, and apply it with another engine
	replace     []string // addresses
	assume      []string // the same of -assume-unchanged
	targets     []string
	excludes    []string
	killAt      int             // the point at which the apply is killed, 0 for never
	soft        context.Context // ends with an interrupt of the apply; nil for never
}

// heldResult is what a command led to.
type heldResult struct {
	diags   diag.List
	planned []string // actions, but for those that change only the state's record of an object
	changes int      // that are planned, these among them
	refused bool     // the plan was an error
	killed  bool
	calls   []string
	shown   string // all that the command has written but for the state before it
}

func newHeldSide(t *testing.T, dir string, with bool, salts []fingerprint.Salt, hashes *fingerprint.Hashes) *heldSide {
	s := &heldSide{t: t, with: with, dir: filepath.Join(dir, fmt.Sprint(with)), state: state.New(), hashes: hashes}
	s.cloud = filepath.Join(s.dir, "cloud")
	s.state.AddSalts(salts...)
	return s
}

// Launch implements provider.Launcher.
func (s *heldSide) Launch(context.Context, addr.Provider) (provider.Provider, diag.List) {
	server, err := simprovider.New6(simprovider.Options{Dir: s.cloud, Rules: s.rules})
	if err != nil {
		return nil, diag.Errorf("Test provider", "%s", err)
	}
	dial, stop := simprovider.InMemory(server)
	return &heldProvider{Provider: plugin.Connect(simcloud.Source, 6, dial, stop), side: s}, nil
}

// heldProvider notes the calls that change infrastructure.
type heldProvider struct {
	provider.Provider
	side *heldSide
}

func (p *heldProvider) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	call := func() (provider.ApplyResponse, diag.List) { return p.Provider.ApplyResource(ctx, req) }
	if through := p.side.through; through != nil {
		return through(req, call)
	}
	resp, diags := call()
	action, of := "update", req.Prior
	switch {
	case req.Planned.IsNull():
		action = "delete"
	case req.Prior.IsNull():
		action, of = "create", req.Planned
	}
	if diags.HasErrors() {
		action += " failing"
	}
	p.side.mu.Lock()
	defer p.side.mu.Unlock()
	p.side.calls = append(p.side.calls, fmt.Sprintf("%s %s.%s", action, req.Type, of.GetAttr("name").AsString()))
	return resp, diags
}

func (s *heldSide) engine(show func(event.Event)) *engine.Engine {
	return engine.New(engine.Options{
		Launcher: s, Observer: event.ObserverFunc(show), CloseLimit: time.Minute, Workspace: "default", RootDir: s.dir, WorkDir: s.dir, Hashes: s.hashes,
	})
}

// run carries out a command.
func (s *heldSide) run(c *heldConfig, cmd heldCommand) *heldResult {
	s.t.Helper()
	text, vars := c.text(s.with)
	return s.command(map[string]string{"main.tf": text}, vars, cmd)
}

// command carries out a command with the files of a configuration.
func (s *heldSide) command(files map[string]string, vars map[string]cty.Value, cmd heldCommand) *heldResult {
	s.t.Helper()
	for name, text := range files {
		filetest.Write(s.t, filepath.Join(s.dir, name), text)
	}
	tree, diags := (&config.Loader{}).Load(s.dir)
	if diags.HasErrors() {
		s.t.Fatalf("%s in\n%s", diags.Err(), files["main.tf"])
	}
	r := &heldResult{}
	var mu sync.Mutex // protects events, which observers write until the engine is flushed
	var events strings.Builder
	show := func(ev event.Event) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(&events, ev.Object, ev.ID, ev.Line)
	}
	s.calls = nil
	e := s.engine(show)
	defer func() { e.Close() }()
	cfg, diags := e.Compile(s.t.Context(), tree)
	if diags.HasErrors() {
		s.t.Fatalf("%s in\n%s", diags.Err(), files["main.tf"])
	}
	req := engine.PlanRequest{
		Config: cfg, State: s.state, Meta: state.Meta{Lineage: "2f1c7e0a-5a32-4d39-9e2d-6f1f0b6c1a11", Serial: 1}, Mode: cmd.mode, Variables: vars, SkipRefresh: cmd.skipRefresh,
		ForceReplace: s.instances(cmd.replace), AssumeUnchanged: s.instances(cmd.assume),
		Targets: parseAll(s.t, cmd.targets, addr.ParseTarget), Excludes: parseAll(s.t, cmd.excludes, addr.ParseTarget),
	}
	p, diags := e.Plan(s.t.Context(), req)
	r.diags, r.refused = diags, diags.HasErrors()
	if !r.refused && !cmd.planOnly {
		if cmd.save {
			e.Close()
			e.Flush()
			r.shown, p = savePlan(s.t, p, "")
			e = s.engine(show)
			cfg, _ = e.Compile(s.t.Context(), tree)
		}
		s.apply(e, engine.ApplyRequest{Config: cfg, Plan: p, Variables: vars, Salts: s.state.Salts, Soft: cmd.soft}, r, cmd.killAt)
	}
	e.Close()
	e.Flush()
	mu.Lock()
	r.shown += events.String()
	mu.Unlock()
	r.finish(s, p)
	return r
}

// apply carries out a plan. If it is killed, the state is what the journal has.
func (s *heldSide) apply(e *engine.Engine, req engine.ApplyRequest, r *heldResult, killAt int) {
	journal := &heldJournal{power: &heldPower{left: killAt}}
	if through := s.through; through != nil {
		s.through = journal.power.around(through)
		defer func() { s.through = through }()
	}
	req.State = state.NewRun(&state.File{Meta: state.Meta{Serial: 1}, State: s.state}, "1.0.0", journal, func(context.Context, *state.File) error { return nil })
	_, diags := e.Apply(s.t.Context(), req)
	applied, _ := req.State.End(s.t.Context())
	r.diags = append(r.diags, diags...)
	r.killed = journal.power.off
	replayed := s.state.Copy()
	for _, c := range journal.changes {
		c.Apply(replayed)
	}
	replayed.Checks = applied.State.Checks
	if killAt > 0 && !r.killed && string(s.encoded(replayed)) != string(s.encoded(applied.State)) {
		s.t.Errorf("got a journal that makes the state\n%s\nwant, as after the apply\n%s", s.encoded(replayed), s.encoded(applied.State))
	}
	if !r.killed {
		replayed = applied.State
	}
	s.state = s.stored(replayed)
	r.shown += journal.canonical()
}

// finish notes what a command has planned, done and shown.
func (r *heldResult) finish(s *heldSide, p *plan.Plan) {
	for _, d := range r.diags {
		r.shown += fmt.Sprintln(d.Summary, d.Detail)
	}
	for _, c := range p.Changes {
		r.shown += fmt.Sprintln(c.Addr, c.Action, c.Reason)
		if c.Action != plan.NoOp {
			r.changes++
		}
		restores := slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool { return w.Status.Restores() })
		differs := slices.ContainsFunc(c.Withheld, func(w plan.Withheld) bool { return w.Status.Differs() })
		if c.Action == plan.NoOp || c.Action == plan.Update && restores && !differs && bytes.Equal(c.Before.Packed(), c.After.Packed()) {
			continue
		}
		r.planned = append(r.planned, fmt.Sprintf("%s %s deposed=%t", c.Action, c.Addr, c.Deposed != addr.Current))
	}
	r.shown += planText(p)
	for _, call := range s.calls {
		if !strings.HasPrefix(call, "delete failing") { // which may be repeated (E95)
			r.calls = append(r.calls, call)
		}
	}
	slices.Sort(r.calls)
	slices.Sort(r.planned)
}

// stored returns a state as it is read after it was written.
func (s *heldSide) stored(st *state.State) *state.State {
	f, err := state.Read(s.encoded(st))
	if err != nil {
		s.t.Fatal(err)
	}
	return f.State
}

func (s *heldSide) encoded(st *state.State) []byte {
	s.t.Helper()
	var buf bytes.Buffer
	if err := state.Encode(&buf, &state.File{Meta: state.Meta{Lineage: "2f1c7e0a-5a32-4d39-9e2d-6f1f0b6c1a11", Serial: 1, Version: "1"}, State: st}); err != nil {
		s.t.Fatal(err)
	}
	return buf.Bytes()
}

func (s *heldSide) instances(texts []string) []addr.Instance {
	return parseAll(s.t, texts, addr.ParseInstance)
}

// object returns an object of the simulated cloud by its name, nil if there is none.
func (s *heldSide) object(name string) *simcloud.Object {
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range objects {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// drift changes an attribute of an object behind the engine's back.
func (s *heldSide) drift(name, attr string, v any) { s.driftOf(s.object(name), attr, v) }

func (s *heldSide) driftOf(o *simcloud.Object, attr string, v any) {
	if o == nil {
		return
	}
	text, err := json.Marshal(v)
	if err == nil {
		o.Attrs[attr] = text
		err = simcloud.WriteObject(s.cloud, o)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *heldSide) vanish(name string) { s.vanishOf(s.object(name)) }

func (s *heldSide) vanishOf(o *simcloud.Object) {
	if o != nil {
		if err := os.Remove(simcloud.ObjectPath(s.cloud, o.ID)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *heldSide) taint(address string) {
	in := s.state.Instance(s.instances([]string{address})[0])
	if in != nil && in.Current != nil {
		in.Current = in.Current.Clone()
		in.Current.Tainted = true
	}
}

// resalt gives the salts of the state another meaning, so that no fingerprint can be compared.
func (s *heldSide) resalt(salt fingerprint.Salt) { s.state.Salts = []fingerprint.Salt{salt} }

// world returns what there is in the cloud.
func (s *heldSide) world(c *heldConfig) string {
	objects, err := simcloud.Objects(s.cloud)
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, o := range objects {
		doc, err := json.Marshal(o.Attrs)
		if err != nil {
			s.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", o.Type, o.ID, c.named(o.Name).plainAttributes(doc, false)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// records returns what the state has, without the secrets.
func (s *heldSide) records(c *heldConfig) string {
	var lines []string
	for a, in := range s.state.AllInstances() {
		line := fmt.Sprintf("%s %d", a, len(in.Deposed))
		if o := in.Current; o != nil {
			line += fmt.Sprintf(" tainted=%t %s", o.Tainted, c.at(a.String()).plainAttributes(o.JSON(), true))
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (c *heldConfig) named(name string) *heldObject {
	return c.find(func(o *heldObject) bool { return o.name == name })
}

func (c *heldConfig) at(address string) *heldObject {
	return c.find(func(o *heldObject) bool { return o.address() == address })
}

func (c *heldConfig) find(is func(*heldObject) bool) *heldObject {
	if i := slices.IndexFunc(c.all, is); i >= 0 {
		return c.all[i]
	}
	return nil
}
