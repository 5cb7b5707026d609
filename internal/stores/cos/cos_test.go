//go:build !mayfly_no_cos

package cos_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/tencent"
	"github.com/mayfly-iac/mayfly/internal/stores/cos"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/tencentserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// place is a bucket of a server.
type place struct {
	server string // its address, for whatever host a request is
	bucket string
	opt    cos.Options
}

func (p place) open(t *testing.T) store.Store {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, p.server)
	}
	client := cloud.Client(plain{transport})
	a, err := tencent.New(t.Context(), cloud.Keys{ID: "id", Secret: "hunter2", Token: "hunter3"}, "ap-guangzhou", nil, client)
	if err != nil {
		t.Fatal(err)
	}
	opt := p.opt
	opt.Name = tencentserver.Bucket
	if p.bucket != "" {
		opt.Name = p.bucket
	}
	opt.Account, opt.Bucket = a, a.Bucket("https://"+opt.Name+".cos.ap-guangzhou.myqcloud.com")
	return remote.New(cos.New(opt), remote.Options{Version: "1.0.0"})
}

// plain sends requests without encryption.
type plain struct{ http.RoundTripper }

func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme = "http"
	return p.RoundTripper.RoundTrip(r)
}

func (p place) manager(t *testing.T) store.Manager {
	t.Helper()
	m, err := p.open(t).Manager(store.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func start(t *testing.T) (*tencentserver.Server, place) {
	s := tencentserver.Start(t)
	return s, place{server: s.Listener.Addr().String()}
}

func TestConformance(t *testing.T) {
	for name, opt := range map[string]cos.Options{"usual names": {}, "own names": {Prefix: "a/b c", Key: "k%+.tfstate"}} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				s, p := start(t)
				p.opt = opt
				key := func(workspace string) string {
					name := "terraform.tfstate"
					if opt.Key != "" {
						name = opt.Key
					}
					if workspace != store.DefaultWorkspace {
						name = workspace + "/" + name
					}
					return strings.TrimPrefix(opt.Prefix+"/"+name, "/")
				}
				return storetest.Harness{
					Open: func() store.Store { return p.open(t) },
					Corrupt: func(workspace string, data []byte) error {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						s.Objects[key(workspace)] = tencentserver.Object{Content: string(data), Header: http.Header{"Etag": {`"x"`}}}
						return nil
					},
					Stored: func(workspace string) ([]byte, error) {
						s.Mu.Lock()
						defer s.Mu.Unlock()
						return []byte(s.Objects[key(workspace)].Content), nil
					},
				}
			})
		})
	}
}

func TestCuts(t *testing.T) {
	s, _ := start(t)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(t *testing.T, key, address string) store.Store {
			return place{server: address, opt: cos.Options{Key: key}}.open(t)
		},
		Anonymous: true,
	})
	if len(s.Tags) > 0 {
		t.Errorf("the tags %v are left", s.Tags)
	}
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return tencentserver.Start(t).Listener.Addr().String() },
		func(t *testing.T, address string) store.Store { return place{server: address}.open(t) })
}

// TestDamage reads again what arrives with errors.
func TestDamage(t *testing.T) {
	s, p := start(t)
	m := p.manager(t)
	err := m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	damaged := false
	s.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if damaged || r.Method != http.MethodGet || r.URL.Path == "/" {
			return false
		}
		damaged = true
		w.Header().Set("X-Cos-Meta-Md5", s.Objects["terraform.tfstate"].Header.Get("X-Cos-Meta-Md5"))
		_, err := w.Write([]byte("{}"))
		return err == nil
	}
	if _, err = m.Read(t.Context()); err != nil || !damaged {
		t.Errorf("%v", err)
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
		"rights":  {"", http.StatusForbidden, "AccessDenied", "rights"},
		"key":     {"", http.StatusForbidden, "SignatureDoesNotMatch", `"secret_key"`},
		"expired": {"", http.StatusForbidden, "ExpiredToken", `"security_token"`},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := start(t)
			if test.status != 0 {
				s.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
					tencentserver.Refuse(w, test.status, test.code)
					return true
				}
			}
			p.bucket = test.bucket
			_, err := p.manager(t).Read(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// tag is the value of the tag for the state of the usual name.
const tag = "baddf2a24659ffe85afa38c158a905da"

// TestLock makes the object and the tag of other engines, and stops without the lock.
func TestLock(t *testing.T) {
	s, p := start(t)
	m := p.manager(t)
	id, err := m.Lock(t.Context(), storetest.Info("a"))
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	const name = "terraform.tfstate.tflock"
	lock := s.Objects[name]
	if err != nil || len(s.Tags) > 0 || !strings.Contains(lock.Content, `"Who":"a"`) || lock.Header.Get("X-Cos-Meta-Md5") == "" {
		t.Fatalf("%v; there are the tags %v and the objects %v", err, s.Tags, s.Objects)
	}
	delete(s.Objects, name)
	if err := m.Write(t.Context(), storetest.File(t, "l", 2, 1)); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("writing without the lock: %v", err)
	}
	if _, err := m.BeginRun(t.Context(), storetest.File(t, "l", 1, 1), "1.0.0"); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("going on without the lock: %v", err)
	}
	s.Objects[name] = lock
	s.Tags["tencentcloud-terraform-lock:"+tag] = true // of a run that has ended
	if err := m.Unlock(t.Context(), id); err != nil || len(s.Tags) > 0 {
		t.Errorf("%v; there are the tags %v", err, s.Tags)
	}
}

// TestTag waits for a run that is about to lock the state, and says what to do if it has ended.
func TestTag(t *testing.T) {
	s, p := start(t)
	s.Answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Tc-Action") == "CreateTag" {
			s.Tags["tencentcloud-terraform-lock:"+tag] = true
		}
		return false
	}
	_, err := p.manager(t).Lock(t.Context(), storetest.Info("a"))
	if held := (*store.LockError)(nil); !errors.As(err, &held) || !strings.Contains(err.Error(), "tencentcloud-terraform-lock:"+tag) {
		t.Errorf("the error is %v", err)
	}
	if s.Answer = nil; len(s.Tags) != 1 {
		t.Errorf("tags of another run: got %v, want 1", s.Tags)
	}
	clear(s.Tags)
	if _, err := p.manager(t).Lock(t.Context(), storetest.Info("b")); err != nil {
		t.Error(err)
	}
}
