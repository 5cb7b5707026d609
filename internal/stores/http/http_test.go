//go:build !mayfly_no_http

package http_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	httpstore "github.com/mayfly-iac/mayfly/internal/stores/http"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/httpserver"
	"github.com/mayfly-iac/mayfly/state"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

const canary = "CANARY"

// options are those of a state on the server, with locking, and with credentials wherever they can be.
func options(s *httpserver.Server) httpstore.Options {
	address := strings.Replace(s.URL, "://", "://user:"+canary+"@", 1) + "/state?token=" + canary
	return httpstore.Options{Address: address, LockAddress: address, UnlockAddress: address, Headers: map[string]string{"X-Token": canary}}
}

func open(t *testing.T, opt httpstore.Options, journals string) *remote.Store {
	t.Helper()
	service, err := httpstore.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return remote.New(service, remote.Options{JournalDir: journals, Version: "1.0.0"})
}

func TestConformance(t *testing.T) {
	for name, configure := range map[string]func(*httpserver.Server, *httpstore.Options){
		"locking":     func(*httpserver.Server, *httpstore.Options) {},
		"lock again":  func(s *httpserver.Server, _ *httpstore.Options) { s.Again, s.Conflict = true, http.StatusConflict },
		"no locking":  func(_ *httpserver.Server, o *httpstore.Options) { o.LockAddress, o.UnlockAddress = "", "" },
		"credentials": func(_ *httpserver.Server, o *httpstore.Options) { o.Username, o.Password = "u", canary },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				s, journals := httpserver.Start(t), t.TempDir()
				opt := options(s)
				configure(s, &opt)
				return storetest.Harness{
					Open:         func() store.Store { return open(t, opt, journals) },
					Corrupt:      func(_ string, data []byte) error { s.Swap(data, nil); return nil },
					Stored:       func(string) ([]byte, error) { s.Mu.Lock(); defer s.Mu.Unlock(); return s.State, nil },
					NoWorkspaces: true, NoLock: opt.LockAddress == "",
				}
			})
		})
	}
}

func manager(t *testing.T, s *httpserver.Server) store.Manager {
	t.Helper()
	m, err := open(t, options(s), t.TempDir()).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLockLost gives the lock of a run to another one, or to none: the run begins nothing more.
func TestLockLost(t *testing.T) {
	another, err := storetest.Info("b").Marshal()
	if err != nil {
		t.Fatal(err)
	}
	other, err := state.Write(storetest.File(t, "l", 9, 2))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		state, lock []byte
		again       bool
	}{
		"taken by another":         {nil, another, false},
		"released, state changed":  {other, nil, false},
		"taken, with locking anew": {nil, another, true},
		"changed, locking anew":    {other, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := httpserver.Start(t)
			s.Again = c.again
			m := manager(t, s)
			if _, err := m.Lock(t.Context(), storetest.Info("a")); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			j, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := j.Begin(storetest.Address("a", 0), "create"); err != nil {
				t.Fatal(err)
			}
			s.Swap(c.state, c.lock)
			if _, err := j.Begin(storetest.Address("a", 1), "create"); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("beginning without the lock: %v", err)
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("writing without the lock: %v", err)
			}
		})
	}
}

