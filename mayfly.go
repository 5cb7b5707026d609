// Package mayfly is the engine as a library: it opens a configuration, validates, plans and applies it, and
// keeps its state.
//
//	func apply(ctx context.Context, dir string) (*mayfly.Applied, error) {
//		manager, err := local.New(local.Options{Dir: dir}).Manager(store.DefaultWorkspace)
//		if err != nil {
//			return nil, err
//		}
//		p, diags := mayfly.Open(ctx, mayfly.Options{
//			Dir: dir, Launcher: &mayfly.Launcher{}, State: mayfly.StateOptions{Store: manager},
//		})
//		if diags.HasErrors() {
//			return nil, diags.Err()
//		}
//		defer p.Close()
//		op, diags := p.Begin(ctx, "apply", mayfly.BeginOptions{})
//		if diags.HasErrors() {
//			return nil, diags.Err()
//		}
//		defer op.End()
//		planned, diags := op.Plan(ctx, mayfly.PlanOptions{})
//		if diags.HasErrors() {
//			return nil, diags.Err()
//		}
//		applied, diags := op.Apply(ctx, planned, mayfly.ApplyOptions{})
//		return applied, diags.Err()
//	}
//
// Diagnostics are values, never printed here. A Project and its Operations belong to one goroutine; the work
// inside is concurrent. Ephemeral values exist only while an operation uses them, and no result of this
// package contains one.
package mayfly

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/compat"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/ephemeral"
	"github.com/mayfly-iac/mayfly/internal/engine/explain"
	"github.com/mayfly-iac/mayfly/internal/language/config"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/internal/language/eval/coverage"
	"github.com/mayfly-iac/mayfly/internal/language/eval/static"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state/store"
)

// CompatibleVersion is the language and document version that the program is compatible with: constraints of
// modules on OpenTofu's version are checked against it, and it is in the state and JSON documents, where
// tools look for it. Options may choose another one.
const CompatibleVersion = compat.Version

// Options are the configuration, the state and the environment of a project. All but Launcher may be left
// out.
type Options struct {
	Dir      string // of the root module; "." if empty
	WorkDir  string // absolute; the process's if empty. Paths in the configuration of the provider keep are relative to the process's in any case
	Launcher ProviderLauncher
	Loader   *Loader // nil for files on disk and local modules only
	Tree     *Tree   // a tree that was loaded already; Loader is not used then
	// Compatible is the engine that modules, providers and readers of the state take the library for;
	// OpenTofu in CompatibleVersion if it is zero.
	Compatible Engine

	State   StateOptions
	Secrets SecretOptions
	Process ProcessOptions

	Observer    event.Observer // several together with event.Observers. Operation.Flush waits for it
	Parallelism int
	Durations   Durations // of earlier runs, which decide the order of starts; nil if nothing is known
}

// StateOptions say where the state is.
type StateOptions struct {
	Store     store.Manager // nil for operations without state
	Cipher    store.Cipher  // that Store encrypts with; nil for none
	Workspace string        // "default" if empty
}

// SecretOptions govern the treatment of ephemeral values.
type SecretOptions struct {
	// Guard remembers the ephemeral values of all operations, so that the caller can keep them out of its own
	// output; the project has its own if it is nil. Policy is the treatment of values that a provider returns
	// where they would be stored.
	Guard  *Guard
	Policy LeakPolicy
	// ShowSensitive shows the output of provisioners although their arguments are sensitive. If they are
	// ephemeral, it stays hidden.
	ShowSensitive bool
	// Openings records which ephemeral instances are open outside of applies, which have a journal for that,
	// and instances that an apply could not close; nil for none.
	Openings OpeningsRecorder
}

// ProcessOptions are the resources of the process that a project uses.
type ProcessOptions struct {
	Environ []string          // for local-exec; the process's if nil
	Now     func() time.Time  // time.Now if nil
	Log     func(line string) // lines about oddities that are not errors, without values; nil for none
	Random  io.Reader         // for lineages and lock ids; crypto/rand if nil
}

// Project is a loaded configuration with the processes that work on it.
type Project struct {
	Tree *Tree

	opt      Options
	engine   *engine.Engine
	compiled *blocks.Config
}

