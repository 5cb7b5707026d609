package gcs_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/cloud/google"
	"github.com/mayfly-iac/mayfly/state/store"
	"github.com/mayfly-iac/mayfly/state/store/gcs"
	"github.com/mayfly-iac/mayfly/state/store/remote"
	"github.com/mayfly-iac/mayfly/state/store/storetest"
)

// server is what the tests need of Cloud Storage: one bucket with generations, for one token.
type server struct {
	*httptest.Server

	mu          sync.Mutex
	objects     map[string]object
	generations int
	status      int // that every request is answered with; 0 for none
	damage      int // how many contents arrive with errors
	seen        []*http.Request
}

type object struct {
	content    string
	generation string
}

const token = "hunter2"

func newServer(t testing.TB) *server {
	s := &server{objects: map[string]object{}, generations: 1000}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error": {"code": %d, "message": %q}}`, status, message)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, r)
	query := r.URL.Query()
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/upload")
	rest, ok := strings.CutPrefix(path, "/storage/v1/b/bucket/o")
	name, _ := url.PathUnescape(strings.TrimPrefix(rest, "/"))
	got, exists := s.objects[name]
	switch {
	case s.status != 0:
		refuse(w, s.status, "no")
	case r.Header.Get("Authorization") != "Bearer "+token:
		refuse(w, http.StatusUnauthorized, "Invalid Credentials")
	case !ok:
		refuse(w, http.StatusNotFound, "The specified bucket does not exist.")
	case r.Method == http.MethodPost:
		s.put(w, query, string(body))
	case name == "":
		s.list(w, query.Get("prefix"))
	case !exists:
		refuse(w, http.StatusNotFound, "No such object: bucket/"+name)
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum([]byte(got.content), crc32.MakeTable(crc32.Castagnoli)))
		w.Header().Set("X-Goog-Hash", "crc32c="+base64.StdEncoding.EncodeToString(sum)+",md5=x")
		w.Header().Set("X-Goog-Generation", got.generation)
		if s.damage > 0 {
			s.damage--
			got.content = strings.ToUpper(got.content)
		}
		fmt.Fprint(w, got.content)
	}
}

func (s *server) put(w http.ResponseWriter, query url.Values, content string) {
	name := query.Get("name")
	got, exists := s.objects[name]
	if want := query.Get("ifGenerationMatch"); want == "0" && exists || want != "" && want != "0" && want != got.generation {
		refuse(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
		return
	}
	s.generations++
	s.objects[name] = object{content, fmt.Sprint(s.generations)}
	_ = json.NewEncoder(w).Encode(map[string]string{"name": name, "generation": s.objects[name].generation})
}

func (s *server) list(w http.ResponseWriter, prefix string) {
	items := []map[string]string{}
	for name := range s.objects {
		if strings.HasPrefix(name, prefix) {
			items = append(items, map[string]string{"name": name})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}

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
			storetest.Run(t, func(t *testing.T) storetest.Harness {
				s, a := newServer(t), account(t, token)
				name := func(workspace string) string { return strings.TrimPrefix(prefix+"/"+workspace+".tfstate", "/") }
				return storetest.Harness{
					Open: func() store.Store { return open(a, s.URL, gcs.Options{Prefix: prefix}) },
					Corrupt: func(workspace string, data []byte) error {
						_, err := a.Bucket("bucket", s.URL).Put(t.Context(), name(workspace), data, nil, nil)
						return err
					},
					Stored: func(workspace string) ([]byte, error) {
						data, _, err := a.Bucket("bucket", s.URL).Get(t.Context(), name(workspace), nil)
						return data, err
					},
				}
			})
		})
	}
}

func TestCuts(t *testing.T) {
	s, a := newServer(t), account(t, token)
	storetest.RunCuts(t, storetest.Remote{
		Server: func(*testing.T, string) string { return s.Listener.Addr().String() },
		Open: func(_ *testing.T, prefix, address string) store.Store {
			return open(a, "http://"+address, gcs.Options{Prefix: prefix})
		},
	})
}

func TestRaces(t *testing.T) {
	storetest.RunRaces(t,
		func(t *testing.T) string { return newServer(t).URL },
		func(t *testing.T, url string) store.Store { return open(account(t, token), url, gcs.Options{}) })
}

// TestDamage reads again what arrives with errors.
func TestDamage(t *testing.T) {
	s := newServer(t)
	m, err := open(account(t, token), s.URL, gcs.Options{}).Manager(store.DefaultWorkspace)
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	s.damage = 1
	if err == nil {
		_, err = m.Read(t.Context())
	}
	if err != nil || s.damage != 0 {
		t.Errorf("%v; %d damages left", err, s.damage)
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		bucket, token string
		status        int
		want          string
	}{
		"bucket": {"nope", token, 0, `"bucket"`},
		"token":  {"bucket", "hunter3", 0, "gcloud auth"},
		"rights": {"bucket", token, http.StatusForbidden, "roles/storage.objectAdmin"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.status = test.status
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

// TestEncryptionOnTheServer sends a customer's key with each request about an object, and the name of a key
// with those that store one.
func TestEncryptionOnTheServer(t *testing.T) {
	s := newServer(t)
	m, err := open(account(t, token), s.URL, gcs.Options{CustomerKey: []byte(strings.Repeat("k", 32)), KMSKey: "keys/1"}).Manager(store.DefaultWorkspace)
	if err == nil {
		err = m.Write(t.Context(), storetest.File(t, "l", 1, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.seen {
		if r.URL.Query().Get("prefix") != "" {
			continue
		}
		if got := r.Header.Get("X-Goog-Encryption-Key"); got != "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=" {
			t.Errorf("%s %s has the key %q", r.Method, r.URL, got)
		}
		if got := r.URL.Query().Get("kmsKeyName"); (got == "keys/1") != (r.Method == http.MethodPost) {
			t.Errorf("%s %s names the key %q", r.Method, r.URL, got)
		}
	}
}
