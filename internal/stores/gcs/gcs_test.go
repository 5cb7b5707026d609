//go:build !mayfly_no_gcs

package gcs_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud/google"
	"github.com/mayfly-iac/mayfly/internal/stores/gcs"
	"github.com/mayfly-iac/mayfly/internal/stores/remote"
	"github.com/mayfly-iac/mayfly/internal/testing/gcsserver"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

func account(t *testing.T, token string) *google.Account {
	t.Helper()
	t.Setenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "")
	a, err := google.Load(t.Context(), google.WriteObjects, google.Settings{Token: token}, func(http.RoundTripper) *http.Client { return &http.Client{} })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func open(a *google.Account, url string, opt gcs.Options) store.Store {
	if opt.Name == "" {
		opt.Name = "bucket"
	}
	opt.Bucket = a.Bucket(opt.Name, url)
	return remote.New(gcs.New(opt), remote.Options{Version: "1.0.0"})
}

func TestConformance(t *testing.T) {
	for _, prefix := range []string{"", "a/b c"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) storetest.Harness { return harness(t, gcsserver.Start(t).URL, prefix) })
		})
	}
}

// TestEmulator runs the suite against fake-gcs-server, which has generations of its own making.
func TestEmulator(t *testing.T) {
	url := "http://" + storetest.StartProgram(t, "fake-gcs-server", "go install github.com/fsouza/fake-gcs-server@latest", func(host, port string) []string {
		return []string{"-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-external-url", "http://" + net.JoinHostPort(host, port)}
	})
	resp, err := http.Post(url+"/storage/v1/b?project=p", "application/json", strings.NewReader(`{"name": "bucket"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	var n atomic.Int32
	storetest.Run(t, func(t *testing.T) storetest.Harness { return harness(t, url, fmt.Sprint("env", n.Add(1))) })
}

// harness returns the stores below a prefix of the bucket.
func harness(t *testing.T, url, prefix string) storetest.Harness {
	a := account(t, gcsserver.Token)
	name := func(workspace string) string { return strings.TrimPrefix(prefix+"/"+workspace+".tfstate", "/") }
	return storetest.Harness{
		Open: func() store.Store { return open(a, url, gcs.Options{Prefix: prefix}) },
		Corrupt: func(workspace string, data []byte) error {
			_, err := a.Bucket("bucket", url).Put(t.Context(), name(workspace), data, nil, nil)
			return err
		},
		Stored: func(workspace string) ([]byte, error) {
			data, _, err := a.Bucket("bucket", url).Get(t.Context(), name(workspace), nil)
			return data, err
		},
	}
}

func TestCuts(t *testing.T) {
	s, a := gcsserver.Start(t), account(t, gcsserver.Token)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(_ *testing.T, prefix, address string) store.Store {
			return open(a, "http://"+address, gcs.Options{Prefix: prefix})
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return gcsserver.Start(t).URL },
		func(t *testing.T, url string) store.Store {
			return open(account(t, gcsserver.Token), url, gcs.Options{})
		})
}

// TestDamage reads again what arrives with errors.
func TestDamage(t *testing.T) {
	s := gcsserver.Start(t)
	m, err := open(account(t, gcsserver.Token), s.URL, gcs.Options{}).Manager(store.DefaultWorkspace)
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	s.Damage = 1
	if err == nil {
		_, err = m.Read(t.Context())
	}
	if err != nil || s.Damage != 0 {
		t.Errorf("Read: got %v, %d damages left, want no error and none left", err, s.Damage)
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		bucket, token string
		status        int
		want          string
	}{
		"bucket": {"nope", gcsserver.Token, 0, `"bucket"`},
		"token":  {"bucket", "hunter3", 0, "gcloud auth"},
		"rights": {"bucket", gcsserver.Token, http.StatusForbidden, "roles/storage.objectAdmin"},
	} {
		t.Run(name, func(t *testing.T) {
			s := gcsserver.Start(t)
			s.Status = test.status
			m, err := open(account(t, test.token), s.URL, gcs.Options{Name: test.bucket}).Manager(store.DefaultWorkspace)
			if err == nil {
				_, err = m.Read(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestMissing has answers that there is no such object. That of something else than the service is an error:
// without a state, everything would be created again.
func TestMissing(t *testing.T) {
	for name, test := range map[string]struct {
		kind, answer string
		fails        bool
	}{
		"service":   {"application/json", `{"error": {"code": 404, "message": "No such object: bucket/default.tfstate"}}`, false},
		"content":   {"text/html; charset=UTF-8", "No such object: bucket/default.tfstate", false},
		"emulator":  {"text/plain; charset=utf-8", "Not Found\n", false},
		"empty":     {"", "", false},
		"proxy":     {"text/html", "<html><head><title>404 Not Found</title></head></html>", true},
		"front end": {"text/html", "<!DOCTYPE html>\n<html lang=en><title>Error 404 (Not Found)!!1</title>", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/o") { // the list of the journal's objects
					fmt.Fprint(w, "{}")
					return
				}
				w.Header().Set("Content-Type", test.kind)
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, test.answer)
			}))
			defer s.Close()
			m, err := open(account(t, gcsserver.Token), s.URL, gcs.Options{}).Manager(store.DefaultWorkspace)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Read(t.Context())
			if err != nil != test.fails || err != nil && !strings.Contains(err.Error(), `page in HTML, which may come from a proxy in between. Check the argument "storage_custom_endpoint"`) {
				t.Errorf("error: got %v, want one about a page of a proxy: %t", err, test.fails)
			}
		})
	}
}

// TestEncryptionOnTheServer sends a customer's key with each request about an object, and the name of a key
// with those that store one.
func TestEncryptionOnTheServer(t *testing.T) {
	s := gcsserver.Start(t)
	m, err := open(account(t, gcsserver.Token), s.URL, gcs.Options{CustomerKey: []byte(strings.Repeat("k", 32)), KMSKey: "keys/1"}).Manager(store.DefaultWorkspace)
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Seen {
		if r.URL.Query().Get("prefix") != "" {
			continue
		}
		if got := r.Header.Get("X-Goog-Encryption-Key"); got != "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=" {
			t.Errorf("%s %s: got the key %q, want the configured one", r.Method, r.URL, got)
		}
		if got := r.URL.Query().Get("kmsKeyName"); (got == "keys/1") != (r.Method == http.MethodPost) {
			t.Errorf("%s %s: got the key %q, want keys/1 only to post", r.Method, r.URL, got)
		}
	}
}
