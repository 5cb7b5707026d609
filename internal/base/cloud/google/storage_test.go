package google

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// isolate keeps the user's settings and this machine's identity out.
func isolate(t *testing.T) {
	for _, name := range []string{
		"GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_CLOUD_UNIVERSE_DOMAIN", "GOOGLE_CLOUD_QUOTA_PROJECT", "STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
}

// to returns a cloud.Services whose requests all go to one server, and which notes the host that each was
// for.
func to(server *httptest.Server, hosts *[]string) cloud.Services {
	return func(http.RoundTripper) *http.Client {
		return &http.Client{
			Transport: redirect(func(r *http.Request) (*http.Response, error) {
				*hosts = append(*hosts, r.URL.Host)
				u, _ := url.Parse(server.URL)
				r = r.Clone(r.Context())
				r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
				return http.DefaultTransport.RoundTrip(r)
			}),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
}

type redirect func(*http.Request) (*http.Response, error)

func (f redirect) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestObjects(t *testing.T) {
	isolate(t)
	t.Setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "Token1")
	var seen, hosts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.RequestURI)
		if got := r.Header.Get("Authorization"); got != "Bearer Token1" {
			t.Errorf("%s: got %q, want Bearer Token1", r.RequestURI, got)
		}
		switch q := r.URL.Query(); {
		case q.Get("alt") == "media":
			fmt.Fprint(w, "content")
		case q.Get("pageToken") == "":
			fmt.Fprint(w, `{"items":[{"name":"a"}],"nextPageToken":"t/+"}`)
		default:
			fmt.Fprint(w, `{"items":[{"name":"b"}]}`)
		}
	}))
	defer server.Close()
	b, err := OpenBucket(t.Context(), "bucket", ReadObjects, to(server, &hosts))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, err := range b.List(t.Context(), "dir/ä b") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("bucket: got %q, want a and b", names)
	}
	body, size, err := b.Open(t.Context(), "dir/a b?+#.zip", "17")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if content, err := io.ReadAll(body); string(content) != "content" || size != 7 || err != nil {
		t.Errorf("got %q of %d bytes, %v, want \"content\" of 7", content, size, err)
	}
	if want := "/storage/v1/b/bucket/o/dir%2Fa%20b%3F+%23.zip?alt=media&generation=17"; seen[len(seen)-1] != want {
		t.Errorf("the request was for %s, want %s", seen[len(seen)-1], want)
	}
	if hosts = slices.Compact(hosts); !slices.Equal(hosts, []string{"storage.googleapis.com"}) {
		t.Errorf("hosts: got %q, want storage.googleapis.com alone", hosts)
	}
}

func TestRefusals(t *testing.T) {
	isolate(t)
	t.Setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "Token1")
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	var status int
	var answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	b, err := OpenBucket(t.Context(), "bucket", ReadObjects, to(server, new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status       int
		answer, want string
	}{
		{http.StatusNotFound, "No such object: bucket/x", "404 Not Found: No such object: bucket/x"},
		{http.StatusForbidden, `{"error":{"code":403,"message":"in words","errors":[{"reason":"forbidden"}]}}`, "forbidden: in words"},
		{http.StatusUnauthorized, `{"error":{"code":401,"message":"Invalid Credentials"}}`, "Renew the credentials"},
		{http.StatusTemporaryRedirect, "", "307"},
	} {
		status, answer = c.status, c.answer
		_, _, err := b.Open(t.Context(), "x", "")
		var refusal *cloud.Error
		if !errors.As(err, &refusal) || refusal.Status != c.status || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want %s", c.status, err, c.want)
		}
	}
	if elsewhere > 0 {
		t.Error("a redirect was followed")
	}
}

