package remote_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/state/store"
)

// fake is a service in memory.
type fake struct {
	mu         sync.Mutex
	workspaces map[string]*content
	journals   bool // there is room for journals
	writes     int

	// fault is asked about every request, which has the given number from 1, before it is carried out.
	fault    func(n int, request string) fault
	requests int

	// slow is how long a request to lock takes on its way there and on its way back.
	slow time.Duration
}

// content is what the fake has for one workspace.
type content struct {
	data    []byte
	version remote.Version
	lock    *store.LockInfo
	parts   map[string][]byte
}

// fault is what happens to one request.
type fault int

const (
	none     fault = iota
	unsent         // it never arrives, and the client does not know
	unheard        // it is carried out, and the answer is lost
	refused        // it is answered with an error that does not pass
	repeated       // it arrives twice
)

var errRefused = errors.New("the service refuses")

func newFake() *fake { return &fake{workspaces: map[string]*content{}, journals: true} }

func (f *fake) at(name string) *content {
	if f.workspaces[name] == nil {
		f.workspaces[name] = &content{parts: map[string][]byte{}}
	}
	return f.workspaces[name]
}

// do carries out a request.
func (f *fake) do(request string, effect func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	what := none
	if f.fault != nil {
		what = f.fault(f.requests, request)
	}
	lost := &remote.Passing{Err: errors.New("the connection was lost")}
	switch what {
	case unsent:
		return lost
	case refused:
		return errRefused
	}
	err := effect()
	if what == repeated {
		_ = effect() // only the first answer is heard
	}
	if what == unheard {
		return lost
	}
	return err
}

func (f *fake) Workspaces(context.Context) (names []string, err error) {
	return names, f.do("workspaces", func() error {
		names = nil
		for name, c := range f.workspaces {
			if c.version != "" {
				names = append(names, name)
			}
		}
		return nil
	})
}

func (f *fake) Place(workspace string) (remote.Place, error) {
	b := &blob{f, workspace}
	p := remote.Place{Path: "fake://" + workspace, State: b, Lock: b}
	if f.journals {
		p.Parts = parts{b}
	}
	return p, nil
}

type blob struct {
	*fake
	name string
}

func (b *blob) Get(context.Context) (data []byte, v remote.Version, err error) {
	err = b.do("get", func() error {
		c := b.at(b.name)
		data, v = bytes.Clone(c.data), c.version
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return data, v, nil
}

func (b *blob) Put(_ context.Context, data []byte, was remote.Version) (v remote.Version, err error) {
	return v, b.do("put", func() error {
		c := b.at(b.name)
		if c.version != was {
			return remote.ErrChanged
		}
		b.writes++
		c.data, c.version = bytes.Clone(data), remote.Version(strconv.Itoa(b.writes))
		v = c.version
		return nil
	})
}

func (b *blob) Delete(context.Context) error {
	return b.do("delete", func() error {
		c := b.at(b.name)
		c.data, c.version = nil, ""
		return nil
	})
}

// Take sends a request that is carried out also if the client goes away.
func (b *blob) Take(ctx context.Context, info store.LockInfo) error {
	answer := make(chan error, 1)
	go func() {
		time.Sleep(b.slow)
		err := b.take(info)
		time.Sleep(b.slow)
		answer <- err
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return &remote.Passing{Err: ctx.Err()}
	}
}

func (b *blob) take(info store.LockInfo) error {
	return b.do("take", func() error {
		c := b.at(b.name)
		if c.lock != nil {
			holder := *c.lock
			return &store.LockError{Info: &holder}
		}
		c.lock = &info
		return nil
	})
}

func (b *blob) Release(_ context.Context, id string) error {
	return b.do("release", func() error {
		c := b.at(b.name)
		if c.lock == nil {
			return store.ErrNotLocked
		}
		if c.lock.ID != id {
			return &store.LockError{Info: c.lock}
		}
		c.lock = nil
		return nil
	})
}

func (b *blob) Holder(context.Context) (info *store.LockInfo, err error) {
	return info, b.do("holder", func() error { info = b.at(b.name).lock; return nil })
}

func (b *blob) Check(_ context.Context, id string) error {
	return b.do("check", func() error {
		if c := b.at(b.name); c.lock == nil || c.lock.ID != id {
			return fmt.Errorf("%w: another run has it", store.ErrLockLost)
		}
		return nil
	})
}

type parts struct{ *blob }

func (p parts) List(context.Context) (names []string, err error) {
	return names, p.do("list", func() error {
		names = nil
		for name := range p.at(p.name).parts {
			names = append(names, name)
		}
		return nil
	})
}

func (p parts) Get(_ context.Context, name string) (data []byte, err error) {
	return data, p.do("get part", func() error { data = slices.Clone(p.at(p.name).parts[name]); return nil })
}

func (p parts) Put(_ context.Context, name string, data []byte) error {
	return p.do("put part", func() error { p.at(p.name).parts[name] = bytes.Clone(data); return nil })
}

func (p parts) Remove(_ context.Context, names []string) error {
	return p.do("remove parts", func() error {
		for _, name := range names {
			delete(p.at(p.name).parts, name)
		}
		return nil
	})
}

// snapshot returns a text of everything that the fake has for the default workspace.
func (f *fake) snapshot() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.at(store.DefaultWorkspace)
	return fmt.Sprintf("%x %s %d parts, locked %v", sha256.Sum256(c.data), c.version, len(c.parts), c.lock != nil)
}
