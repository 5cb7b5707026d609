package kinds

import (
	"context"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/backend"
	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/state/store"
)

// A store in memory lasts as long as the process, so it serves tests of the users of a backend.
var inmemKind = backend.Declare("inmem", backend.Arguments{"lock_id": backend.Text().About("ID of a lock that the default workspace has from the start, for tests of what locks do")}, nil, inMemory())

func inMemory() backend.Service {
	memory := inmem.New()
	var lock sync.Once // since the configuration may be opened again after the lock was released
	where := func(backend.Config) string { return "memory" }
	return backend.Service{
		Open: func(ctx context.Context, cfg backend.Config, _ backend.Env) (store.Store, error) {
			var err error
			if id := cfg.Text("lock_id"); id != "" {
				lock.Do(func() { err = lockInMemory(ctx, memory, id) })
			}
			return memory, err
		},
		Place: where, Identity: where,
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