// Open loads a configuration. The diagnostics may have errors although a Project is returned: its Tree then
// serves for showing sources.
func Open(_ context.Context, opt Options) (*Project, diag.List) {
	var err error
	opt.Dir = cmp.Or(opt.Dir, ".")
	if opt.WorkDir == "" {
		if opt.WorkDir, err = os.Getwd(); err != nil {
			return nil, diag.Errorf("Working directory not found", "%s", diag.Sentence(err))
		}
	}
	opt.State.Workspace, opt.Compatible = cmp.Or(opt.State.Workspace, store.DefaultWorkspace), opt.Compatible.OrDefault()
	if opt.Process.Environ == nil {
		opt.Process.Environ = os.Environ()
	}
	if opt.Process.Now == nil {
		opt.Process.Now = time.Now
	}
	if opt.Loader == nil {
		static := StaticOptions{RootDir: filepath.ToSlash(opt.Dir), WorkDir: opt.WorkDir}
		opt.Loader = &config.Loader{Static: Static(static), StaticMarked: StaticMarked(static)}
	}
	p := &Project{opt: opt, Tree: opt.Tree}
	var diags diag.List
	if p.Tree == nil {
		loader := *opt.Loader
		loader.Version, loader.Terraform = opt.Compatible.Version, opt.Compatible.Name == compat.Terraform
		p.Tree, diags = loader.Load(opt.Dir)
	}
	p.engine = engine.New(engine.Options{
		Launcher: inProject(opt.Launcher, opt.Dir, opt.Compatible), Observer: opt.Observer, Parallelism: opt.Parallelism, Durations: opt.Durations, Now: opt.Process.Now, Workspace: opt.State.Workspace,
		RootDir: filepath.ToSlash(opt.Dir), WorkDir: opt.WorkDir, Environ: opt.Process.Environ, Log: opt.Process.Log, Leaks: opt.Secrets.Guard, LeakPolicy: opt.Secrets.Policy, ShowSensitive: opt.Secrets.ShowSensitive, Recorder: opt.Secrets.Openings,
	})
	return p, diags
}

// BesideOptions are the options of a project beside another one.
type BesideOptions struct {
	Tree     *Tree
	Store    store.Manager
	Observer event.Observer
	// Instead returns a provider that answers for an instance in place of its own, nil for none.
	Instead func(pc addr.ProviderConfig, i addr.Instance) Provider
	// Coverage notes the exercised points of the configuration; nil for none.
	Coverage *Coverage
}

// Beside returns a project with another configuration and state that uses the provider processes of p. It
// belongs to a goroutine of its own, and is not closed.
func (p *Project) Beside(opt BesideOptions) *Project {
	q := &Project{Tree: opt.Tree, opt: p.opt}
	q.opt.State.Store, q.opt.Observer = opt.Store, opt.Observer
	q.engine = p.engine.Beside(func(o *engine.Options) {
		o.Observer, o.Instead, o.Coverage, o.RootDir = opt.Observer, opt.Instead, opt.Coverage, opt.Tree.Root.Dir
	})
	return q
}

// Close ends every process that the project started. It is safe to call more than once.
func (p *Project) Close() { p.engine.Close() }

// compile compiles the configuration once.
func (p *Project) compile(ctx context.Context) (*blocks.Config, diag.List) {
	if p.compiled != nil {
		return p.compiled, nil
	}
	cfg, diags := p.engine.Compile(ctx, p.Tree)
	if !diags.HasErrors() {
		p.compiled = cfg
	}
	return cfg, diags
}

// Reload goes on with another configuration, and with the providers that run.
func (p *Project) Reload(tree *Tree) { p.Tree, p.compiled = tree, nil }

// Catalog returns the catalog of a provider, starting it if needed.
func (p *Project) Catalog(ctx context.Context, source addr.Provider) (Catalog, diag.List) {
	return p.engine.Catalog(ctx, source)
}

// ValidateResource has a provider validate the configuration of an object, which has no marks, starting it if
// needed. The provider need not be configured.
func (p *Project) ValidateResource(ctx context.Context, source addr.Provider, mode addr.Mode, typeName string, config cty.Value) diag.List {
	return p.engine.ValidateResource(ctx, source, mode, typeName, config)
}

// Validate checks the configuration without state and variables. It opens nothing and changes nothing.
func (p *Project) Validate(ctx context.Context) diag.List {
	cfg, diags := p.compile(ctx)
	return p.validated(ctx, cfg, diags)
}

// Check checks the configuration by itself and against the schemas of its providers: that all objects that it
// refers to are declared. Nothing is evaluated.
func (p *Project) Check(ctx context.Context) diag.List {
	_, diags := p.compile(ctx)
	return diags
}

// validated adds the errors of validation to the errors of compilation. Evaluating goes on after errors, so
// that all are found in one run.
func (p *Project) validated(ctx context.Context, cfg *blocks.Config, found diag.List) diag.List {
	if cfg == nil {
		return found
	}
	return append(found, p.engine.Validate(ctx, cfg).Except(found)...)
}

// Explain returns an explainer that answers questions about a plan of the configuration. Nothing is evaluated
// or opened.
func (p *Project) Explain(ctx context.Context, planned *plan.Plan) (*Explainer, diag.List) {
	cfg, diags := p.compile(ctx)
	if cfg == nil || diags.HasErrors() {
		return nil, diags
	}
	return explain.New(cfg, planned), diags
}

