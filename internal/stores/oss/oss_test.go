//go:build !mayfly_no_oss

package oss_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/alibaba"
	"github.com/mayfly-iac/mayfly/internal/stores/oss"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/alibabaserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// place is a bucket of a server, and maybe a table.
type place struct {
	server, bucket string
	lock           bool
	opt            oss.Options
}

func (p place) access(t *testing.T) (*alibaba.Account, *cloud.Bucket) {
	t.Helper()
	a, err := alibaba.New(t.Context(), cloud.Static(cloud.Keys{ID: "id", Secret: "hunter2", Token: "hunter3"}), cloud.Client(nil))
	if err != nil {
		t.Fatal(err)
	}
	if p.bucket == "" {
		p.bucket = alibabaserver.Bucket
	}
	b, err := a.Bucket(p.server, p.bucket)
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func (p place) open(t *testing.T) store.Store {
	t.Helper()
	opt := p.opt
	a, b := p.access(t)
	opt.Bucket, opt.Name = b, alibabaserver.Bucket
	if p.lock {
		var err error
		if opt.Table, err = a.Table(p.server, alibabaserver.Table, "LockID"); err != nil {
			t.Fatal(err)
		}
	}
	return remote.New(oss.New(opt), remote.Options{Version: "1.0.0"})
}

func (p place) manager(t *testing.T) store.Manager {
	t.Helper()
	m, err := p.open(t).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestConformance(t *testing.T) {
	for name, p := range map[string]place{
		"usual names": {lock: true},
		"own names":   {lock: true, opt: oss.Options{Prefix: "a/b c", Key: "k%+.tfstate"}},
		"no locks":    {},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				s := alibabaserver.Start(t)
				p := p
				p.server = s.URL
				key := func(workspace string) string {
					prefix, key := "env:", "terraform.tfstate"
					if p.opt.Prefix != "" {
						prefix, key = p.opt.Prefix, p.opt.Key
					}
					if workspace != store.DefaultWorkspace {
						prefix += "/" + workspace
					}
					return prefix + "/" + key
				}
				return storetest.Harness{
					NoLock: !p.lock,
					Open:   func() store.Store { return p.open(t) },
					Corrupt: func(workspace string, data []byte) error {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						s.Objects[key(workspace)] = string(data)
						clear(s.Rows) // the checksum, too
						return nil
					},
					Stored: func(workspace string) ([]byte, error) {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						return []byte(s.Objects[key(workspace)]), nil
					},
				}
			})
		})
	}
}

func TestCuts(t *testing.T) {
	s := alibabaserver.Start(t)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(t *testing.T, key, address string) store.Store {
			return place{server: "http://" + address, lock: true, opt: oss.Options{Key: key}}.open(t)
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return alibabaserver.Start(t).URL },
		func(t *testing.T, url string) store.Store { return place{server: url, lock: true}.open(t) })
}

// TestRefusals explains the errors that users meet.
func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		bucket string
		status int
		code   string
		want   string
	}{
		"bucket":  {"nope", 0, "", `"bucket"`},
		"rights":  {"", http.StatusForbidden, "AccessDenied", "oss:PutObject"},
		"key":     {"", http.StatusForbidden, "SignatureDoesNotMatch", `"secret_key"`},
		"expired": {"", http.StatusForbidden, "SecurityTokenExpired", `"security_token"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := alibabaserver.Start(t)
			if test.status != 0 {
				s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
					alibabaserver.Refuse(w, test.status, test.code)
					return true
				}
			}
			_, err := place{server: s.URL, bucket: test.bucket}.manager(t).Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestTable keeps a lock and the checksum of the state where other engines do, and stops without the lock.
func TestTable(t *testing.T) {
	s := alibabaserver.Start(t)
	p := place{server: s.URL, lock: true}
	m := p.manager(t)
	_, err := m.Lock(t.Context(), storetest.Info("a"))
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for _, row := range s.Rows {
		rows += string(row)
	}
	for _, want := range []string{"bucket/env:/terraform.tfstate", `"Who":"a"`, "bucket/env:/terraform.tfstate-md5", "Digest"} {
		if !strings.Contains(rows, want) {
			t.Errorf("the rows %q lack %q", rows, want)
		}
	}
	clear(s.Rows)
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 1)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing without the lock: %v", err)
	}
	if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 1, 1), "1.0.0"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("going on without the lock: %v", err)
	}
}

// TestOptions sends what encryption and rights want with the requests that store something.
func TestOptions(t *testing.T) {
	s := alibabaserver.Start(t)
	if err := (place{server: s.URL, opt: oss.Options{ACL: "private", Encrypt: true}}).manager(t).Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Seen {
		acl, encryption := r.Header.Get("X-Oss-Object-Acl"), r.Header.Get("X-Oss-Server-Side-Encryption")
		if put := r.Method == http.MethodPut; (acl == "private") != put || (encryption == "AES256") != put {
			t.Errorf("%s %s: got %q and %q, want private and AES256 only to put", r.Method, r.URL, acl, encryption)
		}
	}
}
