package mayfly

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/internal/engine/rounds"
	"github.com/mayfly-iac/mayfly/internal/language/eval/blocks"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
)

// Operation is one use of the state: locked at Begin, unlocked at End. A state that several runs may change
// at the same time is not locked: applying a plan claims the parts that it needs.
type Operation struct {
	// File is the state as it was read, nil if there is none yet.
	File *state.File

	// ours is the state of File with the providers of Terraform's registry at our default one; nil once a new
	// one was written.
	ours *state.State
	// told are the texts of warnings that planning has reported, and that claiming does not repeat.
	told []string

	part    *part.Part   // that was read; nil for the whole state
	purpose *PlanOptions // of the plan that it is for; nil if that is not known
	saved   *plan.Plan   // to be applied; nil for none
	more    func(*state.State)

	p       *Project
	name    string
	locking store.Locking
	lock    string
	writes  func(addr.Instance) bool // the claimed instances; nil without claims
	reread  bool                     // others may have changed the state since it was read
	began   bool                     // a plan was applied, at least in part
	span    *trace.Span              // that the operation is part of; nil for none
}

// spanned calls f in a span of its own.
func spanned(ctx context.Context, name string, f func(context.Context) error) error {
	ctx, span := trace.Start(ctx, name)
	err := f(ctx)
	span.Finish(err == nil)
	return err
}

// outlasting returns a context for work that an interrupt must not cut off.
func (o *Operation) outlasting() context.Context { return trace.With(context.Background(), o.span) }

// BeginOptions control locking.
type BeginOptions struct {
	store.Locking
	// Reads says that the operation only reads the state, so that it can do without the lock.
	Reads bool
	// Whole says that the operation replaces the state as a whole. It excludes all others from its beginning,
	// even if several runs may change the state at the same time.
	Whole bool
	// For are the options of the plan that the operation is for; nil if they are not known. If they have
	// targets, only the rows that the plan needs are read from a state in rows.
	For *PlanOptions
	// Saved is the plan that the operation applies; nil if it makes one itself. If it has targets, only the
	// rows that it was made of are read from a state in rows.
	Saved *plan.Plan
	// More is called with objects that were read later, while the operation plans; nil for no call.
	More func(*state.State)
}

// Begin locks the state, for the named operation ("plan", "apply", ...), and reads it.
func (p *Project) Begin(ctx context.Context, name string, opt BeginOptions) (*Operation, diag.List) {
	o := &Operation{p: p, name: name, locking: opt.Locking, purpose: opt.For, saved: opt.Saved, more: opt.More, span: trace.Of(ctx)}
	if p.opt.State.Store == nil {
		return o, diag.Errorf("No state", "%s", diag.Sentence(errNoStore))
	}
	if !opt.Reads {
		if err := store.CheckWritable(p.opt.State.Store); err != nil {
			return o, diag.Errorf("The state cannot be written", "%s Nothing was done.", diag.Sentence(err))
		}
	}
	if !opt.NoLock && (opt.Whole || p.claimer() == nil) {
		if diags := o.take(ctx, opt.Reads); diags.HasErrors() {
			return o, diags
		}
	}
	if diags := o.read(ctx); diags.HasErrors() {
		return o, append(diags, o.End()...)
	}
	return o, store.RecoveredBy(p.opt.State.Store).Diags()
}

// take locks the state.
func (o *Operation) take(ctx context.Context, reads bool) diag.List {
	info, err := o.info()
	if err == nil {
		err = spanned(ctx, "lock state", func(ctx context.Context) (err error) {
			o.lock, err = o.locking.Take(ctx, o.p.opt.State.Store, info)
			return err
		})
	}
	if err != nil {
		return notLocked(err, reads)
	}
	return nil
}

// info returns the information that other runs see about the operation.
func (o *Operation) info() (store.LockInfo, error) {
	return store.NewLockInfo(o.name, o.p.opt.Compatible.Version, o.p.opt.Process.Now(), o.p.random())
}

// read reads the state.
func (o *Operation) read(ctx context.Context) diag.List {
	err := spanned(ctx, "read state", func(ctx context.Context) error {
		if from := o.partReader(); from != nil {
			if read, err := o.readPart(ctx, from); read || err != nil {
				return err
			}
		}
		f, err := o.p.opt.State.Store.Read(ctx)
		o.hold(f, nil)
		return err
	})
	if err != nil {
		return diag.Errorf("Error reading the state", "%s", diag.Sentence(err))
	}
	return nil
}

