package backend

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/inmem"
)

// A store in memory lasts as long as the process, so it serves tests of what uses a backend.
var inmemKind = declare("inmem", arguments{"lock_id": text().about("accepted for compatibility, without effect: nothing is locked from the start")}, nil)

func init() {
	memory := inmem.New()
	where := func(cty.Value) string { return "memory" }
	inmemKind.service = service{
		open:  func(context.Context, cty.Value, Env) (store.Store, error) { return memory, nil },
		place: where, identity: where,
	}
}
