//go:build !mayfly_no_s3

package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/aws"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/stores/s3"
	"github.com/mayfly-iac/mayfly/internal/testing/s3server"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// account returns an account with fixed keys, whose requests are not repeated by the client.
func account(t *testing.T) *aws.Account {
	t.Helper()
	a, err := aws.Load(t.Context(), aws.Settings{Region: "us-east-1", Keys: &aws.Keys{ID: "id", Secret: "hunter2hunter2"}}, func(http.RoundTripper) *http.Client { return &http.Client{Timeout: time.Minute} })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// place is a bucket of a server, and maybe a table.
type place struct {
	server string
	table  bool
	opt    s3.Options
}

func (p place) service(t *testing.T) *s3.Service {
	t.Helper()
	a := account(t)
	opt := p.opt
	opt.Bucket, opt.Name = a.BucketAt("bucket", p.server), "bucket"
	if opt.Key == "" {
		opt.Key = "dir/terraform.tfstate"
	}
	if p.table {
		var err error
		if opt.Table, err = a.Table(t.Context(), "locks", p.server); err != nil {
			t.Fatal(err)
		}
	}
	return s3.New(opt)
}

func (p place) manager(t *testing.T) store.Manager {
	t.Helper()
	m, err := remote.New(p.service(t), remote.Options{Version: "1.0.0"}).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// harness gives the suite a place. Corrupting a state goes around its checksum.
func (p place) harness(t *testing.T) storetest.Harness {
	bucket := account(t).BucketAt("bucket", p.server)
	key := func(workspace string) string {
		if workspace == store.DefaultWorkspace {
			return p.opt.Key
		}
		return "env:/" + workspace + "/" + p.opt.Key
	}
	return storetest.Harness{
		Open: func() store.Store { return remote.New(p.service(t), remote.Options{Version: "1.0.0"}) },
		Corrupt: func(workspace string, data []byte) error {
			_, err := bucket.Put(t.Context(), key(workspace), data, nil)
			return err
		},
		Stored: func(workspace string) ([]byte, error) {
			data, _, err := bucket.Get(t.Context(), key(workspace), nil)
			return data, err
		},
	}
}

func TestConformance(t *testing.T) {
	t.Run("lock file", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) storetest.Harness {
			return place{server: s3server.Start(t).URL, opt: s3.Options{Key: "a/b c.tfstate", LockFile: true, Encrypt: true}}.harness(t)
		})
	})
	t.Run("without conditional writes", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) storetest.Harness {
			s := s3server.Start(t)
			s.Plain = true
			return place{server: s.URL, opt: s3.Options{Key: "x", LockFile: true}}.harness(t)
		})
	})
}

// TestGateway runs the suite against versitygw, which checks signatures and conditions.
func TestGateway(t *testing.T) {
	server := startGateway(t)
	var n atomic.Int32
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		prefix := fmt.Sprint("env", n.Add(1))
		p := place{server: server, opt: s3.Options{Key: fmt.Sprint("k", n.Load()), LockFile: true, WorkspacePrefix: prefix}}
		h := p.harness(t)
		bucket := account(t).BucketAt("bucket", server)
		key := func(workspace string) string {
			if workspace == store.DefaultWorkspace {
				return p.opt.Key
			}
			return prefix + "/" + workspace + "/" + p.opt.Key
		}
		h.Corrupt = func(workspace string, data []byte) error {
			_, err := bucket.Put(t.Context(), key(workspace), data, nil)
			return err
		}
		h.Stored = func(workspace string) ([]byte, error) {
			data, _, err := bucket.Get(t.Context(), key(workspace), nil)
			return data, err
		}
		return h
	})
}

// startGateway starts versitygw with one bucket, and returns its address.
func startGateway(t *testing.T) string {
	t.Helper()
	address := "http://" + storetest.StartProgram(t, "versitygw", "go install github.com/versity/versitygw/cmd/versitygw@latest", func(host, port string) []string {
		return []string{"--access", "id", "--secret", "hunter2hunter2", "--port", net.JoinHostPort(host, port), "posix", t.TempDir()}
	})
	if _, err := account(t).BucketAt("bucket", address).Put(t.Context(), "", nil, nil); err != nil {
		t.Fatal(err)
	}
	return address
}

