package engine_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simcloud"
	"github.com/mayfly-iac/mayfly/internal/testing/simprovider/simlog"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// simPath is the program that is the test provider.
var simPath string

func TestMain(m *testing.M) {
	program.Main(m, func(dir string) error {
		built, err := program.Build(dir, program.TestProvider)
		simPath = built[program.TestProvider]
		return errors.Join(err, os.Setenv("TF_LOG_SDK", "off")) // or providers within this process log every call
	})
}

// world is one working directory with its cloud, its state and the transcript of what its providers were
// asked.
type world struct {
	t     *testing.T
	dir   string
	cloud string
	log   string
	store *inmem.Store
	rules string            // misbehaviours, as JSON
	env   map[string]string // of the providers, besides what the kit sets

	functions map[string]function.Function // in addition to those of the language

	launcher provider.Launcher // in place of the one that starts processes
	virtual  bool              // providers are within this process; see inVirtualTime

	calls     *simlog.Reader
	seen      int // entries of the transcript that earlier commands wrote
	journal   *spy
	recorder  *recorder     // of openings, also of an apply; nil for none
	failAfter int           // writes to the journal fail after so many; 0 for never
	endTakes  time.Duration // the end of an operation becomes durable after so long
	unclosed  bool          // openings are not checked to be closed exactly once
	faulty    bool          // the provider's complaints about the engine are expected
}

const prelude = `
terraform {
  required_providers {
    sim = { source = "mayfly.dev/test/sim" }
  }
}
`

// newWorld makes a world whose root module has the given text besides the required providers.
func newWorld(t *testing.T, text string) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{
		t: t, dir: filepath.Join(base, "root"), cloud: filepath.Join(base, "cloud"), log: filepath.Join(base, "rpc.log"),
		store: inmem.New(), env: map[string]string{},
	}
	w.calls = simlog.NewReader(w.log)
	w.config(text)
	return w
}

// config replaces the root module's text.
func (w *world) config(text string) { w.file("main.tf", prelude+text) }

func (w *world) file(name, text string) {
	w.t.Helper()
	filetest.Write(w.t, filepath.Join(w.dir, name), text)
}

// command is one run of the engine: a plan, and an apply unless planOnly is set. The zero value is a plain
// apply.
type command struct {
	planOnly, skipRefresh      bool
	deferral                   bool           // what cannot be planned yet is deferred
	memory                     *rounds.Memory // of the run that the command is a round of; nil for none
	generate                   bool           // blocks for imports, in place of planning
	mode                       plan.Mode
	targets, excludes, replace []string
	vars                       map[string]cty.Value
	parallelism                int
	closeLimit                 time.Duration
	onEvent                    func(event.Event) // called for every event of either phase
	observer                   event.Observer    // receives events too, unless nil
	ctx, soft                  context.Context
	between                    func() // called after a plan without errors, before apply
}

// result is what a command led to.
type result struct {
	w                     *world
	plan                  *plan.Plan
	applied               *engine.Applied
	planDiags, applyDiags diag.List
	events                []event.Event
	planLog, applyLog     simlog.Log
}

// diags are the diagnostics of both phases.
func (r *result) diags() diag.List {
	return append(append(diag.List{}, r.planDiags...), r.applyDiags...)
}

// log is the transcript of both phases.
func (r *result) log() simlog.Log { return append(append(simlog.Log{}, r.planLog...), r.applyLog...) }

func (w *world) environ() []string {
	env := append(os.Environ(), "GOGC=400", "SIM_DIR="+w.cloud, "SIM_LOG="+w.log)
	if w.rules != "" {
		path := filepath.Join(w.dir, "..", "rules.json")
		filetest.Write(w.t, path, w.rules)
		env = append(env, "SIM_MISBEHAVE="+path)
	}
	for name, v := range w.env {
		env = append(env, name+"="+v)
	}
	return env
}

