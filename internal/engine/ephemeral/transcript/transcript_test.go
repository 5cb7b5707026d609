package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// setup is what setup.json says of a scenario.
type setup struct {
	Rules       []rule
	Parallelism int      // 1 if it is zero
	Uses        bool     // it has what uses what is open, which only observers of details receive
	Spans       bool     // it has spans
	PlanOnly    bool     // nothing is applied
	Lazy        bool     // nothing is opened for write-only arguments alone
	Brief       bool     // it only has how many calls there were
	Unrecorded  bool     // nothing records what a plan opens
	Import      string   // what is imported, in place of a plan
	Console     []string // expressions that are evaluated, in place of a plan
	Pause       string   // before each but the first
	Instead     []string // instances for which something else answers
	Texts       []string // for which it says in what they are hidden in the end
	CloseLimit  string   // 30s if it is empty
}

const requirement = `
terraform {
  required_providers {
    fake = { source = "mayfly.dev/test/fake" }
  }
}
`

// entry is a line of a transcript.
type entry struct {
	at   time.Time
	text string
}

// transcript collects what is seen of a scenario. Lines of the same moment are in the order of their texts,
// since what happens at once has no other.
type transcript struct {
	mu      sync.Mutex
	begin   time.Time
	entries []*entry
	rest    []string // lines that follow
}

func (tr *transcript) note(kind, text string) *entry { return tr.noteAt(time.Now(), kind, text) }

func (tr *transcript) noteAt(at time.Time, kind, text string) *entry {
	e := &entry{at: at, text: kind + " " + text}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.entries = append(tr.entries, e)
	return e
}

// add adds to the text of an entry.
func (tr *transcript) add(e *entry, text string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	e.text += text
}

func (tr *transcript) since(at time.Time) string { return at.Sub(tr.begin).String() }

// line adds a line at the end.
func (tr *transcript) line(format string, args ...any) {
	tr.rest = append(tr.rest, fmt.Sprintf(format, args...))
}

// inCode is where something panicked.
var inCode = regexp.MustCompile(`at \S+:\d+\.`)

// diags adds the diagnostics of a phase, in the order of their texts.
func (tr *transcript) diags(phase string, diags diag.List) {
	var lines []string
	for _, d := range diags {
		line := phase + " " + d.Severity.String() + ": " + d.Summary
		if d.Address != "" {
			line += " (" + d.Address + ")"
		}
		if d.Subject != nil {
			line += fmt.Sprintf(" %s:%d", filepath.Base(d.Subject.Filename), d.Subject.Start.Line)
		}
		if d.Extra != nil {
			line += fmt.Sprintf(" %T", d.Extra)
		}
		if detail := inCode.ReplaceAllString(d.Detail, "at a place."); detail != "" {
			line += "\n    " + strings.ReplaceAll(detail, "\n", "\n    ")
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	tr.rest = append(tr.rest, lines...)
}

// String returns the transcript.
func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	slices.SortFunc(tr.entries, func(a, b *entry) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.text, b.text)) })
	var sb strings.Builder
	for _, e := range tr.entries {
		fmt.Fprintf(&sb, "%8s %s\n", tr.since(e.at), e.text)
	}
	for _, line := range tr.rest {
		fmt.Fprintln(&sb, line)
	}
	return sb.String()
}

// Event implements event.Observer.
func (tr *transcript) Event(e event.Event) {
	if e.Kind == event.Progress || e.Op != event.OpOpen && e.Op != event.OpRenew && e.Op != event.OpClose {
		return
	}
	kind := [...]string{"started", "progress", "output", "completed", "failed", "deferred", "put off"}[e.Kind]
	text := string(e.Op) + " " + e.Object.String() + " " + kind
	if len(e.Diags) > 0 {
		text += ": " + answer(e.Diags)
		if e.Diags[0].Subject != nil {
			text += fmt.Sprintf(" line %d", e.Diags[0].Subject.Start.Line)
		}
	}
	tr.noteAt(e.Time, "event", text)
}

// uses is a transcript of uses too.
type uses struct{ *transcript }

// Detail implements event.DetailObserver.
func (u uses) Detail(e event.Event) {
	if e.Op != event.OpUse {
		return
	}
	of := e.Provider
	if of == "" {
		of = "instance " + e.Object.String()
	}
	text := fmt.Sprintf("%s for %s to %s", of, e.User, e.UserOp)
	if e.Kind == event.Completed {
		text += " after " + e.Elapsed.String()
	} else {
		text += " begins"
	}
	u.noteAt(e.Time, "use", text)
}

