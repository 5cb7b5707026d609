package keep

import (
	"context"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/provider/keep/store"
)

// ReadData implements provider.Reader. Names and leases are not secret; values and tokens are not read.
func (p *keepProvider) ReadData(ctx context.Context, req provider.DataRequest) (provider.DataResponse, diag.List) {
	block, diags := blockOf(addr.Data, req.Type)
	switch {
	case diags.HasErrors():
		return provider.DataResponse{}, diags
	case !block.Conforms(req.Config) || req.Config.IsNull() || !req.Config.IsKnown():
		return provider.DataResponse{}, unprepared()
	}
	kept, diags := p.configured().open()
	if diags.HasErrors() {
		return provider.DataResponse{}, diags
	}
	ctx, done := p.during(ctx)
	defer done()
	result := req.Config.AsValueMap()
	var err error
	if req.Type == secretNamesType {
		result["names"], err = names(ctx, kept, text(result["prefix"]))
	} else {
		result["leases"], err = leases(ctx, kept)
	}
	if err != nil {
		return provider.DataResponse{}, explain(err)
	}
	return provider.DataResponse{State: cty.ObjectVal(result)}, nil
}

func names(ctx context.Context, kept *store.Store, prefix string) (cty.Value, error) {
	found, err := kept.SecretNames(ctx, prefix)
	if err != nil || len(found) == 0 {
		return cty.ListValEmpty(cty.String), err
	}
	list := make([]cty.Value, len(found))
	for i, name := range found {
		list[i] = cty.StringVal(name)
	}
	return cty.ListVal(list), nil
}

// leases lists live leases only.
func leases(ctx context.Context, kept *store.Store) (cty.Value, error) {
	live, err := kept.Leases(ctx)
	if err != nil || len(live) == 0 {
		return cty.ListValEmpty(leaseObject), err
	}
	list := make([]cty.Value, len(live))
	for i, l := range live {
		purpose := cty.NullVal(cty.String)
		if l.Purpose != "" {
			purpose = cty.StringVal(l.Purpose)
		}
		list[i] = cty.ObjectVal(map[string]cty.Value{
			"id": cty.StringVal(l.ID), "purpose": purpose, "expires_at": cty.StringVal(l.ExpiresAt.Format(time.RFC3339Nano)),
		})
	}
	return cty.ListVal(list), nil
}
