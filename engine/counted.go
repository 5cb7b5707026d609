package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/provider"
)

// stopAgain is how long before an interrupt a call must have begun to be sure to be with its provider when
// that is asked to stop.
const stopAgain = time.Second

// counted counts the operations on a provider, and sees to it that an interrupt reaches each that does work:
// a provider cancels what it is doing when it is asked to stop, and nothing that comes to it later. For a
// call that may have come later it is asked again.
type counted struct {
	provider.Provider
	calls   *atomic.Int64
	soft    *atomic.Pointer[context.Context] // ends on the first interrupt; nil between operations
	stopped atomic.Pointer[time.Time]        // when it was last asked to stop
	tending atomic.Int32                     // calls that keep or close what is open: they must not be cancelled
}

// working begins a call, and returns what ends it.
func (c *counted) working(ctx context.Context) func() {
	c.calls.Add(1)
	soft := c.soft.Load()
	if soft == nil {
		return func() {}
	}
	begin, ended := time.Now(), make(chan struct{})
	forget := context.AfterFunc(*soft, func() { c.stopLate(ctx, begin, ended) })
	return func() {
		forget()
		close(ended)
	}
}

// stopLate asks the provider to stop once more for a call that is still under way, if none of the askings is
// sure to have come after the call.
func (c *counted) stopLate(ctx context.Context, begin time.Time, ended <-chan struct{}) {
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
		if at := c.stopped.Load(); at != nil && at.Sub(begin) >= stopAgain {
			return
		}
		if c.tending.Load() == 0 {
			_ = c.Stop(ctx) // one that cannot stop is waited for
			return
		}
	}
}

// Stop implements provider.Reader.
func (c *counted) Stop(ctx context.Context) error {
	now := time.Now()
	c.stopped.Store(&now)
	return c.Provider.Stop(ctx)
}

func (c *counted) tend() func() {
	c.tending.Add(1)
	return func() { c.tending.Add(-1) }
}

func (c *counted) ValidateConfig(ctx context.Context, v cty.Value) diag.List {
	c.calls.Add(1)
	return c.Provider.ValidateConfig(ctx, v)
}

func (c *counted) ValidateResource(ctx context.Context, mode addr.Mode, typeName string, v cty.Value) diag.List {
	c.calls.Add(1)
	return c.Provider.ValidateResource(ctx, mode, typeName, v)
}

func (c *counted) UpgradeResource(ctx context.Context, req provider.UpgradeRequest) (cty.Value, diag.List) {
	c.calls.Add(1)
	return c.Provider.UpgradeResource(ctx, req)
}

func (c *counted) ReadResource(ctx context.Context, req provider.ReadRequest) (provider.ReadResponse, diag.List) {
	defer c.working(ctx)()
	return c.Provider.ReadResource(ctx, req)
}

func (c *counted) PlanResource(ctx context.Context, req provider.PlanRequest) (provider.PlanResponse, diag.List) {
	defer c.working(ctx)()
	return c.Provider.PlanResource(ctx, req)
}

func (c *counted) ApplyResource(ctx context.Context, req provider.ApplyRequest) (provider.ApplyResponse, diag.List) {
	defer c.working(ctx)()
	return c.Provider.ApplyResource(ctx, req)
}

func (c *counted) ReadData(ctx context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	defer c.working(ctx)()
	return c.Provider.ReadData(ctx, req)
}

func (c *counted) ImportResource(ctx context.Context, req provider.ImportRequest) (provider.ImportResponse, diag.List) {
	defer c.working(ctx)()
	return c.Provider.ImportResource(ctx, req)
}

func (c *counted) OpenEphemeral(ctx context.Context, typeName string, config cty.Value) (provider.OpenResponse, diag.List) {
	defer c.working(ctx)()
	return c.Provider.OpenEphemeral(ctx, typeName, config)
}

func (c *counted) RenewEphemeral(ctx context.Context, typeName string, private []byte) (provider.RenewResponse, diag.List) {
	defer c.tend()()
	return c.Provider.RenewEphemeral(ctx, typeName, private)
}

func (c *counted) CloseEphemeral(ctx context.Context, typeName string, private []byte) diag.List {
	defer c.tend()()
	return c.Provider.CloseEphemeral(ctx, typeName, private)
}