// journal is a journal whose openings are recorded by the cloud.
type journal struct {
	*cloud
	next uint64
}

func (j *journal) Begin(addr.Object, string) (uint64, error)  { j.next++; return j.next, nil }
func (j *journal) Commit(uint64, ...state.ObjectChange) error { return nil }
func (j *journal) Fail(uint64, ...state.ObjectChange) error   { return nil }

// scenario is one run of the engine.
type scenario struct {
	*testing.T
	setup
	*transcript
	cloud      *cloud
	soft, hard context.Context
	dir        string
	engine     *engine.Engine
	config     *blocks.Config
	state      *state.State
}

// TestTranscripts carries out each scenario in testdata and compares what is seen of it with its section
// "want". Set MAYFLY_UPDATE_GOLDEN to rewrite that.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var want *txtar.File
			var set setup
			files := map[string]string{"requirement.tf": requirement}
			for i, f := range archive.Files {
				switch f.Name {
				case "want":
					want = &archive.Files[i]
				case "setup.json":
					dec := json.NewDecoder(bytes.NewReader(f.Data))
					dec.DisallowUnknownFields()
					if err := dec.Decode(&set); err != nil {
						t.Fatal(err)
					}
				default:
					files[f.Name] = string(f.Data)
					files[filepath.Join(filepath.Dir(f.Name), "requirement.tf")] = requirement
				}
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got, _ = carryOut(t, set, files) })
			if os.Getenv("MAYFLY_UPDATE_GOLDEN") != "" {
				want.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := gocmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// boom returns a function that panics, as those of the language cannot, if its result is known.
func boom() function.Function {
	var known atomic.Bool
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "any", Type: cty.String}}, Type: function.StaticReturnType(cty.Bool),
		RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder {
			if known.Load() {
				panic("boom")
			}
			return b
		},
		Impl: func([]cty.Value, cty.Type) (cty.Value, error) {
			known.Store(true)
			return cty.True, nil
		},
	})
}

// carryOut carries out a scenario and returns its transcript and the state that it leaves. It begins with the
// state that an apply of before.tf, in place of main.tf, leaves.
func carryOut(t *testing.T, set setup, files map[string]string) (string, *state.State) {
	st := state.New()
	if before, ok := files["before.tf"]; ok {
		delete(files, "before.tf")
		others := maps.Clone(files)
		others["main.tf"] = before
		_, st = carryOut(t, setup{}, others)
	}
	s := &scenario{T: t, setup: set, transcript: &transcript{begin: time.Now()}, dir: filetest.Tree(t, files), state: st}
	s.cloud = &cloud{transcript: s.transcript, rules: set.Rules, seen: make([]int, len(set.Rules)), tallies: map[string]*tally{}, opened: map[string]int{}, private: map[*byte][]byte{}}
	s.soft, s.cloud.soft = context.WithCancel(t.Context())
	defer s.cloud.soft()
	s.hard, s.cloud.hard = context.WithCancel(t.Context())
	defer s.cloud.hard()
	limit, _ := time.ParseDuration(set.CloseLimit)
	guard := leak.New()
	s.cloud.log = func(text string) {
		begin := s.since(time.Now())
		guard.WhenKnown("mayfly.dev/test/fake", func() { s.note("log", guard.Redact(text)+" at "+begin) })
	}
	opt := engine.Options{
		Launcher: s.cloud, Observer: s.transcript, Parallelism: max(1, set.Parallelism), CloseLimit: limit,
		Workspace: "default", RootDir: s.dir, WorkDir: s.dir, Leaks: guard,
		Functions: map[string]function.Function{"boom": boom()},
		Instead: func(_ addr.ProviderConfig, i addr.Instance) provider.Provider {
			if !slices.Contains(set.Instead, i.String()) {
				return nil
			}
			return &fake{c: s.cloud, who: "instead"}
		},
	}
	if !set.Unrecorded {
		opt.Recorder = s.cloud
	}
	if set.Uses {
		opt.Observer = uses{s.transcript}
	}
	s.engine = engine.New(opt)
	s.load()
	s.traced("run", func(ctx context.Context) { s.hard = ctx; s.run() })
	s.engine.Close()
	time.Sleep(time.Hour) // what was left behind ends too
	s.diags("observer", s.engine.Flush())
	if set.Brief {
		s.entries = nil
		s.cloud.brief()
	}
	for _, what := range s.cloud.records {
		if what != "" {
			s.line("recorded as open: %s", what)
		}
	}
	for _, private := range s.cloud.left() {
		s.line("still in memory: private data %s", private)
	}
	for _, text := range set.Texts {
		_, inDocuments := guard.RedactDocument([]byte(text))
		s.line("%s: hidden in messages: %v, in documents: %v", text, guard.Redact(text) != text, inDocuments)
	}
	return s.String(), s.state
}

