package engine

import (
	"context"
	"maps"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/accepted"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/lang/funcs"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/processes"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
)

// Options are the parameters of an Engine.
type Options struct {
	Launcher    provider.Launcher
	Observer    event.Observer // nil for none
	Parallelism int            // provider operations at once; 10 if zero
	CloseLimit  time.Duration  // for one Close of an ephemeral instance; 30 s if zero
	Durations   Durations      // of earlier runs; nil if nothing is known
	Now         func() time.Time
	Workspace   string
	RootDir     string // of the root module, for path.root and relative file names
	WorkDir     string // absolute, for path.cwd and provisioners
	// Provisioner output and inputs come from the environment of the process; local-exec passes Environ on.
	Environ []string
	// ShowSensitive shows the output of provisioners with sensitive arguments.
	ShowSensitive bool
	// Log receives a line for anything unusual that is not an error; nil for none. A line begins with its
	// level in brackets and has no values.
	Log func(line string)
	// Instead returns a stand-in that answers for an instance in place of its provider, nil for none. Tests
	// set it.
	Instead func(pc addr.ProviderConfig, i addr.Instance) provider.Provider
	// Leaks remembers the ephemeral values of all operations, and LeakPolicy decides whether one may be
	// stored that a provider returns. If Leaks is nil, the engine has a guard of its own.
	Leaks      *leak.Guard
	LeakPolicy leak.Policy
	// Hashes keeps the slow hashes of the values of ephemeral attributes. If it is nil, the engine has one of
	// its own.
	Hashes *fingerprint.Hashes
	// Recorder records which ephemeral instances are open; nil for nothing. An apply uses its journal, and
	// records here in the end which ones it could not close.
	Recorder ephemeral.Recorder
	// Functions can be called in addition to the language's own.
	Functions map[string]function.Function
	// Coverage notes the exercised points of the configuration; nil for none. Tests set it.
	Coverage *coverage.Set
}

// Engine carries out operations on one configuration with one set of provider processes. Operations must not
// overlap. Close ends the processes.
type Engine struct{ *host }

// host is the part of an engine that its operations use.
type host struct {
	opt       Options
	events    *event.Reporter
	providers *processes.Set
	stats     Stats
	valid     *validation // of the configuration that was validated last; nil for none
	accepted  *accepted.Set
}

// Stats counts the work of all operations of an engine.
type Stats struct {
	Evaluations   int64 // expressions and bodies, and instances that are read with all of their kind
	ProviderCalls int64 // of any kind but those for schemas
}

// New returns an engine. Nothing is started.
func New(opt Options) *Engine { return with(opt, processes.New(opt.Launcher), &accepted.Set{}) }

// Beside returns an engine that uses the same provider processes, and whose operations may overlap with e's.
// It is not closed: e ends the processes.
func (e *Engine) Beside(change func(*Options)) *Engine {
	opt := e.opt
	change(&opt)
	return with(opt, e.providers, e.accepted)
}

