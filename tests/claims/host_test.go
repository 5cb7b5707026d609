//go:build unix

package claims

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
)

// host is a server with a database for each site, which takes a tenth of the time of a server for each.
type host struct {
	*postgres.Server
	db          *sql.DB
	initialized string // a directory without modules

	up      sync.RWMutex // held by what needs the server, and for writing while that is away
	mu      sync.Mutex
	sites   int
	outages []outage
}

// outage is a time in which the server was away.
type outage struct{ from, to time.Time }

// newHost starts a server that ends with the test. Its databases have the tables of the program already.
func newHost(t testing.TB) *host {
	t.Helper()
	h := &host{Server: postgres.Start(t)}
	var err error
	if h.db, err = sql.Open("postgres", h.URL(0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.db.Close() })
	if _, err := h.db.Exec("CREATE DATABASE " + template); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "main.tf"), blocks)
	cmd := command(dir, h.at(template, 0), "init", "-plugin-dir="+mirror)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mayfly init: %v\n%s", err, out)
	}
	h.initialized = dir
	return h
}

// template is the database that others are copies of.
const template = "initialized"

// at returns the connection string of a database, through another port of this machine unless port is 0.
func (h *host) at(database string, port int) string {
	u, err := url.Parse(h.URL(port))
	if err != nil {
		panic(err) // it is the server's own
	}
	u.Path = "/" + database
	return u.String()
}

// newSite returns a site at the server: see newSite.
func (h *host) newSite(t *testing.T, text string, more map[string]string) *site {
	t.Helper()
	h.up.RLock()
	defer h.up.RUnlock()
	h.mu.Lock() // two copies at once would wait for each other
	defer h.mu.Unlock()
	h.sites++
	name := fmt.Sprint("site", h.sites)
	if _, err := h.db.Exec("CREATE DATABASE " + name + " TEMPLATE " + template); err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, cloud: t.TempDir(), url: h.at(name, 0), database: name, host: h, files: map[string]string{"main.tf": text + blocks}}
	for name, content := range more {
		s.files[name] = content
	}
	if len(more) == 0 {
		s.initialized = h.initialized
	}
	var err error
	if s.db, err = sql.Open("postgres", s.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.db.Close()
		h.up.RLock()
		defer h.up.RUnlock()
		if _, err := h.db.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return s
}

// restart ends the server in a mode of pg_ctl, and starts it again, when nothing needs it but runs that go on
// when it is back.
func (h *host) restart(mode string) {
	h.up.Lock()
	defer h.up.Unlock()
	from := time.Now()
	h.Stop(mode)
	h.Run()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outages = append(h.outages, outage{from, time.Now()})
}

// away reports whether the server was away for a part of a time.
func (h *host) away(from, to time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, o := range h.outages {
		if from.Before(o.to) && o.from.Before(to) {
			return true
		}
	}
	return false
}

// shared is the host of the tests that do not restart the server.
var shared struct {
	*host
	ends []func()
}

// lasting is the test that has started the shared host, which outlasts it.
type lasting struct{ testing.TB }

// Cleanup has f called when all tests have ended.
func (lasting) Cleanup(f func()) { shared.ends = append(shared.ends, f) }

// TempDir returns a directory that is there until all tests have ended.
func (l lasting) TempDir() string {
	l.Helper()
	dir, err := os.MkdirTemp("", "shared")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// sharedHost returns the shared host.
func sharedHost(t *testing.T) *host {
	t.Helper()
	if shared.host == nil {
		shared.host = newHost(lasting{t})
	}
	return shared.host
}

// ending are the tests, and the end of the shared host.
type ending struct{ *testing.M }

// Run implements the interface of program.Main.
func (e ending) Run() int {
	status := e.M.Run()
	for i := range shared.ends {
		shared.ends[len(shared.ends)-1-i]()
	}
	return status
}