// TestHolder shows who holds a lock, and releases it by its ID.
func TestHolder(t *testing.T) {
	s := httpserver.Start(t)
	a, b := manager(t, s), manager(t, s)
	if _, err := a.Lock(t.Context(), storetest.Info("a")); err != nil {
		t.Fatal(err)
	}
	var held *store.LockError
	if _, err := b.Lock(t.Context(), storetest.Info("b")); !errors.As(err, &held) || held.Info == nil || held.Info.Who != "a" || held.Info.ID != "id-a" {
		t.Errorf("locking: got %v, want it held by a as id-a", err)
	}
	if held.Info != nil && strings.Contains(held.Info.String(), canary) {
		t.Error("the lock has a secret")
	}
	if err := store.CheckUnlock(t.Context(), b, "wrong"); err != nil {
		t.Errorf("it cannot be known: %v", err)
	}
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

// TestErrors explains answers, and has no secret in any error.
func TestErrors(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	for _, c := range []struct {
		status int
		want   string
	}{
		{http.StatusUnauthorized, `401 Unauthorized. Check the credentials`},
		{http.StatusForbidden, `403 Forbidden. Check the credentials`},
		{http.StatusFound, `redirects to another host`},
		{http.StatusInternalServerError, `500 Internal Server Error`},
		{http.StatusTeapot, `418 I'm a teapot`},
	} {
		s, once := httpserver.Start(t), 0
		s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(canary))
			return true
		}
		opt := options(s)
		opt.Retries = &once
		m, err := open(t, opt, t.TempDir()).Manager(store.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Read(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	s, none := httpserver.Start(t), 0
	s.Close()
	opt := options(s)
	opt.Retries = &none
	m, err := open(t, opt, t.TempDir()).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(t.Context()); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("no server: %v", err)
	}
	for _, opt := range []httpstore.Options{
		{},
		{Address: "ftp://x"},
		{Address: "http://x", LockAddress: "::" + canary},
		{Address: "http://x", CACertificates: canary},
		{Address: "http://x", ClientKey: canary},
		{Address: "http://x", ClientKey: canary, ClientCertificate: canary},
	} {
		if _, err := httpstore.New(opt); err == nil || !strings.Contains(err.Error(), "argument") || strings.Contains(err.Error(), canary) {
			t.Errorf("%v", err)
		}
	}
}

// TestRetries repeats what fails for a moment, and reads back what may have been written.
func TestRetries(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost, "LOCK", "UNLOCK"} {
		t.Run(method, func(t *testing.T) {
			s, failures := httpserver.Start(t), 1
			s.Answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != method || failures == 0 {
					return false
				}
				failures--
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			m := manager(t, s)
			id, err := m.Lock(t.Context(), storetest.Info("a"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = m.Read(t.Context()); err == nil {
				err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
			}
			if err = errors.Join(err, m.Unlock(t.Context(), id)); err != nil || failures != 0 {
				t.Error(err, failures)
			}
			if s.Lock != nil || !strings.Contains(string(s.State), "object 0") {
				t.Errorf("lock %s, state %s", s.Lock, s.State)
			}
		})
	}
}

// TestMethods uses the methods of the configuration.
func TestMethods(t *testing.T) {
	s := httpserver.Start(t)
	s.Answer = func(http.ResponseWriter, *http.Request) bool { return true }
	opt := options(s)
	opt.UpdateMethod, opt.LockMethod, opt.UnlockMethod = http.MethodPut, http.MethodPost, http.MethodDelete
	m, err := open(t, opt, t.TempDir()).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	id, err := m.Lock(t.Context(), storetest.Info("a"))
	if err == nil {
		err = errors.Join(m.Write(t.Context(), storetest.File(t, "l", 1, 1)), m.Unlock(t.Context(), id))
	}
	var methods []string
	for _, r := range s.Seen {
		methods = append(methods, r.Method)
	}
	if got := fmt.Sprint(methods); err != nil || !strings.HasPrefix(got, "[POST ") || !strings.Contains(got, "PUT DELETE]") {
		t.Error(got, err)
	}
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return httpserver.Start(t).URL },
		func(t *testing.T, url string) store.Store {
			return open(t, httpstore.Options{Address: url, LockAddress: url, UnlockAddress: url}, t.TempDir())
		})
}

func TestCuts(t *testing.T) {
	journals := t.TempDir()
	storetest.RunCuts(t, storetest.Remote{
		Server: func(t *testing.T, _ string) string { return httpserver.Start(t).Listener.Addr().String() },
		Open: func(t *testing.T, place, address string) store.Store {
			url := "http://" + address
			return open(t, httpstore.Options{Address: url, LockAddress: url, UnlockAddress: url}, filepath.Join(journals, place))
		},
	})
}