// notLocked reports that the state could not be locked.
func notLocked(err error, reads bool) diag.List {
	const summary = "Error acquiring the state lock"
	var held *store.LockError
	switch {
	case errors.Is(err, store.ErrEmptied):
		return diag.Errorf("Error reading the state", "%s", diag.Sentence(err))
	case errors.As(err, &held):
		return diag.Errorf(summary, "%s", lockHeld(err, held.Info))
	case !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS):
		return diag.Errorf(summary, "%s", diag.Sentence(err))
	case reads:
		return diag.Errorf(summary, "%s\n\nLocking needs permission to write to the state and to its directory. This command only reads the state: to run it without the lock, use -lock=false.", diag.Sentence(err))
	}
	return diag.Errorf(summary, "%s\n\nTo change the state, you need permission to write to it and to its directory.", diag.Sentence(err))
}

// lockHeld says that another operation has the lock, with advice.
func lockHeld(err error, holder *store.LockInfo) string {
	text := capitalized(err) + "\n\nOnly one operation at a time may change the state. Wait until the other one has ended, or let Mayfly wait with -lock-timeout=5m."
	if holder != nil {
		text += " If you are sure that the other one does not run any more, remove its lock:\n  mayfly force-unlock " + holder.ID
	}
	return text
}

func (p *Project) random() interface{ Read([]byte) (int, error) } {
	if p.opt.Process.Random != nil {
		return p.opt.Process.Random
	}
	return rand.Reader
}

// Flush waits until the observer has received every event so far, and returns its panics.
func (o *Operation) Flush() diag.List { return o.p.engine.Flush() }

// End unlocks the state, and returns when the observer has received every event. It is safe to call more than
// once.
func (o *Operation) End() diag.List { return append(o.unlock(), o.Flush()...) }

func (o *Operation) unlock() diag.List {
	if o.lock == "" {
		return nil
	}
	id := o.lock
	o.lock = ""
	unlock := func(ctx context.Context) error { return o.p.opt.State.Store.Unlock(ctx, id) }
	if err := spanned(o.outlasting(), "unlock state", unlock); err != nil {
		return diag.Errorf("Error releasing the state lock", "%s\n\nThe lock may still be held. If so, no other run can change the state until it is released.", diag.Sentence(err))
	}
	return nil
}

// State returns the state as it was read, an empty one if there is none.
func (o *Operation) State() *state.State {
	if o.File == nil {
		return state.New()
	}
	if o.ours != nil {
		return o.ours
	}
	return o.File.State
}

// PlanOptions control planning.
type PlanOptions struct {
	Mode              plan.Mode
	Variables         Variables
	Targets, Excludes []addr.Target
	ForceReplace      []addr.Instance
	AssumeUnchanged   []addr.Instance // whose ephemeral attributes are the same as before if they cannot be compared
	Places            OptionPlaces    // of the targets, the excludes and what to replace
	SkipRefresh       bool
	LazyEphemeral     bool            // don't open what only write-only arguments need
	RequireEphemeral  bool            // a plan that would store a sensitive attribute is an error
	AllowDeferral     bool            // leave objects that cannot be planned yet to a later plan: see plan.Plan.Deferrals
	Invoke            []addr.Instance // actions: the plan invokes them, in this order, and changes nothing
	Generated         []*Generated    // by Generate, and in the configuration since
	Soft              context.Context // ends on the first interrupt: work under way is finished, nothing new starts
	Advice            string          // the end of errors about blocks whose instances are unknown; commands to run if it is empty
}

// Plan plans. The plan is returned, for showing, also when there were errors; it cannot be applied then. The
// observer may receive the last events later.
func (o *Operation) Plan(ctx context.Context, opt PlanOptions) (*plan.Plan, diag.List) {
	return o.planRound(ctx, opt, nil)
}

// planRound plans, for a run in rounds if it is given the memory of one.
func (o *Operation) planRound(ctx context.Context, opt PlanOptions, memory *rounds.Memory) (*plan.Plan, diag.List) {
	cfg, diags := o.sound(ctx, opt.Soft)
	if diags.HasErrors() {
		return nil, diags
	}
	if o.reread {
		before := o.State()
		if ds := o.Reread(ctx); ds.HasErrors() {
			return nil, append(diags, ds...)
		}
		forgetOthers(memory, before, o.State(), nil)
	}
	if !o.suits(opt) {
		o.purpose, o.saved = nil, nil
		if ds := o.Reread(ctx); ds.HasErrors() {
			return nil, append(diags, ds...)
		}
	}
	req := o.request(cfg, opt)
	req.Memory, req.Scoped = memory, o.p.claimer() != nil
	late := store.RecoveredBy(o.p.opt.State.Store)
	planned, more := o.p.engine.Plan(ctx, req)
	return planned, append(append(diags, more...), o.besideState(late, planned)...)
}

