package store_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/local"
)

// Example changes a workspace's state under its lock, which another run cannot take meanwhile.
func Example() {
	dir, err := os.MkdirTemp("", "store-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var runs [2]store.Manager
	for i := range runs {
		if runs[i], err = local.New(local.Options{Dir: dir}).Manager(store.DefaultWorkspace); err != nil {
			log.Fatal(err)
		}
	}

	ctx := context.Background()
	info, err := store.NewLockInfo("OperationTypeApply", "1.0.0", time.Now(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	id, err := runs[0].Lock(ctx, info)
	if err != nil {
		log.Fatal(err)
	}
	_, err = runs[1].Lock(ctx, info)
	var locked *store.LockError
	fmt.Println("locked:", errors.As(err, &locked))

	base, err := state.NewFile("1.0.0", rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	next := base.Next(state.New(), "1.0.0")
	if err := errors.Join(runs[0].Write(ctx, next), runs[0].Unlock(ctx, id)); err != nil {
		log.Fatal(err)
	}
	stored, err := runs[1].Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("same state:", state.Unchanged(next, stored))
	// Output:
	// locked: true
	// same state: true
}
