// Package object has the operations on one object that ask its provider: the stored object is decoded and
// upgraded, the real object is read or imported, a change is planned, and results are made fit to be stored.
// Every answer is checked against the contract of resources before anything else sees it.
//
// It may import the packages below the engine, but no evaluation: configurations come as values. It must not
// know other objects, the order of a run, or how a provider is found and configured.
package object

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/engine/contract"
	"github.com/mayfly-iac/mayfly/internal/engine/withheld"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/processes"
	"github.com/mayfly-iac/mayfly/internal/values/fingerprint"
	"github.com/mayfly-iac/mayfly/internal/values/schema"
	"github.com/mayfly-iac/mayfly/plan"
	"github.com/mayfly-iac/mayfly/state"
)

// Env has the values that the operations of a walk share.
type Env struct {
	Ctx       context.Context // of the calls; it ends when the user insists
	Providers *processes.Set
	Events    *event.Reporter
	Sink      func(diag.List)   // reports diagnostics; safe for concurrent use
	Log       func(line string) // receives a line without values; nil for none
	Leaks     contract.Leaks
	Hasher    *fingerprint.Hasher // of the values of ephemeral attributes
	// Deferring says that providers may put off their answers.
	Deferring bool
	// Kept returns a computed value of an earlier round of the same run, if the run has kept it;
	// nil for none.
	Kept func(addr.Object, cty.Path) (cty.Value, bool)
}

// Op is an operation on one object. It asks the object's provider, and makes the answers fit to be planned,
// stored and shown. It belongs to one task. Each answer is checked against the contract of resources before
// anything else sees it, and violations are reported.
type Op struct {
	*Env
	Ctx      context.Context // of its calls: the environment's, with the span of the operation
	Obj      addr.Object
	Schema   *schema.Schema
	Source   addr.Provider
	Body     hcl.Body         // of the block that declares the object; nil if none does
	Provider provider.Reader  // configured for the operation; nil until it is needed
	Answers  contract.Checker // checks Provider's answers about the object against the contract
	Withheld withheld.Attributes
	// Real returns the configuration of the object without marks, for the values that the state does not
	// have. It is called if a provider's answer is odd without them, maybe more than once. It returns false
	// if the configuration cannot be evaluated, which was reported. Nil for none.
	Real func() (cty.Value, bool)
	// Leaves is set if the object is to be destroyed or replaced anyway. It is taken to exist as the state
	// has it if the provider fails to find it without the values that the state does not have.
	Leaves bool
	// Recorded is the object that the state had before the command, if that is another than the one that the
	// operation begins with.
	Recorded *state.Object
	// PutOff is why the provider has put off its last answer, if it may: the operation has failed then
	// without a report. "" if it has answered.
	PutOff provider.Deferred
}

// New begins an operation on an object. Provider is set when it is needed.
func New(env *Env, obj addr.Object, sch *schema.Schema, source addr.Provider) Op {
	return Op{
		Env: env, Ctx: env.Ctx, Obj: obj, Schema: sch, Source: source,
		Withheld: withheld.Attributes{
			Object: obj, Block: sch.Block, Hasher: env.Hasher,
			Report: func(diags diag.List) { env.Sink(diags.WithAddress(obj.Instance.String())) },
		},
		Answers: contract.Checker{Provider: source, Object: obj, Block: sch.Block, Leaks: env.Leaks},
	}
}

// Use sets the configured provider of the operation, and reports whether there is one.
func (op *Op) Use(p provider.Reader, configured addr.ProviderConfig) bool {
	op.Provider, op.Answers.Configured = p, configured
	return p != nil
}

// StartSpan starts the span of the operation, whose calls are part of it. The returned function ends it.
func (op *Op) StartSpan(name string, action plan.Action) (end func(ok bool)) {
	ctx, span := trace.Start(op.Ctx, name)
	if span == nil {
		return func(bool) {}
	}
	op.Ctx = ctx
	span.Set(trace.Address, op.Obj.String())
	span.Set(trace.Type, op.TypeName())
	if action != plan.NoOp {
		span.Set(trace.Action, action.String())
	}
	return span.Finish
}

// PutsOff reports whether the provider has put off its answer, which is an error if it may not. doing names
// the operation that it was asked for.
func PutsOff(op *Op, why provider.Deferred, doing string) (bool, diag.List) {
	if why != "" && op.Deferring {
		op.PutOff = why
		return true, nil
	}
	if why != "" {
		return false, op.Answers.Deferred(doing, why.Text())
	}
	return false, nil
}

// Await says that the provider is asked about an object with computed values that the state does not keep: it
// may log one before it answers. done must be called once the values of the answer are noted, which checking
// it does.
func Await(op *Op) (done func()) {
	if len(op.Withheld.Computed) == 0 {
		return func() {}
	}
	return op.Leaks.Guard.Await(op.Source.String())
}

// warnf writes a line to the log, if there is one. It must have addresses and paths only, never values.
func (e *Env) warnf(format string, args ...any) {
	if e.Log != nil {
		e.Log("[WARN] " + fmt.Sprintf(format, args...))
	}
}

// TypeName returns the type of the resource that the object belongs to.
func (op *Op) TypeName() string { return op.Obj.Resource.Type }

// Block returns the schema of the object.
func (op *Op) Block() *schema.Block { return op.Schema.Block }

// Report reports diagnostics about the object, at the block that declares it unless they have a range.
func (op *Op) Report(diags diag.List) {
	if len(diags) == 0 {
		return
	}
	op.Sink(diags.InConfigBody(op.Body).WithAddress(op.Obj.Instance.String()))
}

// LogIdentity logs that a provider has changed the identity of an object. It may do so, but other tools may
// know the object by the earlier one.
func (op *Op) LogIdentity(doing string, before, after cty.Value) {
	if op.Log == nil || before.IsNull() || !before.IsWhollyKnown() || after.IsNull() || after.RawEquals(before) {
		return
	}
	op.warnf("provider %s gave %s another identity while %s it", op.Source.ForDisplay(), op.Obj, doing)
}

// LogTolerated logs violations that are tolerated from providers of the legacy type system, which have
// always committed them and are known to do no harm by it. errs is called only if there is a log.
func (op *Op) LogTolerated(what contract.Answer, errs func() []error) {
	if op.Log == nil {
		return
	}
	for _, err := range errs() {
		op.warnf("provider %s returned a %s for %s that breaks the rules, which is tolerated because it uses the legacy type system: %s", op.Source.ForDisplay(), what, op.Obj, contract.Text(err, schema.PathString))
	}
}