func (o *Operation) request(cfg *blocks.Config, opt PlanOptions) engine.PlanRequest {
	req := engine.PlanRequest{
		Config: cfg, State: o.State(), Part: o.part, Mode: opt.Mode, Variables: opt.Variables, Targets: opt.Targets, Excludes: opt.Excludes,
		ForceReplace: opt.ForceReplace, AssumeUnchanged: opt.AssumeUnchanged, Places: opt.Places, SkipRefresh: opt.SkipRefresh, LazyEphemeral: opt.LazyEphemeral,
		RequireEphemeral: opt.RequireEphemeral, AllowDeferral: opt.AllowDeferral, Advice: opt.Advice,
		Invoke: opt.Invoke, Generated: opt.Generated, Soft: opt.Soft,
	}
	if o.File != nil {
		req.Meta = o.File.Meta
	}
	return req
}

// Generate imports objects that import blocks name and no resource block declares, and writes blocks for
// them. Nothing is stored. To plan with them, add their text to the configuration, give the project the new
// tree with Reload, and the blocks to Plan.
func (o *Operation) Generate(ctx context.Context, opt PlanOptions) ([]*Generated, diag.List) {
	cfg, diags := o.sound(ctx, opt.Soft)
	if diags.HasErrors() {
		return nil, diags
	}
	out, more := o.p.engine.Generate(ctx, o.request(cfg, opt))
	return out, append(diags, more...)
}

// ImportOptions control importing one object.
type ImportOptions struct {
	Variables Variables
	Soft      context.Context // ends on the first interrupt
}

// Import takes an existing object into the state for an instance of a resource block in the configuration,
// and stores the state. Errors in parts of the configuration that the import does not need are left to the
// next plan.
func (o *Operation) Import(ctx context.Context, to addr.Instance, id string, opt ImportOptions) diag.List {
	cfg, wrong := o.p.compile(ctx)
	if cfg == nil {
		return wrong
	}
	imported, diags := o.p.engine.Import(ctx, engine.ImportRequest{
		Config: cfg, State: o.State(), Variables: opt.Variables, To: to, ID: id, Soft: opt.Soft,
	})
	if imported == nil {
		return causes(wrong, diags)
	}
	return append(diags, o.write(imported, to.String())...)
}

// causes returns the errors that explain why something failed: if it only says that something is not known,
// errors in the configuration are the cause.
func causes(wrong, failed diag.List) diag.List {
	onlyUnknown := !slices.ContainsFunc(failed, func(d diag.Diagnostic) bool { return d.Severity == diag.Error && !d.AboutUnknown() })
	if wrong.HasErrors() && onlyUnknown {
		return wrong
	}
	return failed
}

// ConsoleOptions control a console.
type ConsoleOptions struct {
	Variables Variables       // one that is absent and has no default is unknown
	Planned   bool            // evaluate the objects as a plan would make them, not as the state has them
	Soft      context.Context // ends on the first interrupt; later evaluations fail
}

// Console starts a console, whose Evaluate evaluates expressions about the root module. It changes nothing.
// Instances that expressions open stay open until the console is closed, which must be before the operation
// ends. The console is nil only if the configuration cannot be evaluated at all; errors beside one are about
// values that expressions then see as unknown.
func (o *Operation) Console(ctx context.Context, opt ConsoleOptions) (*Console, diag.List) {
	cfg, diags := o.p.compile(ctx)
	if cfg == nil {
		return nil, diags
	}
	req := engine.ConsoleRequest{Planned: opt.Planned && !diags.HasErrors()}
	req.Config, req.State, req.Variables, req.Soft = cfg, o.State(), opt.Variables, opt.Soft
	if o.File != nil {
		req.Meta = o.File.Meta
	}
	c, more := o.p.engine.Console(ctx, req)
	return c, append(diags, more...)
}

// QueryOptions control a query.
type QueryOptions struct {
	Variables Variables
	Observer  event.ListObserver
	Generate  bool            // have resource and import blocks written for the results
	Soft      context.Context // ends on the first interrupt, and with it all lists
}

// Query lists the objects that the list blocks in the query files of the configuration ask for: a Loader
// reads those files if its field Queries says so. Nothing is stored.
func (o *Operation) Query(ctx context.Context, opt QueryOptions) diag.List {
	cfg, diags := o.sound(ctx, opt.Soft)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, engine.Query(ctx, o.p.engine, engine.QueryRequest{
		Config: cfg, State: o.State(), Variables: opt.Variables, Observer: opt.Observer, Generate: opt.Generate, Soft: opt.Soft,
	})...)
}

// ApplyOptions control applying.
type ApplyOptions struct {
	Variables Variables // variables of the plan, ephemeral ones included
	Soft      context.Context
}

// Apply carries out a plan that was made from the state as this operation read it, and stores the new state,
// also when something failed. The observer may receive the last events later. After an interrupt, it begins
// nothing.
func (o *Operation) Apply(ctx context.Context, planned *plan.Plan, opt ApplyOptions) (*Applied, diag.List) {
	return o.applyRound(ctx, planned, opt, nil)
}

