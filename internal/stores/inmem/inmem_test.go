package inmem_test

import (
	"errors"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/inmem"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		s := inmem.New()
		return storetest.Harness{
			Volatile: true, Histories: 100,
			Open:    func() store.Store { return s },
			Corrupt: func(workspace string, data []byte) error { s.Put(workspace, data); return nil },
			Stored:  func(workspace string) ([]byte, error) { return s.Get(workspace), nil },
		}
	})
}

func TestLockLost(t *testing.T) {
	s := inmem.New()
	a, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	id, err := a.Lock(t.Context(), storetest.Info("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Unlock(t.Context(), id); err != nil {
		t.Fatal(err) // a forced unlock
	}
	err = a.Write(t.Context(), &state.File{Meta: state.Meta{Lineage: "l", Serial: 1, Version: "1.0.0"}, State: state.New()})
	if !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing without the lock: %v", err)
	}
	if s.Get(store.DefaultWorkspace) != nil {
		t.Error("something was stored")
	}
}
