//go:build !mayfly_no_consul

package consul_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/consul"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/consulserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

const path = "infra/state"

func open(t *testing.T, address string, opt consul.Options) store.Store {
	t.Helper()
	opt.Address = strings.TrimPrefix(address, "http://")
	if opt.Path == "" {
		opt.Path = path
	}
	s, err := consul.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return remote.New(s, remote.Options{Version: "1.0.0"})
}

func manager(t *testing.T, address string, opt consul.Options) store.Manager {
	t.Helper()
	m, err := open(t, address, opt).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConformance(t *testing.T) {
	for name, opt := range map[string]consul.Options{"plain": {}, "gzip": {Gzip: true}, "no locking": {NoLock: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				s := consulserver.Start(t)
				key := func(workspace string) string {
					if workspace == store.DefaultWorkspace {
						return path
					}
					return path + "-env:" + workspace
				}
				return storetest.Harness{
					Open: func() store.Store { return open(t, s.URL, opt) },
					Corrupt: func(workspace string, data []byte) error {
						s.Set(key(workspace), data)
						return nil
					},
					Stored: func(workspace string) ([]byte, error) {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						if e := s.Entries[key(workspace)]; e != nil {
							return e.Value, nil
						}
						return nil, nil
					},
					NoLock: opt.NoLock,
				}
			})
		})
	}
}

func TestCuts(t *testing.T) {
	storetest.RunCuts(t, storetest.Remote{
		Server: func(t *testing.T, _ string) string { return consulserver.Start(t).Listener.Addr().String() },
		Open: func(t *testing.T, place, address string) store.Store {
			return open(t, address, consul.Options{Path: place})
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return consulserver.Start(t).URL },
		func(t *testing.T, url string) store.Store { return open(t, url, consul.Options{}) })
}

// TestChunks stores states that are too large for one value.
func TestChunks(t *testing.T) {
	for _, gzip := range []bool{false, true} {
		s := consulserver.Start(t)
		m := manager(t, s.URL, consul.Options{Gzip: gzip})
		for serial, objects := range []int{20_000, 25_000, 1} {
			if err := m.Write(t.Context(), storetest.File(t, "l", uint64(serial+1), objects)); err != nil {
				t.Fatal(err)
			}
			f, err := manager(t, s.URL, consul.Options{Gzip: !gzip}).Read(t.Context())
			if err != nil || len(f.State.Managed()) != objects {
				t.Fatalf("Read, gzip %t: got %v, want %d objects", gzip, err, objects)
			}
			s.Mu.Lock()
			if chunks := len(s.Entries) - 1; (chunks > 0) != (objects > 1 && !gzip) || chunks > 12 {
				t.Errorf("%d objects, gzip %t: got %d other keys left, want chunks of a large state alone", objects, gzip, chunks)
			}
			s.Mu.Unlock()
		}
	}
}

// TestLostLock ends the session of a run, and gives its lock to another one: the run begins nothing more.
func TestLostLock(t *testing.T) {
	for name, taken := range map[string]bool{"session ended": false, "taken": true} {
		t.Run(name, func(t *testing.T) {
			s := consulserver.Start(t)
			m := manager(t, s.URL, consul.Options{})
			if _, err := m.Lock(t.Context(), storetest.Info("a")); err != nil {
				t.Fatal(err)
			}
			j, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
			if err == nil {
				_, err = j.Begin(storetest.Address("a", 0), "create")
			}
			if err != nil {
				t.Fatal(err)
			}
			s.EndSessions()
			if taken {
				if _, err := manager(t, s.URL, consul.Options{}).Lock(t.Context(), storetest.Info("b")); err != nil {
					t.Fatal(err)
				}
			}
			_, err = j.Begin(storetest.Address("a", 1), "create")
			if !errors.Is(err, store.ErrLockLost) || strings.Contains(err.Error(), "b has it") != taken {
				t.Errorf("beginning without the lock: got %v, want %v, and that b has it: %t", err, store.ErrLockLost, taken)
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("writing without the lock: %v", err)
			}
		})
	}
}

// TestForceUnlock releases the lock of another run, by its ID only.
func TestForceUnlock(t *testing.T) {
	s := consulserver.Start(t)
	a, b := manager(t, s.URL, consul.Options{}), manager(t, s.URL, consul.Options{})
	if _, err := a.Lock(t.Context(), storetest.Info("a")); err != nil {
		t.Fatal(err)
	}
	var held *store.LockError
	if err := store.ForceUnlock(t.Context(), b, "wrong"); !errors.As(err, &held) || held.Info.ID != "id-a" {
		t.Errorf("releasing by a wrong ID: got %v, want it held as id-a", err)
	}
	if err := store.ForceUnlock(t.Context(), b, "id-a"); err != nil {
		t.Error(err)
	}
	if _, err := b.Lock(t.Context(), storetest.Info("b")); err != nil {
		t.Error(err)
	}
}

// TestRefusals explains answers without showing the token, which is never sent to another host.
func TestRefusals(t *testing.T) {
	const token = "hunter2"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for status, c := range map[int]struct{ answer, want string }{
		http.StatusForbidden: {"ACL not found", "access_token"},
		http.StatusOK:        {"<html>Sign in</html>", "a page in HTML"},
		http.StatusFound:     {"", "302"},
	} {
		s := consulserver.Start(t)
		s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(status)
			fmt.Fprint(w, c.answer)
			return true
		}
		_, err := manager(t, s.URL, consul.Options{Token: token}).Read(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), token) || !strings.Contains(err.Error(), path) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, opt := range []consul.Options{{CAFile: "missing"}, {CertFile: "missing", KeyFile: "missing"}} {
		if _, err := consul.New(opt); err == nil || !strings.Contains(err.Error(), "missing") {
			t.Errorf("%v: %v", opt, err)
		}
	}
}