// account writes the file of a service account whose tokens come from a server.
func account(t *testing.T, more map[string]string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{
		"type": "service_account", "client_email": "a@example.com", "token_uri": "https://oauth2.googleapis.com/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	}
	for name, value := range more {
		content[name] = value
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
}

func TestServiceAccount(t *testing.T) {
	isolate(t)
	account(t, nil)
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "payer")
	var hosts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"Fetched1","expires_in":3600,"token_type":"Bearer"}`)
		case r.Header.Get("Authorization") != "Bearer Fetched1" || r.Header.Get("X-Goog-User-Project") != "payer":
			t.Errorf("%s has %v", r.RequestURI, r.Header)
		}
	}))
	defer server.Close()
	b, err := OpenBucket(t.Context(), "bucket", ReadObjects, to(server, &hosts))
	if err != nil {
		t.Fatal(err)
	}
	body, _, err := b.Open(t.Context(), "x", "")
	if err != nil {
		t.Fatal(err)
	}
	body.Close()
	if want := []string{"oauth2.googleapis.com", "storage.googleapis.com"}; !slices.Equal(hosts, want) {
		t.Errorf("requests went to %q, want %q", hosts, want)
	}
}

// TestDomainOfSettings sends a token to the domain that the settings name.
func TestDomainOfSettings(t *testing.T) {
	isolate(t)
	t.Setenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "other.example")
	a, err := Load(t.Context(), ReadObjects, Settings{Token: "t", Domain: "cloud.example"}, to(nil, nil))
	if err != nil || a.Bucket("bucket", "").base != "https://storage.cloud.example/storage/v1/b/bucket/o" {
		t.Errorf("Load: got %+v, %v, want it at storage.cloud.example", a, err)
	}
}

func TestDomains(t *testing.T) {
	isolate(t)
	account(t, map[string]string{"universe_domain": "cloud.example"})
	services := to(nil, nil)
	b, err := OpenBucket(t.Context(), "bucket", ReadObjects, services)
	if err != nil || b.base != "https://storage.cloud.example/storage/v1/b/bucket/o" {
		t.Errorf("OpenBucket: got %+v, %v, want it at storage.cloud.example", b, err)
	}
	t.Setenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "other.example")
	if _, err := OpenBucket(t.Context(), "bucket", ReadObjects, services); err == nil || !strings.Contains(err.Error(), "cloud.example") {
		t.Errorf("a token for one cloud would go to another: %v", err)
	}
	t.Setenv("STORAGE_EMULATOR_HOST", "localhost:4443")
	b, err = OpenBucket(t.Context(), "bucket", ReadObjects, services)
	if err != nil || b.base != "http://localhost:4443/storage/v1/b/bucket/o" {
		t.Errorf("OpenBucket: got %+v, %v, want it at localhost:4443", b, err)
	}
}

// TestServers has the forms in which the address of a server is given: alone, with the path of the service,
// and with that of its buckets.
func TestServers(t *testing.T) {
	isolate(t)
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path)
		fmt.Fprint(w, `{"generation":"1"}`)
	}))
	defer server.Close()
	a, err := Load(t.Context(), WriteObjects, Settings{Token: "Token1"}, to(server, new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"", "/proxy"} {
		for _, path := range []string{"", "/", "/storage/v1", "/storage/v1/", "/storage/v1/b", "/storage/v1/b/"} {
			address := server.URL + before + path
			t.Setenv("STORAGE_EMULATOR_HOST", address)
			emulator, err := OpenBucket(t.Context(), "b", ReadObjects, to(server, new([]string)))
			if err != nil {
				t.Fatal(err)
			}
			seen = nil
			for _, b := range []*Bucket{emulator, a.Bucket("b", address)} {
				if _, _, err := b.Get(t.Context(), "x", nil); err != nil {
					t.Error(err)
				}
				if _, err := b.Put(t.Context(), "x", nil, nil, nil); err != nil {
					t.Error(err)
				}
			}
			one := []string{before + "/storage/v1/b/b/o/x", before + "/upload/storage/v1/b/b/o"}
			if want := slices.Concat(one, one); !slices.Equal(seen, want) {
				t.Errorf("%s: requests were for %q, want %q", address, seen, want)
			}
		}
	}
}
