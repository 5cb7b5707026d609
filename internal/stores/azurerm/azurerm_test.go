//go:build !mayfly_no_azurerm

package azurerm_test

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/azurerm"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/azureserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// place is a container of a server.
type place struct {
	account, key, server, container string
}

func own(s *azureserver.Server) place { return ownAt(s.URL) }

func ownAt(url string) place {
	return place{azureserver.Account, azureserver.Key, url + "/" + azureserver.Account, azureserver.Container}
}

func (p place) access(t *testing.T) *azure.Container {
	t.Helper()
	a, err := azure.WithKey(p.account, p.key, cloud.Client(nil))
	if err != nil {
		t.Fatal(err)
	}
	return a.Container(p.server, p.container)
}

func (p place) open(t *testing.T, key string) store.Store {
	t.Helper()
	return remote.New(azurerm.New(azurerm.Options{Container: p.access(t), Key: key}), remote.Options{Version: "1.0.0"})
}

func (p place) manager(t *testing.T, key string) store.Manager {
	t.Helper()
	m, err := p.open(t, key).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// harness gives the suite a place in a container. What it corrupts may be locked by a run that has ended.
func (p place) harness(t *testing.T, key string) storetest.Harness {
	c := p.access(t)
	name := func(workspace string) string {
		if workspace == store.DefaultWorkspace {
			return key
		}
		return key + "env:" + workspace
	}
	return storetest.Harness{
		Open: func() store.Store { return p.open(t, key) },
		Corrupt: func(workspace string, data []byte) error {
			_, err := c.Put(t.Context(), name(workspace), data, nil, nil)
			return err
		},
		Stored: func(workspace string) ([]byte, error) {
			data, _, err := c.Get(t.Context(), name(workspace))
			return data, err
		},
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness { return own(azureserver.Start(t)).harness(t, "a/b c%.tfstate") })
}

func TestCuts(t *testing.T) {
	s := azureserver.Start(t)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(t *testing.T, key, address string) store.Store {
			return ownAt("http://"+address).open(t, key)
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return azureserver.Start(t).URL },
		func(t *testing.T, url string) store.Store { return ownAt(url).open(t, "k") })
}

// TestAzurite runs the suite, the cuts and the races against Azurite, which checks signatures.
func TestAzurite(t *testing.T) {
	p := place{"devstoreaccount1", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==", "", "states"}
	at := func(address string) place {
		p := p
		p.server = "http://" + address + "/" + p.account
		return p
	}
	var address string
	start := func(t *testing.T) string {
		t.Helper()
		address = startAzurite(t)
		createContainer(t, at(address))
		return address
	}
	t.Run("races", func(t *testing.T) {
		storetest.RunRaces(t, start, func(t *testing.T, address string) store.Store { return at(address).open(t, "race") })
	})
	if os.Getenv("MAYFLY_TEST_RACE_PLACE") != "" {
		return
	}
	start(t)
	var n atomic.Int32
	t.Run("conformance", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) storetest.Harness { return at(address).harness(t, fmt.Sprintf("a %d/b%%", n.Add(1))) })
	})
	t.Run("cuts", func(t *testing.T) {
		storetest.RunCuts(t, storetest.Remote{
			Server: func(*testing.T, string) string { return address },
			Open:   func(t *testing.T, key, through string) store.Store { return at(through).open(t, key) },
		})
	})
}

// createContainer creates the container of a place, by a request that the package does not make.
func createContainer(t *testing.T, p place) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.server+"/"+p.container+"?restype=container", nil)
	if err != nil {
		t.Fatal(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	req.Header.Set("X-Ms-Date", date)
	req.Header.Set("X-Ms-Version", "2021-12-02")
	key, _ := base64.StdEncoding.DecodeString(p.key)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "PUT%sx-ms-date:%s\nx-ms-version:2021-12-02\n/%s%s\nrestype:container", strings.Repeat("\n", 12), date, p.account, req.URL.Path)
	req.Header.Set("Authorization", "SharedKey "+p.account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatal(resp.Status)
	}
}

// startAzurite starts an empty Azurite and returns its address.
func startAzurite(t *testing.T) string {
	t.Helper()
	program := cmp.Or(os.Getenv("MAYFLY_AZURITE"), "azurite-blob")
	return storetest.StartProgram(t, program, "npm install -g azurite, or MAYFLY_AZURITE names it", func(host, port string) []string {
		return []string{"--silent", "--skipApiVersionCheck", "--disableTelemetry", "--inMemoryPersistence", "--blobHost", host, "--blobPort", port}
	})
}

// TestDamage reads again what arrives with errors.
func TestDamage(t *testing.T) {
	s := azureserver.Start(t)
	m := own(s).manager(t, "k")
	err := m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	s.Damage = 1
	if err == nil {
		_, err = m.Read(t.Context())
	}
	if err != nil || s.Damage != 0 {
		t.Errorf("Read: got %v, %d damages left, want no error and none left", err, s.Damage)
	}
}