// with returns an engine that uses the given providers, with defaults for options that are not set.
func with(opt Options, providers *processes.Set, a *accepted.Set) *Engine {
	if opt.Parallelism <= 0 {
		opt.Parallelism = 10
	}
	if opt.CloseLimit <= 0 {
		opt.CloseLimit = 30 * time.Second
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Leaks == nil {
		opt.Leaks = leak.New()
	}
	if opt.Hashes == nil {
		opt.Hashes = fingerprint.NewHashes()
	}
	if opt.Instead == nil {
		opt.Instead = func(addr.ProviderConfig, addr.Instance) provider.Provider { return nil }
	}
	return &Engine{&host{opt: opt, providers: providers, accepted: a, events: event.NewReporter(opt.Observer, opt.Now, opt.Leaks.Redact)}}
}

// Flush waits until the observer has received every event so far, and returns the observer's errors.
func (e *Engine) Flush() diag.List { return e.events.Flush() }

// Close ends every provider that is still running. It is safe to call more than once.
func (e *Engine) Close() { e.providers.Close() }

// Stats returns the counts so far.
func (e *Engine) Stats() Stats {
	s := e.stats
	s.ProviderCalls = e.providers.Calls()
	return s
}

// Catalog returns the catalog of a provider, starting it if needed.
func (e *Engine) Catalog(ctx context.Context, p addr.Provider) (provider.Catalog, diag.List) {
	return e.providers.Catalog(ctx, p)
}

// ValidateResource has a provider validate a configuration, which has no marks, starting it if needed.
func (e *Engine) ValidateResource(ctx context.Context, p addr.Provider, mode addr.Mode, typeName string, config cty.Value) diag.List {
	return e.providers.Ask(ctx, p, func(p provider.Reader) diag.List { return p.ValidateResource(ctx, mode, typeName, config) })
}

// Compile loads the schemas of the tree's providers and compiles the configuration.
func (e *Engine) Compile(ctx context.Context, tree *config.Tree) (*blocks.Config, diag.List) {
	e.providers.Load(ctx, tree.UsedProviders())
	cfg, diags := blocks.Compile(tree, e.providers.Schemas(ctx))
	e.opt.Coverage.Declare(cfg)
	return cfg, diags
}

// stopOn asks the providers to cancel their operations when soft ends. The returned function ends the watch.
func (h *host) stopOn(soft context.Context) func() {
	return h.providers.StopOn(soft, h.opt.CloseLimit, func() { h.events.Detail(event.Event{Kind: event.Started, Op: event.OpInterrupt}) })
}

// functions returns the function table of the walk for a phase. Searches in it end when interrupted is
// closed.
func (w *walk) functions(phase eval.Phase, stamp time.Time, interrupted <-chan struct{}) map[string]function.Function {
	opt := w.functionOptions(stamp, interrupted)
	opt.PureOnly = phase != eval.Applying
	table := funcs.Table(opt)
	maps.Copy(table, w.opt.Functions)
	return table
}

func (w *walk) functionOptions(stamp time.Time, interrupted <-chan struct{}) funcs.Options {
	return funcs.Options{BaseDir: w.opt.WorkDir, PlanTimestamp: stamp, Timestamp: w.time, Interrupted: interrupted, Fingerprint: w.hasher.Number}
}

// newRun returns a run of the walk, whose host it is.
func (w *walk) newRun(cfg *blocks.Config, phase eval.Phase, result results, variables map[string]cty.Value, stamp time.Time) *eval.Run {
	return eval.NewRun(cfg, w.runOptions(cfg, phase, result, variables, stamp))
}

// results returns the object of a managed or data instance: see eval.Options.
type results = func(*future.Task, *eval.Instance) cty.Value

// runOptions returns the options of a run of the walk. The first interrupt stops evaluations, except in an
// apply; an apply must finish the operations it has begun, so only the second interrupt stops its
// evaluations.
func (w *walk) runOptions(cfg *blocks.Config, phase eval.Phase, result results, variables map[string]cty.Value, stamp time.Time) eval.Options {
	w.rememberVariables(cfg, variables)
	interrupted := w.soft.Done()
	if phase == eval.Applying {
		interrupted = w.ctx.Done()
	}
	return eval.Options{
		Phase: phase, Host: w, Result: result, Variables: variables, Functions: w.functions(phase, stamp, interrupted),
		Workspace: w.opt.Workspace, RootDir: w.opt.RootDir, WorkDir: w.opt.WorkDir, Interrupted: interrupted,
		Coverage: w.opt.Coverage, Redact: w.opt.Leaks.Redact,
	}
}

// workers returns how many tasks run at once: as many as there are slots for provider operations. With more,
// some would be in line for a slot already when a more urgent task gets ready.
func (h *host) workers() int { return h.opt.Parallelism }
