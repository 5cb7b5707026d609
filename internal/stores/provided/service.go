package provided

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/addr"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/provider"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// answerTime is how long a provider may take to answer a call about a state. A run that stores its results
// cannot be interrupted meanwhile, so it must end.
const answerTime = 5 * time.Minute

// service is a remote.Service: a state store of a provider with a configuration.
type service struct {
	processes *Processes
	provider  addr.Provider
	typeName  string
	place     string // for messages

	// store and config are the configurations of the store and of the provider. They may have secrets, and
	// are kept to find out whether a store is in use already and to release a lock after the process has
	// ended.
	store, config cty.Value

	mu     sync.Mutex
	stores provider.StateStores // of the process
	held   map[string]*lock     // by state
}

var _ remote.Service = (*service)(nil)

// equal reports whether two services are for the same configuration.
func (s *service) equal(other *service) bool {
	return s.provider == other.provider && s.typeName == other.typeName && s.store.RawEquals(other.store) && s.config.RawEquals(other.config)
}

// use gives the service the state stores of a process.
func (s *service) use(stores provider.StateStores) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stores = stores
}

// ask makes a call within the time allowed. Its diagnostics become an error.
func (s *service) ask(ctx context.Context, call func(context.Context, provider.StateStores) diag.List) error {
	s.mu.Lock()
	stores := s.stores
	s.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := problem(call(limited, stores))
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

// Workspaces implements remote.Service.
func (s *service) Workspaces(ctx context.Context) (ids []string, err error) {
	err = s.ask(ctx, func(ctx context.Context, stores provider.StateStores) (diags diag.List) {
		ids, diags = stores.States(ctx, s.typeName)
		return diags
	})
	return slices.DeleteFunc(ids, func(id string) bool { return id == store.DefaultWorkspace }), err
}

// Place implements remote.Service.
func (s *service) Place(workspace string) (remote.Place, error) {
	path := fmt.Sprintf("%q of %s", workspace, s.place)
	return remote.Place{Path: path, State: &blob{s, workspace}, Lock: &lock{service: s, id: workspace}}, nil
}

// hold remembers which lock is held on a state; nil for none.
func (s *service) hold(id string, l *lock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[string]*lock{}
	}
	s.held[id] = l
}

// release releases the lock on a state, if this process holds one.
func (s *service) release(ctx context.Context, id string) error {
	s.mu.Lock()
	l := s.held[id]
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.mu.Lock()
	ours := l.ours
	l.mu.Unlock()
	return l.Release(ctx, ours)
}

// blob is a remote.Blob: a state. A provider has no versions of states, so their checksums stand in for them.
type blob struct {
	*service
	id string
}

func versionOf(data []byte) remote.Version {
	if len(data) == 0 {
		return ""
	}
	return remote.Version(fmt.Sprintf("%x", sha256.Sum256(data)))
}

// Get implements remote.Blob. A provider may fail to read a state that it does not have.
func (b *blob) Get(ctx context.Context) (data []byte, _ remote.Version, err error) {
	err = b.ask(ctx, func(ctx context.Context, stores provider.StateStores) (diags diag.List) {
		data, diags = stores.ReadState(ctx, b.typeName, b.id)
		return diags
	})
	if err != nil {
		if !errors.Is(err, errStopped) && ctx.Err() == nil && b.missing(ctx) {
			return nil, "", nil
		}
		return nil, "", err
	}
	return data, versionOf(data), nil
}

// missing reports whether the provider is certain that it does not have the state.
func (b *blob) missing(ctx context.Context) bool {
	var ids []string
	err := b.ask(ctx, func(ctx context.Context, stores provider.StateStores) (diags diag.List) {
		ids, diags = stores.States(ctx, b.typeName)
		return diags
	})
	return err == nil && !slices.Contains(ids, b.id)
}

// Put implements remote.Blob. A provider cannot be asked to write on a condition, so the state is compared
// just before.
func (b *blob) Put(ctx context.Context, data []byte, was remote.Version) (remote.Version, error) {
	_, have, err := b.Get(ctx)
	if err != nil {
		return "", err
	}
	if have != was {
		return "", remote.ErrChanged
	}
	err = b.ask(ctx, func(ctx context.Context, stores provider.StateStores) diag.List {
		return stores.WriteState(ctx, b.typeName, b.id, data)
	})
	if err != nil {
		return "", err
	}
	return versionOf(data), nil
}

// Delete implements remote.Blob. A lock that this process has on the state is released before: providers may
// delete the lock with the state, or refuse to delete a state that is locked.
func (b *blob) Delete(ctx context.Context) error {
	if err := b.release(ctx, b.id); err != nil {
		return err
	}
	return b.ask(ctx, func(ctx context.Context, stores provider.StateStores) diag.List {
		return stores.DeleteState(ctx, b.typeName, b.id)
	})
}
