// Package ephemeral opens ephemeral resource instances and configures providers from them, and holds both
// open for as long as something uses them or may still come to use them. A user needs not know whether a
// provider is configured from ephemeral values, so the pool gives out the other providers too.
//
// It may import lease, which decides when something is opened and closed, eval, which evaluates the
// configurations of instances and providers, the packages of providers, and plan for the names of actions. It
// must not know plans, states and the objects of managed resources.
package ephemeral

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/base/future"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/language/eval"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/processes"
	"github.com/mayfly-iac/mayfly/internal/values/leak"
	"github.com/mayfly-iac/mayfly/internal/values/value"
)

// Options are the parameters of a Pool. All are needed.
type Options struct {
	Ctx       context.Context // ends when the user insists; operations are abandoned then
	Soft      context.Context // ends on the first interrupt; nothing new is opened then
	Providers *processes.Set
	Events    *event.Reporter
	Limit     time.Duration // for one Close of an instance
	Now       func() time.Time
	// Accepted reports whether the provider had no remarks on a configuration when it was asked before.
	Accepted func(pc addr.ProviderConfig, config cty.Value) bool
	// Leaks remembers opened objects and the configurations of providers; nil for none.
	Leaks *leak.Guard
	// LeakUse tells the configurations of this pool apart from others; see leak.Source.
	LeakUse int64
	// Computed notes that something uses values which a provider has computed and which are not stored. It
	// returns an error if one cannot be had.
	Computed func(user string, of []value.Computed) diag.List
	// Recorder records open instances, in case the process is killed; nil for none.
	Recorder Recorder
	// Instead returns a stand-in that answers for an instance in place of its provider, nil for none.
	Instead func(pc addr.ProviderConfig, i addr.Instance) provider.Provider
}

// Recorder makes durable which instances are open, by their names alone, so that a later run can list those
// that a run which was killed could not close. It may be used concurrently.
type Recorder interface {
	// Opening records that an instance is about to be opened by a provider. It returns when the record is
	// durable. After an error, the instance must not be opened. An id of 0 says that nothing was recorded.
	Opening(i addr.Instance, p addr.Provider, at time.Time) (id uint64, err error)
	// Closed records that nothing of an opening is left.
	Closed(id uint64) error
}

// noRecorder is a Recorder that records nothing.
type noRecorder struct{}

func (noRecorder) Opening(addr.Instance, addr.Provider, time.Time) (uint64, error) { return 0, nil }
func (noRecorder) Closed(uint64) error                                             { return nil }

// Pool holds open instances and providers. It adds to the pool of leases, whose claims announce later uses,
// how things are opened. Its methods may be called concurrently, once a run is bound.
type Pool struct {
	*lease.Pool[eval.Use, content]
	opt  Options
	run  *eval.Run
	user *processes.User
	// OnlyKnown refuses configurations of providers with unknown parts: the requests to the providers cannot
	// wait until apply.
	OnlyKnown bool
	// Deferring leaves providers whose configurations have unknown parts to a later plan, and lets providers
	// put off openings.
	Deferring bool

	durable sync.Map // *eval.ProviderObject → *future.Cell[provider.Reader], those that open nothing
	brief   brief
}

// content is a thing in the pool: an ephemeral object or a provider.
type content struct {
	object   cty.Value
	provider provider.Reader
	fresh    func() bool // of a provider: whether its configuration may still be used, renewing instances if it is time
	// outOfReach is set of an instance that cannot be opened before a later plan.
	outOfReach bool
	putOff     []*eval.Instance // the instances whose providers have put off their opening, for which this cannot be had
}

// NewPool returns a pool in which nothing is open.
func NewPool(opt Options) *Pool {
	if opt.Recorder == nil {
		opt.Recorder = noRecorder{}
	}
	p := &Pool{opt: opt, user: opt.Providers.Join()}
	p.Pool = lease.NewPool[eval.Use, content](lease.Options[eval.Use]{
		Group:        eval.Use.Group,
		Uses:         func(u eval.Use) []eval.Use { return p.run.UsesOf(&future.Task{}, u) },
		CloseLimit:   opt.Limit,
		CloseTimeout: func(u eval.Use) { p.run.Report(p.closeLate(u)) },
		Now:          opt.Now,
	})
	return p
}

// Bind sets the run that claims are about and problems are reported to. It must be called before anything is
// claimed or opened. Instances and providers of other runs over the same configuration may be opened too.
func (p *Pool) Bind(run *eval.Run) { p.run = run }

// errInterrupted is why nothing is opened after an interrupt.
var errInterrupted = errors.New("the run was interrupted before")

// errNotAwaited is why something is not used that another operation was opening or closing at an interrupt.
var errNotAwaited = errors.New("the run was interrupted while another operation opened or closed it")

// errReported stands for diagnostics that were already reported.
var errReported = errors.New("the reason was reported")

func (p *Pool) reportAcquire(u eval.Use, err error) {
	switch {
	case errors.Is(err, lease.ErrExpired):
		if f, ok := errors.AsType[*failedRenewal](err); ok {
			f.fail()
		}
		diags := diag.Errorf("Ephemeral resource expired",
			"%s could not be renewed, so its value may no longer be valid and is not used any more. The provider's own error is shown separately.", useText(u)).WithAddress(useText(u))
		if r := p.resource(u); r != nil {
			diags[0].Subject = r.Block.Config.Range.Ptr()
		}
		p.run.Report(p.checkWarnings(u, diags))
	case errors.Is(err, errReported):
	case errors.Is(err, errNotAwaited):
		p.run.Report(diag.Errorf("Operation interrupted", "%s was not used: %s.", useText(u), err).WithAddress(useText(u)))
	default:
		p.run.Report(diag.Errorf("Operation interrupted", "%s was not opened: %s.", useText(u), err).WithAddress(useText(u)))
	}
}

// useText returns the address of the instance or provider that is open for a use.
func useText(u eval.Use) string {
	if u.Kind == eval.UseProvider {
		return u.Provider.String()
	}
	return u.Instance.String()
}

// resource returns the resource of an instance, nil for a provider, which is never renewed itself.
func (p *Pool) resource(u eval.Use) *eval.Resource {
	m := p.run.Module(u.Instance.Module)
	if m == nil {
		return nil
	}
	return m.Resource(u.Instance.Resource)
}

// checkWarnings makes warnings of errors that concern an instance nested in a check.
func (p *Pool) checkWarnings(u eval.Use, diags diag.List) diag.List {
	r := p.resource(u)
	if r == nil {
		return diags
	}
	return r.Block.AsCheckWarnings(diags)
}
