package backend

import (
	"context"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/state/store"
)

// A store in memory lasts as long as the process, so it serves tests of what uses a backend.
var inmemKind = declare("inmem", arguments{"lock_id": text().about("ID of a lock that the default workspace has from the start, for tests of what locks do")}, nil)

func init() {
	memory := inmem.New()
	var lock sync.Once // since the configuration may be opened again after the lock was released
	where := func(cty.Value) string { return "memory" }
	inmemKind.service = service{
		open: func(ctx context.Context, cfg cty.Value, _ Env) (store.Store, error) {
			var err error
			if id := cfg.GetAttr("lock_id"); !id.IsNull() {
				lock.Do(func() { err = lockInMemory(ctx, memory, id.AsString()) })
			}
			return memory, err
		},
		place: where, identity: where,
	}
}

// lockInMemory locks the default workspace as another run would.
func lockInMemory(ctx context.Context, memory *inmem.Store, id string) error {
	m, err := memory.Manager(store.DefaultWorkspace)
	if err != nil {
		return err
	}
	_, err = m.Lock(ctx, store.LockInfo{ID: id, Operation: "test", Who: "lock_id of the backend block", Created: time.Now()})
	return err
}