// TestTable locks with DynamoDB, alone and beside a lock file, and refuses a state that does not match its
// checksum.
func TestTable(t *testing.T) {
	for name, lockFile := range map[string]bool{"alone": false, "beside a lock file": true} {
		t.Run(name, func(t *testing.T) {
			s := s3server.Start(t)
			p := place{server: s.URL, table: true, opt: s3.Options{Key: "k", LockFile: lockFile}}
			a, b := p.manager(t), p.manager(t)
			id, err := a.Lock(t.Context(), storetest.Info("a"))
			if err == nil {
				err = a.Write(t.Context(), storetest.File(t, "l", 1, 2))
			}
			if err != nil {
				t.Fatal(err)
			}
			var held *store.LockError
			if _, err := b.Lock(t.Context(), storetest.Info("b")); !errors.As(err, &held) || held.Info.ID != id {
				t.Errorf("locking twice: got %v, want it held as %s", err, id)
			}
			if err := a.Unlock(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s.Mu.Lock()
			if len(s.Items) != 1 || len(s.Objects) != 1 {
				t.Errorf("got the items %v and the objects %v, want one of each", s.Items, s.Objects)
			}
			s.Objects["k"] += " "
			s.Mu.Unlock()
			ctx := t.Context()
			service, _ := p.service(t).Place(store.DefaultWorkspace)
			if _, _, err := service.State.Get(ctx); err == nil || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("reading what does not match its checksum: %v", err)
			}
		})
	}
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
		"rights":  {"bucket", http.StatusForbidden, "AccessDenied", "s3:PutObject"},
		"expired": {"bucket", http.StatusBadRequest, "ExpiredToken", "aws sso login"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s3server.Start(t)
			if test.status != 0 {
				s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
					s3server.Refuse(w, test.status, test.code)
					return true
				}
			}
			service := s3.New(s3.Options{Bucket: account(t).BucketAt(test.bucket, s.URL), Name: test.bucket, Key: "k"})
			m, err := remote.New(service, remote.Options{}).Manager(store.DefaultWorkspace)
			if err == nil {
				_, err = m.Read(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestEncryptionOnTheServer sends what each kind of encryption wants, with the requests that want it.
func TestEncryptionOnTheServer(t *testing.T) {
	for name, test := range map[string]struct {
		opt       s3.Options
		put, read map[string]string
	}{
		"key of S3":  {s3.Options{Encrypt: true}, map[string]string{"": "AES256"}, map[string]string{"": ""}},
		"key of KMS": {s3.Options{Encrypt: true, KMSKey: "arn:1"}, map[string]string{"": "aws:kms", "-Aws-Kms-Key-Id": "arn:1"}, map[string]string{"": ""}},
		"own key": {
			s3.Options{CustomerKey: bytes.Repeat([]byte("k"), 32)},
			map[string]string{"-Customer-Algorithm": "AES256", "-Customer-Key": "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s="},
			map[string]string{"-Customer-Algorithm": "AES256"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s3server.Start(t)
			m := place{server: s.URL, opt: test.opt}.manager(t)
			if err := m.Write(t.Context(), storetest.File(t, "l", 1, 1)); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			puts := 0
			for _, r := range s.Seen {
				want := test.read
				if r.Method == http.MethodPut {
					want = test.put
					puts++
				}
				if strings.Contains(r.URL.RawQuery, "list-type") {
					continue
				}
				for suffix, value := range want {
					if got := r.Header.Get("X-Amz-Server-Side-Encryption" + suffix); got != value {
						t.Errorf("%s has %q for %q, want %q", r.Method, got, suffix, value)
					}
				}
			}
			if puts != 1 {
				t.Errorf("objects stored: got %d, want 1", puts)
			}
		})
	}
}

// TestTags stores states and locks with their tags.
func TestTags(t *testing.T) {
	s := s3server.Start(t)
	opt := s3.Options{LockFile: true, Tags: map[string]string{"team": "a b", "cost": "ü&1"}, LockTags: map[string]string{"kind": "lock"}}
	m := place{server: s.URL, opt: opt}.manager(t)
	id, err := m.Lock(t.Context(), store.LockInfo{ID: "1"})
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	if err == nil {
		err = m.Unlock(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, r := range s.Seen {
		if got := r.Header.Get("X-Amz-Tagging"); got != "" || r.Method == http.MethodPut {
			tags = append(tags, got)
		}
	}
	if want := []string{"kind=lock", "cost=%C3%BC%261&team=a%20b"}; !slices.Equal(tags, want) {
		t.Errorf("tags are %q, want %q", tags, want)
	}
}

func TestCuts(t *testing.T) {
	s := s3server.Start(t)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(t *testing.T, key, address string) store.Store {
			return remote.New(place{server: "http://" + address, opt: s3.Options{Key: key, LockFile: true}}.service(t), remote.Options{Version: "1.0.0"})
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return s3server.Start(t).URL },
		func(t *testing.T, server string) store.Store {
			return remote.New(place{server: server, opt: s3.Options{LockFile: true}}.service(t), remote.Options{Version: "1.0.0"})
		})
}
