package processes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/bug"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// stopAgain is how long before an interrupt a call must have begun to be sure to be with its provider when
// that is asked to stop.
const stopAgain = time.Second

// proxy counts every call of a provider but those for schemas and for its end, and makes an interrupt reach
// each call that does work: a provider that is asked to stop cancels its current calls, and no later ones.
// For a call that it may have been given later it is asked again.
type proxy struct {
	provider.Provider
	address addr.Provider
	calls   *atomic.Int64
	soft    *atomic.Pointer[context.Context] // ends on the first interrupt; nil between operations
	stopped atomic.Pointer[time.Time]        // when it was last asked to stop
	tending atomic.Int32                     // calls that renew or close open instances: they must not be cancelled
	putOff  atomic.Bool                      // it has put off an answer, and perhaps puts off all
}

// begin counts a call about a type, "" for none, and begins its span.
func (p *proxy) begin(ctx context.Context, name, typeName string) (context.Context, *trace.Span) {
	p.calls.Add(1)
	ctx, span := trace.Start(ctx, name)
	if span != nil {
		span.Kind = trace.Call
		span.Set(trace.Provider, p.address.String())
		span.Set(trace.Type, typeName)
	}
	return ctx, span
}

// note remembers whether the provider has put off an answer.
func (p *proxy) note(d provider.Deferred) {
	if d != "" {
		p.putOff.Store(true)
	}
}

// work makes an interrupt reach a call that does work, and returns the function that ends it.
func (p *proxy) work(ctx context.Context) func() {
	soft := p.soft.Load()
	if soft == nil {
		return func() {}
	}
	begin, ended := time.Now(), make(chan struct{})
	forget := context.AfterFunc(*soft, func() { p.stopLate(ctx, begin, ended) })
	return func() {
		forget()
		close(ended)
	}
}

// stopLate asks the provider to stop once more for a call that is still under way, unless it was asked when
// it had certainly been given the call.
func (p *proxy) stopLate(ctx context.Context, begin time.Time, ended <-chan struct{}) {
	tick := time.NewTicker(stopAgain)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if at := p.stopped.Load(); at != nil && at.Sub(begin) >= stopAgain {
			return
		}
		if p.tending.Load() == 0 {
			_ = bug.Catch(func() error { return p.Stop(ctx) }) // one that cannot stop is waited for
			return
		}
	}
}

// Stop implements provider.Reader.
func (p *proxy) Stop(ctx context.Context) error {
	now := time.Now()
	p.stopped.Store(&now)
	return p.Provider.Stop(ctx)
}

// tend keeps an interrupt from cancelling a call, and returns the function that ends it.
func (p *proxy) tend() func() {
	p.tending.Add(1)
	return func() { p.tending.Add(-1) }
}

// ValidateConfig implements provider.Reader.
func (p *proxy) ValidateConfig(ctx context.Context, v cty.Value) (diags diag.List) {
	ctx, span := p.begin(ctx, "ValidateConfig", "")
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.ValidateConfig(ctx, v)
}

// ValidateResource implements provider.Reader.
func (p *proxy) ValidateResource(ctx context.Context, mode addr.Mode, typeName string, v cty.Value) (diags diag.List) {
	ctx, span := p.begin(ctx, "ValidateResource", typeName)
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.ValidateResource(ctx, mode, typeName, v)
}

// UpgradeResource implements provider.Reader.
func (p *proxy) UpgradeResource(ctx context.Context, req provider.UpgradeRequest) (v cty.Value, diags diag.List) {
	ctx, span := p.begin(ctx, "UpgradeResource", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.UpgradeResource(ctx, req)
}

// ReadResource implements provider.Reader.
func (p *proxy) ReadResource(ctx context.Context, req provider.ReadRequest) (resp provider.ReadResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "ReadResource", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer func() { p.note(resp.Deferred) }()
	defer p.work(ctx)()
	return p.Provider.ReadResource(ctx, req)
}

// PlanResource implements provider.Reader.
func (p *proxy) PlanResource(ctx context.Context, req provider.PlanRequest) (resp provider.PlanResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "PlanResource", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer func() { p.note(resp.Deferred) }()
	defer p.work(ctx)()
	return p.Provider.PlanResource(ctx, req)
}

// ApplyResource implements provider.Changer.
func (p *proxy) ApplyResource(ctx context.Context, req provider.ApplyRequest) (resp provider.ApplyResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "ApplyResource", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer p.work(ctx)()
	return p.Provider.ApplyResource(ctx, req)
}

// ReadData implements provider.Reader.
func (p *proxy) ReadData(ctx context.Context, req provider.DataRequest) (resp provider.DataResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "ReadData", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer func() { p.note(resp.Deferred) }()
	defer p.work(ctx)()
	return p.Provider.ReadData(ctx, req)
}

// ImportResource implements provider.Reader.
func (p *proxy) ImportResource(ctx context.Context, req provider.ImportRequest) (resp provider.ImportResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "ImportResource", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer func() { p.note(resp.Deferred) }()
	defer p.work(ctx)()
	return p.Provider.ImportResource(ctx, req)
}

// OpenEphemeral implements provider.Reader.
func (p *proxy) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (resp provider.OpenResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "OpenEphemeral", typeName)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer func() { p.note(resp.Deferred) }()
	defer p.work(ctx)()
	return p.Provider.OpenEphemeral(ctx, typeName, config)
}