func (w *world) engine(c *command, observe func(event.Event)) *engine.Engine {
	launcher := w.launcher
	if launcher == nil && w.virtual {
		launcher = w.within()
	} else if launcher == nil {
		launcher = w.processes()
	}
	opt := engine.Options{
		Launcher: launcher,
		Observer: event.Observers(event.ObserverFunc(observe), c.observer), Parallelism: c.parallelism, CloseLimit: c.closeLimit,
		Workspace: "default", RootDir: w.dir, WorkDir: w.dir, Environ: os.Environ(), Functions: w.functions,
	}
	if w.recorder != nil {
		opt.Recorder = w.recorder
	}
	return engine.New(opt)
}

// processes launches providers as processes.
func (w *world) processes() provider.Launcher {
	w.t.Helper()
	sim, err := addr.ParseProvider(simcloud.Source)
	if err != nil {
		w.t.Fatal(err)
	}
	return &mayfly.Launcher{
		Executable: func(p addr.Provider) (string, bool) { return simPath, p == sim || p.Namespace == "other" },
		Env:        w.environ(),
		Plain:      true, // keys and certificates took a third of the time of all tests; others watch the encryption
	}
}

// run runs a command with processes of its own, as a user would, and checks what holds for every command.
func (w *world) run(c command) *result {
	w.t.Helper()
	r := &result{w: w}
	var mu sync.Mutex
	e := w.engine(&c, func(ev event.Event) {
		mu.Lock()
		r.events = append(r.events, ev)
		mu.Unlock()
		if c.onEvent != nil {
			c.onEvent(ev)
		}
	})
	if c.ctx == nil {
		c.ctx = w.t.Context()
	}
	w.carryOut(e, c, r)
	e.Close()
	r.applyDiags = append(r.applyDiags, e.Flush()...)
	r.applyLog = append(r.applyLog, w.newEntries()...)
	mu.Lock()
	defer mu.Unlock()
	w.checkAlways(r)
	return r
}

func (w *world) carryOut(e *engine.Engine, c command, r *result) {
	w.t.Helper()
	tree, diags := (&config.Loader{}).Load(w.dir)
	if diags.HasErrors() {
		r.planDiags = diags
		return
	}
	cfg, more := e.Compile(c.ctx, tree)
	r.planDiags = append(diags, more...)
	if r.planDiags.HasErrors() {
		return
	}
	manager, err := w.store.Manager(store.DefaultWorkspace)
	if err != nil {
		w.t.Fatal(err)
	}
	f := w.stored(manager)
	req := engine.PlanRequest{
		Config: cfg, State: f.State, Mode: c.mode, Variables: c.vars, SkipRefresh: c.skipRefresh, Soft: c.soft, AllowDeferral: c.deferral, Memory: c.memory, Meta: f.Meta,
		Targets: w.targets(c.targets), Excludes: w.targets(c.excludes),
	}
	for _, text := range c.replace {
		in, err := addr.ParseInstance(text)
		if err != nil {
			w.t.Fatal(err)
		}
		req.ForceReplace = append(req.ForceReplace, in)
	}
	if c.generate {
		_, more = e.Generate(c.ctx, req)
		r.planDiags, r.planLog = append(r.planDiags, more...), w.newEntries()
		return
	}
	r.plan, more = e.Plan(c.ctx, req)
	r.planDiags = append(r.planDiags, more...)
	if c.memory != nil && !r.planDiags.HasErrors() {
		r.planDiags = append(r.planDiags, c.memory.Stuck(r.plan)...)
	}
	r.planLog = w.newEntries()
	if !r.planDiags.HasErrors() {
		w.checkReads(req, r.plan)
	}
	if c.planOnly || r.planDiags.HasErrors() {
		return
	}
	if c.between != nil {
		c.between()
	}
	w.apply(e, c, r, manager, f, engine.ApplyRequest{Config: cfg, Plan: r.plan, Variables: c.vars, Salts: f.State.Salts, Memory: c.memory, Soft: c.soft})
}

