//go:build !mayfly_no_remote

package tfe_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/stores/tfe"
	"github.com/mayfly-iac/mayfly/internal/testing/program"
	"github.com/mayfly-iac/mayfly/internal/testing/tfeserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(program.Run(m)) }

// options are those of a workspace of a server at an address.
func options(address string) tfe.Options {
	return tfe.Options{
		Host: "states.example.com", Organization: tfeserver.Organization, Prefix: "app-",
		Find: find(address, tfeserver.Token),
	}
}

func find(address, token string) func(context.Context) (tfe.Connection, error) {
	return func(context.Context) (tfe.Connection, error) {
		u, err := url.Parse(address + "/api/v2/")
		return tfe.Connection{API: u, Token: token}, err
	}
}

func named(address, name string) tfe.Options {
	opt := options(address)
	opt.Name, opt.Prefix = name, ""
	return opt
}

func open(opt tfe.Options, journals string) store.Store {
	return remote.New(tfe.New(opt), remote.Options{Version: "1.0.0", JournalDir: journals})
}

func manager(t *testing.T, s store.Store) store.Manager {
	t.Helper()
	m, err := s.Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConformance(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprint("old ", old), func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				s, journals := tfeserver.Start(t), t.TempDir()
				s.NoUploads = old
				return storetest.Harness{
					Open:         func() store.Store { return open(named(s.URL, "app"), journals) },
					NoWorkspaces: true,
					Corrupt: func(_ string, data []byte) error {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						w := s.Workspaces["app"]
						if w == nil {
							w = s.Add("app")
						}
						if w.Current() == nil {
							w.States = append(w.States, &tfeserver.State{ID: "sv-0"})
						}
						w.States[len(w.States)-1].Content = append([]byte{}, data...)
						return nil
					},
					Stored: func(string) ([]byte, error) {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						return s.Workspaces["app"].Current().Content, nil
					},
				}
			})
		})
	}
}

func TestCuts(t *testing.T) {
	journals := t.TempDir()
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprint("old ", old), func(t *testing.T) {
			s := tfeserver.Start(t)
			s.NoUploads, s.Silent = old, old
			storetest.RunCuts(t, storetest.Remote{
				Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
				Open: func(_ *testing.T, place, address string) store.Store {
					return open(named("http://"+address, place), filepath.Join(journals, place))
				},
			})
		})
	}
}

func TestRaces(t *testing.T) {
	journals := t.TempDir()
	storetest.RunRaces(t,
		func(t *testing.T) string { return tfeserver.Start(t).URL },
		func(_ *testing.T, url string) store.Store { return open(named(url, "app"), journals) })
}

// TestWorkspaces lists, creates and deletes the workspaces that a prefix or tags select.
func TestWorkspaces(t *testing.T) {
	s := tfeserver.Start(t)
	s.PageSize = 2
	for _, name := range []string{"app-a", "app-b", "app-c", "other-app-", "other"} {
		s.Add(name)
	}
	s.Workspaces["other"].Tags = []string{"x", "y"}
	s.Workspaces["app-a"].Tags = []string{"x"}
	tagged := options(s.URL)
	tagged.Prefix, tagged.Tags = "", []string{"x", "y"}
	projected := options(s.URL)
	projected.Prefix, projected.Tags, projected.Project = "", []string{"z"}, "project"
	for _, test := range []struct {
		opt  tfe.Options
		want string
	}{
		{options(s.URL), "[default a b c new]"},
		{tagged, "[default new other]"},
		{named(s.URL, "app"), "[default]"},
		{projected, "[default]"},
	} {
		all := open(test.opt, t.TempDir())
		if strings.Contains(test.want, "new") {
			if err := all.CreateWorkspace(t.Context(), "new"); err != nil {
				t.Error(err)
			}
			if err := all.CreateWorkspace(t.Context(), "new"); !errors.Is(err, store.ErrWorkspaceExists) {
				t.Errorf("creating it again: %v", err)
			}
		}
		if got, err := all.Workspaces(t.Context()); err != nil || fmt.Sprint(got) != test.want {
			t.Errorf("Workspaces: got %v, %v, want %s", got, err, test.want)
		}
	}
	if w := s.Workspaces["new"]; w.Mode != "local" || !slices.Equal(w.Tags, tagged.Tags) || w.Locked {
		t.Errorf("new workspace: got %v, want it local, with the tags %v, not locked", w, tagged.Tags)
	}
	if err := open(projected, t.TempDir()).CreateWorkspace(t.Context(), "z"); err != nil || s.Workspaces["z"].Project != tfeserver.Project {
		t.Errorf("workspace in a project: got %v, %v, want the project %s", err, s.Workspaces["z"], tfeserver.Project)
	}
	projected.Project = "nope"
	if err := open(projected, t.TempDir()).CreateWorkspace(t.Context(), "y"); err == nil || !strings.Contains(err.Error(), `no project "nope"`) {
		t.Errorf("a workspace in no project: %v", err)
	}
	all := open(options(s.URL), t.TempDir())
	if err := all.DeleteWorkspace(t.Context(), "new", false); err != nil || s.Workspaces["app-new"] != nil {
		t.Error(err)
	}
	none := manager(t, all)
	if f, err := none.Read(t.Context()); f != nil || err != nil {
		t.Errorf("the state of no default workspace is %v, %v", f, err)
	}
	if _, err := none.Lock(t.Context(), storetest.Info("a")); err == nil || !strings.Contains(err.Error(), "workspace select") {
		t.Errorf("locking no default workspace: %v", err)
	}
	if m, err := open(named(s.URL, "app"), t.TempDir()).Manager("app"); m == nil || err != nil {
		t.Errorf("the workspace by its own name: %v", err)
	}
}

