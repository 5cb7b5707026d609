package ephemeral

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/event"
	"github.com/mayfly-iac/mayfly/internal/engine/lease"
	"github.com/mayfly-iac/mayfly/internal/provider"
)

// renew implements lease.Thing.Renew.
func (o *opener) renew(ctx context.Context) (at time.Time, err error) {
	err = errReported
	o.run.Guard("renewing "+o.in.Addr().String(), func() { at, err = o.callRenew(ctx) })
	return at, err
}

// callRenew asks the provider for a renewal. Private data in an answer with errors, or one that is too late,
// is not kept: the renewal did not happen, so its retry and the close belong to the one before.
func (o *opener) callRenew(ctx context.Context) (time.Time, error) {
	resp, diags := o.askToRenew(ctx)
	if diags.HasErrors() {
		overwrite(resp.Private, o.private)
		return time.Time{}, o.renewalFailed(diags)
	}
	if ctx.Err() != nil {
		overwrite(resp.Private, o.private)
		return time.Time{}, ctx.Err()
	}
	o.failing.warn("A later try succeeded.")
	o.failing = nil
	o.report(diags)
	o.keepPrivate(resp.Private)
	return resp.RenewAt, nil
}

func (o *opener) askToRenew(ctx context.Context) (resp provider.RenewResponse, diags diag.List) {
	ctx, end := o.begin(ctx, event.OpRenew, &diags)
	defer end(false)
	resp, found := o.p.RenewEphemeral(ctx, o.typeName(), o.private)
	switch {
	case errors.Is(context.Cause(ctx), lease.ErrRenewLimit):
		found = diag.Errorf("Renewal took too long", "The provider did not answer the request to renew %s within %s.", o.in.Addr(), lease.RenewLimit)
	case ctx.Err() != nil:
		found = nil // closing ends renewals, which is not a failure to report
	}
	return resp, o.locate(found)
}

// failedRenewal is a provider's answer to the first of several renewals of an instance that failed in a row.
// It is an error only if the instance is used before a renewal succeeds, so it is held back until that is
// known. It may be used concurrently.
type failedRenewal struct {
	opener *opener
	diags  diag.List
	once   sync.Once
}

// renewalFailed returns the error of a renewal that failed with diags: the same one until a renewal succeeds.
func (o *opener) renewalFailed(diags diag.List) error {
	if o.failing == nil {
		o.failing = &failedRenewal{opener: o, diags: diags}
	}
	return o.failing
}

// Error implements error.
func (f *failedRenewal) Error() string { return "renewing " + f.opener.in.Addr().String() + " failed" }

// fail reports the provider's answer, as the reason why a use failed, unless it has been reported.
func (f *failedRenewal) fail() {
	f.once.Do(func() { f.opener.report(f.diags) })
}

// warn reports the provider's answer as warnings with the events since, unless it has been reported. f may be
// nil.
func (f *failedRenewal) warn(since string) {
	if f == nil {
		return
	}
	f.once.Do(func() {
		diags := slices.Clone(f.diags).AsWarnings()
		for i := range diags {
			if d := &diags[i]; d.Detail != "" {
				d.Detail += "\n\n"
			}
			diags[i].Detail += "This was the answer to a renewal of " + f.opener.in.Addr().String() + ". " + since
		}
		f.opener.report(diags)
	})
}