func (w *world) apply(e *engine.Engine, c command, r *result, manager store.Manager, f *state.File, req engine.ApplyRequest) {
	w.t.Helper()
	info, err := store.NewLockInfo("apply", mayfly.CompatibleVersion, time.Now(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	lock, err := manager.Lock(context.Background(), info)
	if err != nil {
		w.t.Fatal(err)
	}
	run, err := manager.BeginRun(context.Background(), f, mayfly.CompatibleVersion)
	if err != nil {
		w.t.Fatal(err)
	}
	w.journal = &spy{Run: run, recorder: w.recorder, failAfter: w.failAfter, endTakes: w.endTakes}
	req.State = w.journal
	r.applied, r.applyDiags = e.Apply(c.ctx, req)
	r.applyLog = w.newEntries()
	if _, err := run.End(context.Background()); err != nil {
		w.t.Errorf("writing the state: %s", err)
	}
	if err := manager.Unlock(context.Background(), lock); err != nil {
		w.t.Error(err)
	}
}

func (w *world) stored(m store.Manager) *state.File {
	w.t.Helper()
	f, err := m.Read(context.Background())
	if err == nil && f == nil {
		f, err = state.NewFile(mayfly.CompatibleVersion, rand.Reader)
		f.Serial++ // so that results of checks alone are stored too
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *world) targets(texts []string) []addr.Target { return parseAll(w.t, texts, addr.ParseTarget) }

// parseAll parses each of the addresses.
func parseAll[T any](t testing.TB, texts []string, parse func(string) (T, error)) []T {
	t.Helper()
	var out []T
	for _, text := range texts {
		x, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// newEntries returns what the transcript has gained.
func (w *world) newEntries() simlog.Log {
	w.t.Helper()
	all, err := w.calls.Read()
	if err != nil {
		w.t.Fatal(err)
	}
	out := all[w.seen:]
	w.seen = len(all)
	return out
}

var errDiskFull = errors.New("no space left")

// spy is a run that remembers in clear what was written to it, and can fail.
type spy struct {
	state.Run
	recorder  *recorder
	mu        sync.Mutex
	text      strings.Builder
	failAfter int
	endTakes  time.Duration
	trail     []string // "begin create sim_thing.a", "commit", "fail"
}

func (s *spy) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	if s.recorder != nil {
		return s.recorder.Opening(i, p, at)
	}
	return s.Run.Opening(i, p, at)
}

func (s *spy) Closed(id uint64) error {
	if s.recorder != nil {
		return s.recorder.Closed(id)
	}
	return s.Run.Closed(id)
}

func (s *spy) Begin(o addr.Object, action string) (uint64, error) {
	if err := s.note("begin "+action+" "+o.String(), nil); err != nil {
		return 0, err
	}
	return s.Run.Begin(o, action)
}

func (s *spy) Commit(id uint64, changes ...state.ObjectChange) error {
	if err := s.note("commit", changes); err != nil {
		return err
	}
	time.Sleep(s.endTakes)
	return s.Run.Commit(id, changes...)
}

func (s *spy) Enqueue(id uint64, changes ...state.ObjectChange) (wait func() error) {
	if err := s.note("commit", changes); err != nil {
		return func() error { return err }
	}
	durable := s.Run.(state.Queue).Enqueue(id, changes...)
	return func() error {
		time.Sleep(s.endTakes)
		return durable()
	}
}

func (s *spy) Fail(id uint64, changes ...state.ObjectChange) error {
	if err := s.note("fail", changes); err != nil {
		return err
	}
	return s.Run.Fail(id, changes...)
}

func (s *spy) note(kind string, changes []state.ObjectChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trail = append(s.trail, kind)
	if s.failAfter > 0 && len(s.trail) > s.failAfter {
		s.Put(changes...) // as a run does whose journal fails
		return errDiskFull
	}
	for _, c := range changes {
		if c.New != nil {
			s.text.Write(c.New.JSON())
			s.text.Write(c.New.Private)
			s.text.Write(c.New.Identity)
		}
	}
	return nil
}

// validate validates the configuration with processes of its own.
func (w *world) validate() diag.List {
	w.t.Helper()
	e := w.engine(&command{}, func(event.Event) {})
	defer e.Close()
	tree, diags := (&config.Loader{}).Load(w.dir)
	if diags.HasErrors() {
		return diags
	}
	cfg, more := e.Compile(w.t.Context(), tree)
	if diags = append(diags, more...); diags.HasErrors() {
		return diags
	}
	return append(diags, e.Validate(w.t.Context(), cfg)...)
}