// applyRound applies a plan, for a run in rounds if it is given the memory of one.
func (o *Operation) applyRound(ctx context.Context, planned *plan.Plan, opt ApplyOptions, memory *rounds.Memory) (*Applied, diag.List) {
	if ctx.Err() != nil || opt.Soft != nil && opt.Soft.Err() != nil {
		return nil, diag.Errorf("Apply interrupted", "The interrupt came before the apply began. %s.", spared(o))
	}
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	soft := opt.Soft
	if soft == nil {
		soft = ctx
	}
	read := store.RecoveredBy(o.p.opt.State.Store)
	diags = append(diags, o.Claim(soft, planned)...)
	if diags.HasErrors() {
		return nil, diags
	}
	run, more := o.beginRun(ctx)
	if more.HasErrors() {
		return nil, append(append(diags, more...), o.release()...)
	}
	o.began = true
	before, recording := o.State(), newOpenRun(run)
	applied, more := o.p.engine.Apply(ctx, engine.ApplyRequest{Config: cfg, Plan: planned, Variables: opt.Variables, State: recording, Salts: o.State().Salts, Memory: memory, Soft: opt.Soft, Writes: o.writes})
	diags = append(diags, more...)
	recording.moveTo(o.p.opt.Secrets.Openings)
	diags = append(diags, o.endRun(run)...)
	diags = append(diags, read.ClearDiags(rowsOf(planned))...)
	if o.writes != nil {
		forgetOthers(memory, before, o.State(), planned)
	}
	return applied, append(diags, o.release()...)
}

// beginRun begins to change the rows of the state.
func (o *Operation) beginRun(ctx context.Context) (run state.Run, diags diag.List) {
	base, err := o.base()
	if err != nil {
		return nil, diag.Errorf("Cannot start a state", "%s", diag.Sentence(err))
	}
	if err := o.canEncrypt(base); err != nil {
		return nil, diag.Errorf("Cannot encrypt the state", "%s\n\n%s, because the results could not be recorded.", diag.Sentence(err), spared(o))
	}
	ours := *base
	ours.State = o.State()
	err = spanned(ctx, "start journal", func(ctx context.Context) (err error) {
		run, err = o.p.opt.State.Store.BeginRun(ctx, &ours, o.p.opt.Compatible.Version)
		return err
	})
	if err != nil {
		return nil, diag.Errorf("Cannot start the journal of the state", "%s\n\n%s, because the results could not be recorded.", diag.Sentence(err), spared(o))
	}
	return run, nil
}

// endRun stores the rows that a run has changed. If that fails, the state is kept in a file beside the
// configuration.
func (o *Operation) endRun(run state.Run) diag.List {
	var next *state.File
	err := spanned(o.outlasting(), "write state", func(ctx context.Context) (err error) {
		next, err = run.End(ctx)
		return err
	})
	if err != nil {
		return o.rescue(next, err)
	}
	o.File, o.ours = next, nil
	return nil
}

// canEncrypt returns an error if nothing can be encrypted now, such as when the service that has the key
// cannot be reached. A key that was found is there for the whole run.
func (o *Operation) canEncrypt(f *state.File) error {
	if o.p.opt.State.Cipher == nil {
		return nil
	}
	_, err := o.p.opt.State.Cipher.EncryptState([]byte("{}"), f.Meta)
	return err
}

// base returns the file that a new state follows.
func (o *Operation) base() (*state.File, error) {
	if o.File == nil {
		f, err := state.NewFile(o.p.opt.Compatible.Version, o.p.random())
		if err != nil {
			return nil, err
		}
		o.File = f
	}
	return o.File, nil
}

// Write stores s, a changed copy of State, unless nothing has changed. If that fails, the state is kept in a
// file beside the configuration.
func (o *Operation) Write(s *state.State) diag.List { return o.write(s) }

// write is Write for a state into which the objects of instances were imported.
func (o *Operation) write(s *state.State, imported ...string) diag.List {
	diags := o.claimChange(s, imported)
	if diags.HasErrors() {
		return diags
	}
	run, more := o.beginRun(o.outlasting())
	if diags = append(diags, more...); more.HasErrors() {
		return append(diags, o.release()...)
	}
	state.Change(run, o.State(), s)
	diags = append(diags, o.endRun(run)...)
	return append(diags, o.release()...)
}

// sound compiles the configuration for an operation that needs it free of errors. If it has any, all that
// validating finds is among the diagnostics. Validating ends with soft, which may be nil.
func (o *Operation) sound(ctx, soft context.Context) (*blocks.Config, diag.List) {
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() {
		if soft == nil {
			soft = ctx
		}
		diags = o.p.validated(soft, cfg, diags)
	}
	return cfg, diags
}
