package install

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/registrytest"
)

func TestFailingServers(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(make([]byte, 1000))
	}
	for name, tc := range map[string]struct {
		path  string // a part of the paths that fail
		times int    // how often each fails before it goes well
		how   http.HandlerFunc
		want  string // a part of the error, "" if it goes well
	}{
		"discovery once":       {"terraform.json", 1, status(503), ""},
		"discovery for good":   {"terraform.json", 9, status(503), "example.com could not be queried for its registry: failed to request discovery document: 503"},
		"no registry":          {"terraform.json", 9, status(404), "was not found in any of the search locations"},
		"versions once":        {"/versions", 1, status(500), ""},
		"versions for good":    {"/versions", 9, status(500), "https://example.com/v1/providers/acme/cloud/versions answers 500"},
		"versions nonsense":    {"/versions", 9, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[")) }, "is not a list of versions"},
		"denied":               {"/versions", 9, status(401), "TF_TOKEN_example_com"},
		"package denied":       {"/download/", 9, status(403), "answers 403 Forbidden: it wants other credentials"},
		"no package":           {"/download/", 9, status(404), "/v1/providers/acme/cloud/1.2.0/download/linux/amd64 answers 404"},
		"sums once":            {"SHA256SUMS", 1, status(502), ""},
		"archive twice":        {".zip", 2, status(502), ""},
		"archive for good":     {".zip", 9, status(502), ".zip answers 502 Bad Gateway"},
		"archive not there":    {".zip", 9, status(404), ".zip answers 404 Not Found"},
		"truncated twice":      {".zip", 2, cut, ""},
		"truncated for good":   {".zip", 9, cut, "unexpected EOF"},
		"package description?": {"/download/", 9, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, "has a bad download_url"},
		"downgrade": {"/download/", 9, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"download_url": "http://example.com/x"}`))
		}, "http://example.com/x is not encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			var mu sync.Mutex
			failed := map[string]int{}
			f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				if !strings.Contains(r.URL.Path, tc.path) || failed[r.URL.Path] >= tc.times {
					return false
				}
				failed[r.URL.Path]++
				tc.how(w, r)
				return true
			}
			reqs := f.reqs(need(cloud, ">= 1"))
			if tc.want != "" {
				f.fails(reqs, nil, Options{}, tc.want)
				f.absent()
				return
			}
			f.init(reqs, nil, Options{})
			if len(failed) == 0 {
				t.Error("nothing failed")
			}
		})
	}
}

func TestSlowServer(t *testing.T) {
	f := newNetFixture(t)
	f.net.Env.Vars["TF_REGISTRY_CLIENT_TIMEOUT"] = "1"
	f.net.Env.Vars["TF_REGISTRY_DISCOVERY_RETRY"] = "0"
	f.configure("")
	f.server.Hook = func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}
	f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "example.com could not be queried", "it took too long")
	f.net.Env.Vars["TF_REGISTRY_CLIENT_TIMEOUT"] = "soon"
	if _, diags := f.net.Sources(); !diags.HasErrors() || !strings.Contains(diags.Err().Error(), "TF_REGISTRY_CLIENT_TIMEOUT must be a whole number") {
		t.Errorf("%v", diags)
	}
}

func TestCredentials(t *testing.T) {
	const token = "t0ps3cret"
	helper := "#!/bin/sh\n[ \"$1 $2 $3\" = \"-v get example.com\" ] && echo '{\"token\": \"" + token + "\"}'\n"
	for name, tc := range map[string]struct {
		rc   string
		vars map[string]string
		want string // a part of the error
	}{
		"none":        {want: "TF_TOKEN_example_com"},
		"block":       {rc: "credentials \"example.com\" {\n  token = \"" + token + "\"\n}"},
		"wrong":       {rc: "credentials \"example.com\" {\n  token = \"wr0ng\"\n}", want: "answers 401"},
		"helper":      {rc: "credentials_helper \"good\" {\n  args = [\"-v\"]\n}"},
		"bad helper":  {rc: "credentials_helper \"bad\" {\n}", want: `the credentials helper "bad"`},
		"lost helper": {rc: "credentials_helper \"lost\" {\n}", want: "no program terraform-credentials-lost"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.server.Token = token
			plugins := filepath.Join(f.net.Env.ConfigDir(), "plugins")
			f.write(filepath.Join(plugins, "terraform-credentials-good"), helper, 0o755)
			f.write(filepath.Join(plugins, "terraform-credentials-bad"), "#!/bin/sh\necho "+token+"; echo "+token+" >&2; exit 1\n", 0o755)
			f.configure(tc.rc)
			f.inst.Sources = f.inst.Sources[len(f.inst.Sources)-1:]
			reqs := f.reqs(need(cloud, ">= 1"))
			if tc.want == "" {
				f.init(reqs, nil, Options{})
				for _, r := range f.server.Requests() {
					if r.Authorization != "Bearer "+token {
						t.Errorf("%s was asked for with %q, want %q", r.Path, r.Authorization, "Bearer "+token)
					}
				}
				return
			}
			_, _, diags := f.inst.Ensure(context.Background(), reqs, nil, Options{})
			f.wantError(diags, tc.want)
			for _, secret := range []string{token, "wr0ng"} {
				if strings.Contains(diags.Err().Error(), secret) {
					t.Errorf("the token is shown:\n%s", diags.Err())
				}
			}
		})
	}
}

func TestOCILogin(t *testing.T) {
	const auth = `{"auths": {"SERVER": {"auth": "dTpwYTU1"}}}` // u:pa55
	for name, tc := range map[string]struct {
		rc, docker string
		want       string
	}{
		"none":        {want: "Log in with a tool"},
		"block":       {rc: "oci_credentials \"SERVER/acme\" {\n  username = \"u\"\n  password = \"pa55\"\n}"},
		"other block": {rc: "oci_credentials \"SERVER/ac\" {\n  username = \"u\"\n  password = \"pa55\"\n}", want: "Log in with a tool"},
		"wrong":       {rc: "oci_credentials \"SERVER\" {\n  username = \"u\"\n  password = \"pa56\"\n}", want: "answers 401"},
		"docker":      {docker: auth},
		"not ambient": {docker: auth, rc: "oci_default_credentials {\n  discover_ambient_credentials = false\n}", want: "Log in with a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			f.server.Login = "u:pa55"
			if tc.docker != "" {
				f.write(filepath.Join(f.net.Env.Home, ".docker", "config.json"), strings.ReplaceAll(tc.docker, "SERVER", f.server.Host()), 0o600)
			}
			f.configure(methods["OCI mirror"] + "\n" + tc.rc)
			reqs := f.reqs(need(cloud, ">= 1"))
			if tc.want == "" {
				f.init(reqs, nil, Options{})
				return
			}
			_, _, diags := f.inst.Ensure(context.Background(), reqs, nil, Options{})
			f.wantError(diags, tc.want)
			if strings.Contains(diags.Err().Error(), "pa5") {
				t.Errorf("the password is shown:\n%s", diags.Err())
			}
		})
	}
}

func TestCredentialsStayAtHome(t *testing.T) {
	const token, query = "t0ps3cret", "signature=s3cr3t"
	for name, rc := range methods {
		t.Run(name, func(t *testing.T) {
			f := newNetFixture(t)
			var mu sync.Mutex
			var foreign []registrytest.Request
			other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				foreign = append(foreign, registrytest.Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), Referer: r.Referer()})
				r.Header.Set("Authorization", "")
				w.WriteHeader(http.StatusTeapot)
			}))
			defer other.Close()
			f.server.Token, f.server.Login = token, "u:"+token
			f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, ".zip") && !strings.Contains(r.URL.Path, "/blobs/") && !strings.HasSuffix(r.URL.Path, "SHA256SUMS") {
					return false
				}
				if r.Header.Get("Authorization") == "" && strings.Contains(r.URL.Path, "/blobs/") {
					return false
				}
				http.Redirect(w, r, other.URL+r.URL.Path+"?"+query, http.StatusFound)
				return true
			}
			f.net.Env.Vars["TF_REGISTRY_DISCOVERY_RETRY"] = "0"
			f.configure(rc + "\ncredentials \"example.com\" {\n  token = \"" + token + "\"\n}\ncredentials \"SERVER\" {\n  token = \"" + token + "\"\n}\n" +
				"oci_credentials \"SERVER\" {\n  username = \"u\"\n  password = \"" + token + "\"\n}\n")
			_, _, diags := f.inst.Ensure(context.Background(), f.reqs(need(cloud, ">= 1")), nil, Options{})
			f.wantError(diags, "answers 418")
			if text := diags.Err().Error(); strings.Contains(text, token) || strings.Contains(text, "s3cr3t") {
				t.Errorf("a secret is shown:\n%s", text)
			}
			if len(foreign) == 0 {
				t.Fatal("the redirect was not followed")
			}
			for _, r := range foreign {
				if r.Authorization != "" || r.Referer != "" {
					t.Errorf("request to the other server: got %+v, want no credentials and no referrer", r)
				}
			}
			if !slices.ContainsFunc(f.server.Requests(), func(r registrytest.Request) bool { return r.Authorization != "" }) {
				t.Error("the credentials were never sent")
			}
		})
	}
}

// TestTokenIsForTheRegistryOnly has a registry name addresses on another server.
func TestTokenIsForTheRegistryOnly(t *testing.T) {
	f := newNetFixture(t)
	var asked atomic.Int32
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("credentials for another server: got %q, want none", got)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	f.server.Token = "t0ps3cret"
	f.server.Hook = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/download/") {
			return false
		}
		fmt.Fprintf(w, `{"protocols": ["5.0"], "filename": "x.zip", "download_url": "%[1]s/x.zip", "shasums_url": "%[1]s/sums", "shasums_signature_url": "%[1]s/sig"}`, other.URL)
		return true
	}
	f.configure("credentials \"example.com\" {\n  token = \"t0ps3cret\"\n}")
	f.fails(f.reqs(need(cloud, ">= 1")), nil, Options{}, "answers 418")
	if asked.Load() == 0 {
		t.Error("the other server was not asked")
	}
}