// TestLost stops a run whose workspace was unlocked, locked by another one, or deleted.
func TestLost(t *testing.T) {
	for name, lose := range map[string]func(*tfeserver.Server){
		"unlocked":       func(s *tfeserver.Server) { s.Workspaces["app"].Locked = false },
		"locked by ours": func(s *tfeserver.Server) { s.Workspaces["app"].Reason = `Locked by Mayfly: {"ID": "x"}` },
		"locked":         func(s *tfeserver.Server) { s.Workspaces["app"].Reason = "Locked by OpenTofu" },
		"deleted":        func(s *tfeserver.Server) { delete(s.Workspaces, "app") },
	} {
		t.Run(name, func(t *testing.T) {
			s := tfeserver.Start(t)
			m := manager(t, open(named(s.URL, "app"), t.TempDir()))
			if _, err := m.Lock(t.Context(), storetest.Info("a")); err != nil {
				t.Fatal(err)
			}
			j, err := m.BeginRun(t.Context(), storetest.File(t, "l", 0, 0), "1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			lose(s)
			if _, err := j.Begin(storetest.Address("a", 1), "create"); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("beginning without the lock: %v", err)
			}
			if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.Is(err, store.ErrLockLost) {
				t.Errorf("writing without the lock: %v", err)
			}
		})
	}
}

// TestLockOfOthers shows a lock that says nothing of its holder, and releases it by the name of the
// workspace.
func TestLockOfOthers(t *testing.T) {
	s := tfeserver.Start(t)
	w := s.Add("app")
	w.Locked, w.Reason = true, "Locked by OpenTofu"
	m := manager(t, open(named(s.URL, "app"), t.TempDir()))
	_, err := m.Lock(t.Context(), storetest.Info("a"))
	var held *store.LockError
	if !errors.As(err, &held) || held.Info == nil || held.Info.ID != "org/app" || held.Info.Info != w.Reason {
		t.Fatalf("locking: got %v, want it held as org/app with the reason %q", err, w.Reason)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); !errors.As(err, &held) {
		t.Errorf("writing without a lock: %v", err)
	}
	if err := store.ForceUnlock(t.Context(), m, "org/app"); err != nil {
		t.Error(err)
	}
	if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil || w.Locked {
		t.Error(err, w.Locked)
	}
}

// TestExecutionMode refuses runs in workspaces whose runs are in the service, and reads their states.
func TestExecutionMode(t *testing.T) {
	s := tfeserver.Start(t)
	s.Add("app").Mode = "remote"
	info := storetest.Info("a")
	info.Operation = "OperationTypePlan"
	opt := named(s.URL, "app")
	m := manager(t, open(opt, t.TempDir()))
	if _, err := m.Lock(t.Context(), info); err == nil || !strings.Contains(err.Error(), `Set its execution mode to "local"`) {
		t.Errorf("a run: %v", err)
	}
	if _, err := m.Read(t.Context()); err != nil {
		t.Errorf("reading: %v", err)
	}
	without := store.Locking{NoLock: true}
	if _, err := without.Take(t.Context(), m, info); err == nil || !strings.Contains(err.Error(), `Set its execution mode to "local"`) {
		t.Errorf("a run that does not lock: %v", err)
	}
	info.Operation = "state push"
	if _, err := without.Take(t.Context(), m, info); err != nil {
		t.Errorf("a command that does not lock: %v", err)
	}
	info.Operation = "OperationTypePlan"
	opt.IgnoreMode = true
	if _, err := manager(t, open(opt, t.TempDir())).Lock(t.Context(), info); err != nil {
		t.Error(err)
	}
}

// TestRefusals says what is wrong, without the token and without addresses that are secrets.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		organization, token string // in place of the right ones, "-" for none
		answer              func(http.ResponseWriter, *http.Request) bool
		want                string
	}{
		"organization": {organization: "nope", want: `no organization "nope" at states.example.com`},
		"no token":     {token: "-", want: "mayfly login states.example.com, or set the variable TF_TOKEN_states_example_com"},
		"token":        {token: "hunter3", want: "has expired. Run: mayfly login states.example.com"},
		"rights": {answer: func(w http.ResponseWriter, _ *http.Request) bool {
			tfeserver.Refuse(w, http.StatusForbidden, "forbidden", "no")
			return true
		}, want: "the right to read and write states"},
		"proxy": {answer: func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, "<html>hunter7</html>")
			return true
		}, want: `sign-in page in between. Check the argument "hostname"`},
		"redirect": {answer: func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", "https://example.com/hunter8")
			w.WriteHeader(http.StatusFound)
			return true
		}, want: "not followed"},
		"content": {answer: func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/objects/") {
				return false
			}
			http.Error(w, "hunter9", http.StatusGone)
			return true
		}, want: "410 Gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tfeserver.Start(t)
			if err := manager(t, open(named(s.URL, "app"), t.TempDir())).Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
				t.Fatal(err)
			}
			s.Answer = test.answer
			opt := named(s.URL, "app")
			opt.Organization = cmp.Or(test.organization, opt.Organization)
			if test.token != "" {
				opt.Find = find(s.URL, strings.TrimPrefix(test.token, "-"))
			}
			_, err := manager(t, open(opt, t.TempDir())).Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "/objects/") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
