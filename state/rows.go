package state

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
)

// Run changes the rows of a stored state, from its beginning to its end: objects, outputs of the root module
// and results of checks. Operations of providers on objects are recorded by the methods of Journal. Other
// changes are durable when End returns, or earlier. Its methods are safe for concurrent use.
type Run interface {
	Journal
	Rows
	// End stores all rows that have changed, and ends the run. Operations that have begun must have ended. It
	// returns the state that the run leaves, also if that could not be stored. If ctx is canceled it
	// continues, as far as the store can.
	//
	// After that, also if it failed, nothing is stored any more: the methods of Journal return an error, and
	// changes by Put and its like are lost. A second End returns the same state, with an error.
	End(ctx context.Context) (*File, error)
}

// Rows are the rows of a state as a run has left them so far.
type Rows interface {
	// Object returns an object and the provider configuration that last operated on it; nil if there is none.
	Object(o addr.Object) (*Object, addr.ProviderConfig)
	// Put changes objects without an operation of a provider. A later Commit does not make them durable.
	Put(changes ...ObjectChange)
	// PutOutput changes an output of the root module. One with an unknown value stays as it is; nil or a null
	// value removes it.
	PutOutput(name string, o *Output)
	// PutChecks replaces the results of all checks.
	PutChecks(results []CheckResult)
	// AddSalts adds salts of fingerprints.
	AddSalts(salts ...Salt)
}

// Turner is implemented by runs of stores whose outputs and checks several runs may change at the same time.
type Turner interface {
	// TakeTurn stores all other changes so far, and then outputs and results of checks as they are with the
	// objects that all runs have left. evaluate gets the objects of subjects as they are at one moment, and
	// is called again if it needs more of them, or if another run has stored outputs or results in the
	// meantime. Nothing is locked while it is called. If a run excludes all others, TakeTurn does nothing.
	//
	// It returns when the results are durable. Outputs and results that another run has claimed are left to
	// that run. If ctx ends, nothing of them is stored.
	TakeTurn(ctx context.Context, subjects []Subject, evaluate func(objects *State) Evaluated) error
}

// Evaluated are outputs of the root module and results of checks that were evaluated from the objects of one
// moment. Outputs that are nil, or null, are removed; those with an unknown value stay as they are.
type Evaluated struct {
	Outputs map[string]*Output
	Checks  []CheckResult
	Missing []Subject // that the evaluation needs in addition; then the results do not count
}

// Salt is a random text that fingerprints of values are made with.
type Salt = fingerprint.Salt

// NewRun returns a run that changes base, in whose journal operations are recorded. End calls store with the
// successor of base, or base itself if nothing has changed. version is the program's version.
func NewRun(base *File, version string, journal Journal, store func(context.Context, *File) error) Run {
	return &journaledRun{rows: &rows{state: base.State.Copy()}, journal: journal, base: base, version: version, store: store}
}

// journaledRun is a Run whose rows are in memory until it ends.
type journaledRun struct {
	*rows
	journal Journal
	base    *File
	version string
	store   func(context.Context, *File) error

	ended atomic.Bool // nothing is recorded any more
	left  *File       // by End; protected by rows.mu
}

// errRunEnded is returned if something is to be recorded after the end of a run.
var errRunEnded = errors.New("the run has ended, so that nothing can be recorded any more")

// Begin implements Journal.
func (r *journaledRun) Begin(o addr.Object, action string) (uint64, error) {
	if r.ended.Load() {
		return 0, errRunEnded
	}
	return r.journal.Begin(o, action)
}

// Commit implements Journal.
func (r *journaledRun) Commit(id uint64, changes ...ObjectChange) error {
	if r.ended.Load() {
		return errRunEnded
	}
	r.Put(changes...)
	return r.journal.Commit(id, changes...)
}

// Enqueue implements Queue. A journal that is none makes the results durable at once.
func (r *journaledRun) Enqueue(id uint64, changes ...ObjectChange) (wait func() error) {
	if q, ok := r.journal.(Queue); ok && !r.ended.Load() {
		r.Put(changes...)
		return q.Enqueue(id, changes...)
	}
	err := r.Commit(id, changes...)
	return func() error { return err }
}

// Fail implements Journal.
func (r *journaledRun) Fail(id uint64, changes ...ObjectChange) error {
	if r.ended.Load() {
		return errRunEnded
	}
	r.Put(changes...)
	return r.journal.Fail(id, changes...)
}

// Opening implements Journal.
func (r *journaledRun) Opening(i addr.Instance, p addr.Provider, at time.Time) (uint64, error) {
	if r.ended.Load() {
		return 0, errRunEnded
	}
	return r.journal.Opening(i, p, at)
}

// Closed implements Journal.
func (r *journaledRun) Closed(id uint64) error {
	if r.ended.Load() {
		return errRunEnded
	}
	return r.journal.Closed(id)
}

// Settle implements Settler.
func (r *journaledRun) Settle(instances ...addr.Instance) {
	if s, ok := r.journal.(Settler); ok && !r.ended.Load() {
		s.Settle(instances...)
	}
}

// Record implements Recorder.
func (r *journaledRun) Record(s Settlement) {
	if recorder, ok := r.journal.(Recorder); ok && !r.ended.Load() {
		recorder.Record(s)
	}
}

// HashKey implements Keyed.
func (r *journaledRun) HashKey() []byte {
	if k, ok := r.journal.(Keyed); ok {
		return k.HashKey()
	}
	return nil
}

// NoteReads implements ReadNoter.
func (r *journaledRun) NoteReads(reads Reads) {
	if noter, ok := r.journal.(ReadNoter); ok && !r.ended.Load() {
		noter.NoteReads(reads)
	}
}