// RenewEphemeral implements provider.Reader.
func (p *proxy) RenewEphemeral(ctx context.Context, typeName string, private []byte) (resp provider.RenewResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "RenewEphemeral", typeName)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer p.tend()()
	return p.Provider.RenewEphemeral(ctx, typeName, private)
}

// CloseEphemeral implements provider.Reader.
func (p *proxy) CloseEphemeral(ctx context.Context, typeName string, private []byte) (diags diag.List) {
	ctx, span := p.begin(ctx, "CloseEphemeral", typeName)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer p.tend()()
	return p.Provider.CloseEphemeral(ctx, typeName, private)
}

// Configure implements provider.Reader.
func (p *proxy) Configure(ctx context.Context, config cty.Value) (diags diag.List) {
	ctx, span := p.begin(ctx, "Configure", "")
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.Configure(ctx, config)
}

// UpgradeIdentity implements provider.Reader.
func (p *proxy) UpgradeIdentity(ctx context.Context, req provider.UpgradeRequest) (v cty.Value, diags diag.List) {
	ctx, span := p.begin(ctx, "UpgradeIdentity", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.UpgradeIdentity(ctx, req)
}

// MoveResource implements provider.Reader.
func (p *proxy) MoveResource(ctx context.Context, req provider.MoveRequest) (resp provider.MoveResponse, diags diag.List) {
	ctx, span := p.begin(ctx, "MoveResource", req.TargetType)
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.MoveResource(ctx, req)
}

// GenerateConfig implements provider.Reader.
func (p *proxy) GenerateConfig(ctx context.Context, req provider.GenerateRequest) (v cty.Value, diags diag.List) {
	ctx, span := p.begin(ctx, "GenerateConfig", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.GenerateConfig(ctx, req)
}

// ValidateList implements provider.Reader.
func (p *proxy) ValidateList(ctx context.Context, req provider.ListRequest) (diags diag.List) {
	ctx, span := p.begin(ctx, "ValidateList", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	return p.Provider.ValidateList(ctx, req)
}

// List implements provider.Reader.
func (p *proxy) List(ctx context.Context, req provider.ListRequest, found func(provider.ListResult) bool) (diags diag.List) {
	ctx, span := p.begin(ctx, "List", req.Type)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer p.work(ctx)()
	return p.Provider.List(ctx, req, found)
}

// PlanAction implements provider.Reader.
func (p *proxy) PlanAction(ctx context.Context, typeName string, config cty.Value) (deferred provider.Deferred, diags diag.List) {
	ctx, span := p.begin(ctx, "PlanAction", typeName)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer func() { p.note(deferred) }()
	defer p.work(ctx)()
	return p.Provider.PlanAction(ctx, typeName, config)
}

// InvokeAction implements provider.Changer.
func (p *proxy) InvokeAction(ctx context.Context, typeName string, config cty.Value, progress func(string)) (diags diag.List) {
	ctx, span := p.begin(ctx, "InvokeAction", typeName)
	defer func() { span.Finish(!diags.HasErrors()) }()
	defer p.work(ctx)()
	return p.Provider.InvokeAction(ctx, typeName, config, progress)
}

// CallFunction implements provider.Reader.
func (p *proxy) CallFunction(ctx context.Context, name string, args []cty.Value) (v cty.Value, err error) {
	ctx, span := p.begin(ctx, "CallFunction", "")
	defer func() { span.Finish(err == nil) }()
	return p.Provider.CallFunction(ctx, name, args)
}