// Graph returns the order in which the configuration is planned or applied, by blocks. It needs no state and
// no variables, and has no values. For the order of a plan's changes see plan.Plan.Graph, for the order of a
// state's destruction plan.DestroyGraph.
func (p *Project) Graph(ctx context.Context) (*plan.Graph, diag.List) {
	cfg, diags := p.compile(ctx)
	if cfg == nil || diags.HasErrors() {
		return nil, diags
	}
	return cfg.Graph(), diags
}

// Relevant returns the attributes that contributed to the changes of a plan of the configuration, for showing
// it. Blocks that do not compile contribute nothing. No values are involved.
func (p *Project) Relevant(ctx context.Context, planned *plan.Plan) []plan.RelevantAttribute {
	cfg, _ := p.compile(ctx)
	if cfg == nil {
		return nil
	}
	return cfg.Relevant(planned)
}

// Stats returns counts of the work done so far.
func (p *Project) Stats() Stats { return p.engine.Stats() }

// claimer returns the store of the state if several runs may change the state at the same time; nil if one
// run excludes all others.
func (p *Project) claimer() store.Claimer {
	c, _ := p.opt.State.Store.(store.Claimer)
	return c
}

func (p *Project) random() io.Reader {
	if p.opt.Process.Random != nil {
		return p.opt.Process.Random
	}
	return rand.Reader
}

// errNoStore is returned by state operations of a project that was opened without a store.
var errNoStore = errors.New("the project was opened without a store for its state")

// Variables are values of the root module's input variables, as converted to their types. A variable that is
// absent takes its default.
type Variables map[string]cty.Value

// Types of packages that other programs cannot import, under the names by which they can use them. Their
// fields and methods may change in a minor version.
type (
	// Tree is a loaded configuration: the root module and all that it calls.
	Tree = config.Tree
	// Loader reads the modules of a configuration.
	Loader = config.Loader
	// StaticEvaluator evaluates an expression that must be known before a configuration is complete.
	StaticEvaluator = config.Static

	// Engine is an engine, OpenTofu or Terraform, in a version.
	Engine = compat.Engine

	// Catalog has the schemas of a provider.
	Catalog = provider.Catalog

	// Applied is the result of an apply.
	Applied = engine.Applied
	// Console evaluates expressions in the root module.
	Console = engine.Console
	// Durations has the durations of earlier runs.
	Durations = engine.Durations
	// Generated is a configuration block that was written for an object which is to be imported.
	Generated = engine.Generated
	// Stats counts the actions of a project.
	Stats = engine.Stats
	// Explainer answers questions about a plan.
	Explainer = explain.Explainer
	// Coverage has the points of a configuration that tests have exercised.
	Coverage = coverage.Set
	// OpeningsRecorder records which ephemeral instances are open.
	OpeningsRecorder = ephemeral.Recorder

	// Guard remembers ephemeral values, as keyed hashes, and finds them in texts and values.
	Guard = leak.Guard
	// LeakPolicy is the treatment of ephemeral values that a provider returns where they would be stored.
	LeakPolicy = leak.Policy
)

// The policies.
const (
	StandardLeaks = leak.Standard // confidential ones are withheld and an error, the others are kept with a warning
	StrictLeaks   = leak.Strict   // all are withheld and an error
	LenientLeaks  = leak.Lenient  // all are kept with a warning
)

// NewGuard returns a guard that remembers nothing yet. It may be used by several goroutines.
func NewGuard() *Guard { return leak.New() }

// OptionPlaces are where the addresses in the options of a plan are written; the zero value is for options of
// a command line.
type OptionPlaces = config.OptionPlaces

// StaticOptions are the values with which sources of modules and arguments of backends are evaluated; see
// Static.
type StaticOptions = static.Options

// Static returns an evaluator for the expressions that must be known before a configuration is complete, for
// config.Loader.
func Static(o StaticOptions) StaticEvaluator { return static.New(o).Eval }

// StaticMarked is Static for backend blocks: values may be sensitive and ephemeral, and keep their marks.
func StaticMarked(o StaticOptions) StaticEvaluator { return static.New(o).EvalMarked }

// StaticPartial is StaticMarked without the values of variables: values may be unknown.
func StaticPartial(o StaticOptions) StaticEvaluator { return static.New(o).EvalPartial }

// StaticKeys is Static for encryption blocks: values may be sensitive and ephemeral, and have no marks.
func StaticKeys(o StaticOptions) StaticEvaluator { return static.New(o).EvalKey }

// StaticUnmet reports the validation rules of a variable of the root module that its value does not meet, as
// a plan does. Rules that need more than o and the configuration are left to the plan.
func StaticUnmet(o StaticOptions, root *config.Module, v *config.Variable) diag.List {
	return static.New(o).Unmet(root, v)
}