// TakeTurn implements Turner.
func (r *journaledRun) TakeTurn(ctx context.Context, subjects []Subject, evaluate func(*State) Evaluated) error {
	t, ok := r.journal.(turner)
	if !ok {
		return nil
	}
	return t.TakeTurn(ctx, r.base.Next(r.result(), r.version), subjects, evaluate)
}

// turner is implemented by journals of runs that are Turners. next is the state as the run leaves it.
type turner interface {
	TakeTurn(ctx context.Context, next *File, subjects []Subject, evaluate func(*State) Evaluated) error
}

// End implements Run.
func (r *journaledRun) End(ctx context.Context) (*File, error) {
	if r.ended.Swap(true) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.left, errRunEnded
	}
	next := r.base.Next(r.result(), r.version)
	if r.base.Serial > 0 && Unchanged(r.base, next) || r.base.Serial == 0 && r.base.State.Empty() && next.State.Empty() {
		next = r.base
	}
	r.mu.Lock()
	r.left = next
	r.mu.Unlock()
	return next, bug.Catch(func() error { return r.store(ctx, next) }) // the caller keeps the state elsewhere
}

// rows are the rows of a state as a run leaves them.
type rows struct {
	mu    sync.Mutex
	state *State
}

// Object implements Rows.
func (r *rows) Object(o addr.Object) (*Object, addr.ProviderConfig) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.state.Instance(o.Instance)
	if in == nil {
		return nil, addr.ProviderConfig{}
	}
	return in.object(o.Deposed), in.Provider
}

// Put implements Rows.
func (r *rows) Put(changes ...ObjectChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		c.Apply(r.state)
	}
}

// PutOutput implements Rows.
func (r *rows) PutOutput(name string, o *Output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.SetOutput(name, o)
}

// PutChecks implements Rows.
func (r *rows) PutChecks(results []CheckResult) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Checks = results
}

// AddSalts implements Rows.
func (r *rows) AddSalts(salts ...fingerprint.Salt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.AddSalts(salts...)
}

// result returns the state with all changes so far.
func (r *rows) result() *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.Copy()
}

// Change makes the rows the same as next, a changed copy of the state from that the run began with.
func Change(r Rows, from, next *State) {
	r.Put(Diff(from, next)...)
	for name := range from.Outputs {
		if next.Outputs[name] == nil {
			r.PutOutput(name, nil)
		}
	}
	for name, o := range next.Outputs {
		if from.Outputs[name] != o {
			r.PutOutput(name, o)
		}
	}
	r.PutChecks(next.Checks)
	r.AddSalts(next.Salts...)
}

// Diff returns the changes that turn the objects of from into the objects of to, in the order of the state
// file: first the objects that to has, then those that it lacks. Objects are compared as pointers, so
// both states should be made of the same one. It takes no time for resources that they share.
func Diff(from, to *State) []ObjectChange {
	var changes []ObjectChange
	for r := range to.apart(from).AllResources() {
		old := from.Resources[r.Addr]
		for _, k := range r.Keys() {
			changes = appendDiff(changes, r.Addr.Instance(k), old.instance(k), r.Instances[k])
		}
	}
	for r := range from.apart(to).AllResources() {
		next := to.Resources[r.Addr]
		for _, k := range r.Keys() {
			changes = appendGone(changes, r.Addr.Instance(k), r.Instances[k], next.instance(k))
		}
	}
	return changes
}

// apart returns the resources that s does not share with other.
func (s *State) apart(other *State) *State {
	out := New()
	for a, r := range s.Resources {
		if other.Resources[a] != r {
			out.Resources[a] = r
		}
	}
	return out
}

// instance returns an instance of r, nil if there is none. r may be nil.
func (r *Resource) instance(k addr.Key) *Instance {
	if r == nil {
		return nil
	}
	return r.Instances[k]
}

// appendDiff appends the objects of an instance that differ from those before. Another provider configuration
// is a change of every object.
func appendDiff(changes []ObjectChange, a addr.Instance, before, now *Instance) []ObjectChange {
	if before == now {
		return changes
	}
	if before == nil || before.Provider != now.Provider {
		before = &Instance{}
	}
	if now.Current != nil && now.Current != before.Current {
		changes = append(changes, ObjectChange{Object: addr.Object{Instance: a}, Provider: now.Provider, New: now.Current})
	}
	for _, key := range now.DeposedKeys() {
		if o := now.Deposed[key]; o != before.Deposed[key] {
			changes = append(changes, ObjectChange{Object: addr.Object{Instance: a, Deposed: key}, Provider: now.Provider, New: o})
		}
	}
	return changes
}

// appendGone appends the removal of the objects that an instance does not have any more.
func appendGone(changes []ObjectChange, a addr.Instance, before, now *Instance) []ObjectChange {
	if before == now {
		return changes
	}
	if now == nil {
		now = &Instance{}
	}
	if before.Current != nil && now.Current == nil {
		changes = append(changes, ObjectChange{Object: addr.Object{Instance: a}})
	}
	for _, key := range before.DeposedKeys() {
		if now.Deposed[key] == nil {
			changes = append(changes, ObjectChange{Object: addr.Object{Instance: a, Deposed: key}})
		}
	}
	return changes
}

// EncodeChange returns a change as one line of JSON without its end: the form that a journal has it in, but
// without the salts.
func EncodeChange(c ObjectChange) []byte {
	c.Salts = nil
	return appendChange(nil, c)
}

// DecodeChange reads the result of EncodeChange. The error does not quote src.
func DecodeChange(src []byte) (ObjectChange, error) {
	var r changeRecord
	if err := json.Unmarshal(src, &r); err != nil {
		return ObjectChange{}, errors.New("a changed object is not valid JSON")
	}
	return newDecoder().change(&r)
}