// traced calls f with a context whose spans the transcript has, if it has any.
func (s *scenario) traced(name string, f func(context.Context)) {
	if !s.Spans {
		f(s.hard)
		return
	}
	var mu sync.Mutex
	var n uint64
	names := map[trace.ID]string{}
	tracer := &trace.Tracer{
		Now: time.Now,
		Random: func() uint64 {
			mu.Lock()
			defer mu.Unlock()
			n++
			return n
		},
		Began: func(sp *trace.Span) {
			mu.Lock()
			defer mu.Unlock()
			names[sp.Span] = sp.Name
		},
		Ended: func(sp *trace.Span) {
			if !strings.HasSuffix(sp.Name, "Ephemeral") && !slices.Contains([]string{"open", "renew", "close"}, sp.Name) {
				return
			}
			mu.Lock()
			parent := names[sp.Parent]
			mu.Unlock()
			text := sp.Name + " in " + parent
			for _, a := range sp.All() {
				text += " " + a.Key + "=" + a.Text
			}
			if sp.Failed {
				text += " failed"
			}
			s.noteAt(sp.Begin, "span", text+" "+sp.End.Sub(sp.Begin).String())
		},
	}
	ctx, root := tracer.Root(s.hard, name, trace.Context{}, func(trace.Context) bool { return true })
	f(ctx)
	root.Finish(true)
}

// load loads the configuration. Time begins after it.
func (s *scenario) load() {
	tree, diags := (&config.Loader{}).Load(s.dir)
	if diags.HasErrors() {
		s.Fatal(diags.Err())
	}
	s.config, diags = s.engine.Compile(s.hard, tree)
	if diags.HasErrors() {
		s.Fatal(diags.Err())
	}
}

func (s *scenario) run() {
	s.cloud.phase = "plan"
	req := engine.PlanRequest{Config: s.config, State: s.state, Mode: plan.Normal, LazyEphemeral: s.Lazy, Soft: s.soft}
	switch {
	case s.Import != "":
		to, err := addr.ParseInstance(s.Import)
		if err != nil {
			s.Fatal(err)
		}
		_, diags := s.engine.Import(s.hard, engine.ImportRequest{Config: s.config, State: s.state, To: to, ID: "x", Soft: s.soft})
		s.diags("import", diags)
		return
	case len(s.Console) > 0:
		s.console(req)
		return
	}
	p, diags := s.engine.Plan(s.hard, req)
	s.engine.Flush()
	s.diags("plan", diags)
	if diags.HasErrors() || s.PlanOnly {
		return
	}
	s.note("then", "the plan is applied")
	s.cloud.phase = "apply"
	run := state.NewRun(&state.File{Meta: state.Meta{Serial: 1}, State: s.state}, "1.0.0", &journal{cloud: s.cloud}, func(context.Context, *state.File) error { return nil })
	_, diags = s.engine.Apply(s.hard, engine.ApplyRequest{Config: s.config, Plan: p, State: run, Soft: s.soft})
	s.diags("apply", diags)
	applied, _ := run.End(s.hard)
	s.state = applied.State
	for _, c := range applied.State.Checks {
		for _, o := range c.Objects {
			if len(o.Failures) > 0 {
				s.line("%s is stored with %q", o.Addr, o.Failures)
			}
		}
	}
	var kept []string
	for _, r := range applied.State.Resources {
		kept = append(kept, r.Addr.String())
	}
	slices.Sort(kept)
	s.line("in the state: %s", strings.Join(kept, " "))
}

// console evaluates expressions.
func (s *scenario) console(req engine.PlanRequest) {
	c, diags := s.engine.Console(s.hard, engine.ConsoleRequest{PlanRequest: req})
	s.diags("console", diags)
	pause, _ := time.ParseDuration(s.Pause)
	for i, x := range s.Console {
		if i > 0 {
			time.Sleep(pause)
		}
		s.note("then", x)
		v, diags := c.Evaluate(x)
		s.line("%s: %#v", x, v)
		s.diags(x, diags)
	}
	s.note("then", "the console ends")
	s.diags("console", c.Close())
}
