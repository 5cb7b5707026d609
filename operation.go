package mayfly

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/part"
	"github.com/mayfly-iac/mayfly/internal/engine/rescue"
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
	saved   *plan.Plan   // to be applied; nil for none, and once it is being applied
	more    func(*state.State)
	rows    *rowCount // that were read for the next plan; nil for none

	p       *Project
	name    string
	locking store.Locking
	lock    string
	writes  func(addr.Instance) bool // the claimed instances; nil without claims
	reread  bool                     // others may have changed the state since it was read
	asked   time.Time                // when the last plan began, by the clock of the store; zero if it has none
	began   bool                     // a plan was applied, at least in part
	span    *trace.Span              // that the operation is part of; nil for none
}

// BeginOptions control locking.
type BeginOptions struct {
	store.Locking
	// Reads says that the operation only reads the state, so that it can do without the lock.
	Reads bool
	// Whole says that the operation replaces the state as a whole. It excludes all others from its beginning,
	// even if several runs may change the state at the same time.
	Whole bool
	// For are the options of the plan that the operation is for; nil if they are not known. If they have
	// targets, or the scope of changes, only the rows that the plan needs are read from a state in rows.
	For *PlanOptions
	// Saved is the plan that the operation applies; nil if it makes one itself. If it has targets, or leaves
	// out all that has not changed, only the rows that it was made of are read from a state in rows.
	Saved *plan.Plan
	// More is called with objects that were read later, while the operation plans; nil for no call.
	More func(*state.State)
}

// PlanOptions control planning.
type PlanOptions struct {
	Mode              plan.Mode
	Scope             PlanScope
	Variables         Variables
	Targets, Excludes []addr.Target
	ForceReplace      []addr.Instance
	Refresh           []addr.Target   // of a plan of changes: objects that it looks at in any case
	RefreshOlder      time.Duration   // likewise, all that were last read so long ago; 0 for none
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
	if opt.For != nil && opt.For.Scope == ScopeChanged {
		if diags := refuseScope(o, *opt.For); diags.HasErrors() {
			return o, diags
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

// Flush waits until the observer has received every event so far, and returns its panics.
func (o *Operation) Flush() diag.List { return o.p.engine.Flush() }

// End unlocks the state, and returns when the observer has received every event. It is safe to call more than
// once.
func (o *Operation) End() diag.List { return append(o.unlock(), o.Flush()...) }

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

// outlasting returns a context for work that an interrupt must not cut off.
func (o *Operation) outlasting() context.Context { return trace.With(context.Background(), o.span) }

// spanned calls f in a span of its own.
func spanned(ctx context.Context, name string, f func(context.Context) error) error {
	ctx, span := trace.Start(ctx, name)
	err := f(ctx)
	span.Finish(err == nil)
	return err
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

// read reads the state.
func (o *Operation) read(ctx context.Context) diag.List {
	err := spanned(counting(ctx, o), "read state", func(ctx context.Context) error {
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

// Reread reads the state again, for another plan. The operation must not have the lock, nor claims.
func (o *Operation) Reread(ctx context.Context) diag.List {
	o.reread = false
	return o.read(ctx)
}

// partReader returns the store of the state if it is to read a part of it and can; nil otherwise.
func (o *Operation) partReader() store.PartReader {
	if !o.wantsPart() {
		return nil
	}
	reader, _ := o.p.opt.State.Store.(store.PartReader)
	return reader
}

// wantsPart reports whether the operation needs only a part of the state. A run that excludes all others
// reads the whole.
func (o *Operation) wantsPart() bool {
	opt := o.purpose
	if o.saved != nil && o.saved.Scope != nil {
		opt = &PlanOptions{Targets: o.saved.Targets, Excludes: o.saved.Excludes}
		if o.saved.Extent.Partial() {
			opt.Scope = ScopeChanged
		}
	}
	return opt != nil && (opt.Scope == ScopeChanged || len(opt.Targets) > 0 && restrictedOnly(*opt)) && o.lock == ""
}

// restrictedOnly reports whether nothing but targets says which parts of the state a plan needs.
func restrictedOnly(opt PlanOptions) bool {
	return len(opt.Excludes)+len(opt.Invoke)+len(opt.Generated) == 0 && !opt.AllowDeferral
}

// readPart reads the part of the state that a plan with targets needs. It returns false if it takes the whole
// state to say which one that is.
func (o *Operation) readPart(ctx context.Context, from store.PartReader) (read bool, err error) {
	if o.saved != nil {
		f, err := from.ReadPart(ctx, state.Part{Subjects: part.Made(o.saved)})
		o.hold(f, &part.Part{})
		return true, err
	}
	if o.purpose.Scope == ScopeChanged { // planning reads the rows
		f, err := from.ReadPart(ctx, state.Part{})
		o.hold(f, &part.Part{})
		return true, err
	}
	cfg, diags := o.p.compile(ctx)
	if diags.HasErrors() || !part.Possible(cfg) {
		return false, nil // planning reports errors
	}
	pt, first := part.New(cfg, o.purpose.Targets, o.purpose.Mode, func(ctx context.Context, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
		return o.readMore(ctx, from, p, keep)
	})
	f, err := from.ReadPart(ctx, first)
	if err != nil {
		return false, err
	}
	o.hold(f, nil)
	if f != nil {
		if _, err := pt.Follow(ctx, f.State); err != nil {
			return false, err
		}
		if !part.Suffices(cfg, o.File.State) {
			return false, nil
		}
	}
	o.part = pt
	return true, nil
}

// readMore reads another part of the state, and adds it to the state of the operation.
func (o *Operation) readMore(ctx context.Context, from store.PartReader, p state.Part, keep func(addr.Instance) bool) (*state.State, error) {
	found, err := from.ReadMore(ctx, p, keep)
	if err != nil {
		return nil, err
	}
	if o.File != nil {
		f := *o.File
		f.State = f.State.Copy()
		f.State.AddMissing(found)
		o.hold(&f, o.part)
	}
	found = found.AtDefaultHost(o.p.Tree.Requires)
	if o.more != nil && len(found.Resources) > 0 {
		o.more(found)
	}
	return found, nil
}

// hold keeps a state that was read. f and pt may be nil.
func (o *Operation) hold(f *state.File, pt *part.Part) {
	o.File, o.ours, o.part = f, nil, pt
	if f != nil {
		o.ours = f.State.AtDefaultHost(o.p.Tree.Requires)
	}
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

// canEncrypt returns an error if nothing can be encrypted now, such as when the service that has the key
// cannot be reached. A key that was found is there for the whole run.
func (o *Operation) canEncrypt(f *state.File) error {
	if o.p.opt.State.Cipher == nil {
		return nil
	}
	_, err := o.p.opt.State.Cipher.EncryptState([]byte("{}"), f.Meta)
	return err
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
		results := rescue.Results{
			File: next, Before: o.State(), Part: o.part != nil, Store: o.p.opt.State.Store, Cipher: o.p.opt.State.Cipher, Dir: o.p.opt.WorkDir, Label: o.p.engine.Label,
		}
		return results.Keep(err)
	}
	o.File, o.ours = next, nil
	return nil
}