// TestRefusals explains the errors that users meet.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		container string
		status    int
		code      string
		want      string
	}{
		"container": {"nope", 0, "", `"container_name"`},
		"key":       {azureserver.Container, http.StatusForbidden, "AuthenticationFailed", `"access_key"`},
		"rights":    {azureserver.Container, http.StatusForbidden, "AuthorizationPermissionMismatch", "Storage Blob Data Owner"},
		"no keys":   {azureserver.Container, http.StatusForbidden, "KeyBasedAuthenticationNotPermitted", "use_azuread_auth"},
	} {
		t.Run(name, func(t *testing.T) {
			s := azureserver.Start(t)
			if test.status != 0 {
				s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
					azureserver.Refuse(w, test.status, test.code)
					return true
				}
			}
			p := own(s)
			p.container = test.container
			_, err := p.manager(t, "k").Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "RequestId") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestPage says that an answer is not one of the service.
func TestPage(t *testing.T) {
	s := azureserver.Start(t)
	s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "<!DOCTYPE html>\n<html><body>Denied</body></html>", http.StatusForbidden)
		return true
	}
	if _, err := own(s).manager(t, "k").Read(t.Context()); err == nil || !strings.Contains(err.Error(), "a proxy in between") {
		t.Errorf("the error is %v", err)
	}
}

// TestLease keeps information about the holder as other engines do, and other metadata of the blob as it is.
func TestLease(t *testing.T) {
	s := azureserver.Start(t)
	m := own(s).manager(t, "k")
	s.Blobs["k"] = &azureserver.Blob{Metadata: http.Header{"X-Ms-Meta-Owner": {"me"}}}
	info := storetest.Info("a")
	info.ID = "fe7bf646-62a1-ee18-5aa6-a378dcc6a8f3"
	id, err := m.Lock(t.Context(), info)
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	b := s.Blobs["k"]
	text, _ := base64.StdEncoding.DecodeString(b.Metadata.Get("X-Ms-Meta-Terraformlockid"))
	if b.Lease != id || !strings.Contains(string(text), `"ID":"`+id) || !strings.Contains(string(text), `"Path":"`+s.URL) || b.Metadata.Get("X-Ms-Meta-Owner") != "me" {
		t.Errorf("lock: got the lease %s with %s, %v, want %s with its place, owned by me", b.Lease, text, b.Metadata, id)
	}
	b.Lease = "" // as if it were broken
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 1)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing without the lease: %v", err)
	}
	if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 1, 1), "1.0.0"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("going on without the lease: %v", err)
	}
	b.Lease = "00000000-0000-4000-8000-000000000001"
	b.Metadata.Del("X-Ms-Meta-Terraformlockid")
	if _, err := own(s).manager(t, "k").Lock(t.Context(), info); err == nil || !strings.Contains(err.Error(), "az storage blob lease break") {
		t.Errorf("a lease of something else: %v", err)
	}
}

// TestDeleteLocked deletes a workspace that this process has locked, and then has no lock to release.
func TestDeleteLocked(t *testing.T) {
	s := azureserver.Start(t)
	opened := own(s).open(t, "k")
	err := opened.CreateWorkspace(t.Context(), "w")
	m, _ := opened.Manager("w")
	id := ""
	if err == nil {
		id, err = m.Lock(t.Context(), storetest.Info("a"))
	}
	if err == nil {
		err = opened.DeleteWorkspace(t.Context(), "w", false)
	}
	if err == nil {
		err = m.Unlock(t.Context(), id)
	}
	if err != nil || len(s.Blobs) > 0 {
		t.Errorf("%v; there are %v", err, s.Blobs)
	}
}

// TestEncryptionOnTheServer sends a customer's key with each request about contents, and the name of a scope
// with those that store something.
func TestEncryptionOnTheServer(t *testing.T) {
	s := azureserver.Start(t)
	c := own(s).access(t).Encrypted("scope", bytes.Repeat([]byte("k"), 32))
	m, err := remote.New(azurerm.New(azurerm.Options{Container: c, Key: "k", Snapshot: true}), remote.Options{}).Manager(store.DefaultWorkspace)
	if err == nil {
		_, err = m.Lock(t.Context(), storetest.Info("a"))
	}
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Seen {
		comp := r.URL.Query().Get("comp")
		if comp == "lease" || comp == "list" {
			continue
		}
		if got := r.Header.Get("X-Ms-Encryption-Key"); got != "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=" {
			t.Errorf("%s %s: got the key %q, want the configured one", r.Method, r.URL, got)
		}
		if got := r.Header.Get("X-Ms-Encryption-Scope"); (got == "scope") != (r.Method == http.MethodPut) {
			t.Errorf("%s %s: got the scope %q, want it only to put", r.Method, r.URL, got)
		}
	}
}

// TestSnapshot keeps each state that is replaced.
func TestSnapshot(t *testing.T) {
	s := azureserver.Start(t)
	m, err := remote.New(azurerm.New(azurerm.Options{Container: own(s).access(t), Key: "k", Snapshot: true}), remote.Options{}).Manager(store.DefaultWorkspace)
	for serial := range uint64(3) {
		if err == nil {
			err = m.Write(t.Context(), storetest.File(t, "l", serial+1, 1))
		}
	}
	if err != nil || len(s.Snapshots) != 2 || !strings.Contains(s.Snapshots[1], `"serial": 2`) {
		t.Errorf("got %v and the snapshots %v, want two, the second one with serial 2", err, s.Snapshots)
	}
}
