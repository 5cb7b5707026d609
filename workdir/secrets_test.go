package workdir

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly"
	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/testing/filetest"
	"github.com/mayfly-iac/mayfly/plan"
)

const password = "CANARY-b7f3e1"

// stateServer keeps states by path for those who know the password.
func stateServer(t *testing.T) *httptest.Server {
	states := map[string][]byte{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, given, _ := r.BasicAuth(); given != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.Method {
		case http.MethodGet:
			if states[r.URL.Path] == nil {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = w.Write(states[r.URL.Path])
		case http.MethodPost:
			states[r.URL.Path], _ = io.ReadAll(r.Body)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// noSecret searches what a run leaves behind for the password.
func noSecret(t *testing.T, files ...string) {
	t.Helper()
	err := filepath.WalkDir(".terraform", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parts := [][]byte{b}
		if z, err := zip.NewReader(bytes.NewReader(b), int64(len(b))); err == nil {
			for _, f := range z.File {
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				part, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				parts = append(parts, part)
			}
		}
		for _, part := range parts {
			for _, form := range []string{password, base64.StdEncoding.EncodeToString([]byte(password)), fmt.Sprintf("%x", password)} {
				if bytes.Contains(part, []byte(form)) {
					t.Errorf("%s has the password", name)
				}
			}
		}
	}
}

// TestCredentialsStayOutOfFiles initializes a directory once with a password given in each way, and then
// plans, saves and applies without it being given by -backend-config again.
func TestCredentialsStayOutOfFiles(t *testing.T) {
	const declared = `
variable "token" {
  ephemeral = true
  default   = null
}
resource "terraform_data" "x" {}
terraform {
  backend "http" {
    address  = "%s/state"
    username = "u"
%s
  }
}
`
	for name, c := range map[string]struct {
		block, foreign string
		settings, env  []string
	}{
		"setting":                     {settings: []string{"password=" + password}},
		"address":                     {settings: []string{"address=@ADDRESS@"}},
		"address, environment":        {env: []string{"TF_HTTP_ADDRESS=@ADDRESS@"}},
		"environment":                 {env: []string{"TF_HTTP_PASSWORD=" + password}},
		"ephemeral":                   {block: "password = var.token", env: []string{"TF_VAR_token=" + password}},
		"header":                      {block: `headers = { Authorization = "Basic ${base64encode("u:${var.token}")}" }` + "\nusername = null", env: []string{"TF_VAR_token=" + password}},
		"recorded by another program": {foreign: `{"version": 3, "backend": {"type": "http", "hash": 1, "config": {"address": "%s/state", "username": "u", "password": "` + password + `"}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			s := stateServer(t)
			text := fmt.Sprintf(declared, s.URL, c.block)
			if strings.Contains(c.block, "username") {
				text = strings.Replace(text, "    username = \"u\"\n", "", 1)
			}
			inAddress := strings.NewReplacer("@ADDRESS@", strings.Replace(s.URL, "://", "://u:"+password+"@", 1)+"/state?api_token="+password)
			for _, given := range [][]string{c.settings, c.env} {
				for i := range given {
					if given[i] != inAddress.Replace(given[i]) {
						given[i] = inAddress.Replace(given[i])
						text = strings.NewReplacer("    username = \"u\"\n", "", fmt.Sprintf("    address  = \"%s/state\"\n", s.URL), "").Replace(text)
					}
				}
			}
			filetest.Write(t, "main.tf", text)
			config, journals := t.TempDir(), t.TempDir()
			open := func() *Dir {
				d := New(Options{Environ: append([]string{"XDG_CONFIG_HOME=" + config, "XDG_STATE_HOME=" + journals}, c.env...)})
				wants(t, d.Load(t.Context()), "")
				return d
			}
			opt := BackendOptions{Settings: c.settings}
			if c.foreign != "" {
				if err := os.Mkdir(".terraform", 0o700); err != nil {
					t.Fatal(err)
				}
				record := strings.Replace(fmt.Sprintf(c.foreign, s.URL), `"hash": 1`, fmt.Sprintf(`"hash": %d`, blockOf(t, open()).fullHash()), 1)
				filetest.Write(t, ".terraform/terraform.tfstate", record)
			}
			_, diags := open().Backend.Init(t.Context(), opt)
			wants(t, diags, "")
			run, diags := open().Begin(t.Context(), "plan", BeginOptions{})
			wants(t, diags, "")
			planned, diags := run.Operation.Plan(t.Context(), mayfly.PlanOptions{Variables: run.Variables})
			wants(t, diags, "")
			wants(t, run.Save(planned, "tfplan"), "")
			wants(t, run.Close(), "")
			noSecret(t, "tfplan")
			later := open()
			saved, diags := later.Plans.Open(t.Context(), "tfplan")
			wants(t, diags, "")
			run, diags = later.Plans.Resume(t.Context(), saved, "apply", BeginOptions{})
			wants(t, diags, "")
			_, diags = run.Operation.Apply(t.Context(), saved.Plan, mayfly.ApplyOptions{Variables: run.Variables})
			wants(t, diags, "")
			wants(t, run.Close(), "")
			noSecret(t)
		})
	}
}

// TestLeavingABackend moves the state out of a backend whose block, with its credentials, has gone.
func TestLeavingABackend(t *testing.T) {
	for name, arguments := range map[string]string{
		"password": "    address  = \"http://%s/state\"\n    username = \"u\"\n    password = %q\n",
		"address":  "    address = \"http://u:%[2]s@%[1]s/state\"\n",
	} {
		t.Run(name, func(t *testing.T) { leaveBackend(t, arguments) })
	}
}

func leaveBackend(t *testing.T, arguments string) {
	t.Helper()
	t.Chdir(t.TempDir())
	s := stateServer(t)
	config, journals := t.TempDir(), t.TempDir()
	open := func() *Dir {
		d := New(Options{Environ: []string{"XDG_CONFIG_HOME=" + config, "XDG_STATE_HOME=" + journals}})
		wants(t, d.Load(t.Context()), "")
		return d
	}
	filetest.Write(t, "main.tf", "terraform {\n  backend \"http\" {\n"+fmt.Sprintf(arguments, strings.TrimPrefix(s.URL, "http://"), password)+"  }\n}\nresource \"terraform_data\" \"x\" {}\n")
	_, diags := open().Backend.Init(t.Context(), BackendOptions{})
	wants(t, diags, "")
	run, diags := open().Begin(t.Context(), "apply", BeginOptions{})
	wants(t, diags, "")
	planned, diags := run.Operation.Plan(t.Context(), mayfly.PlanOptions{})
	wants(t, diags, "")
	_, diags = run.Operation.Apply(t.Context(), planned, mayfly.ApplyOptions{})
	wants(t, diags, "")
	wants(t, run.Close(), "")
	noSecret(t)
	filetest.Write(t, "main.tf", "resource \"terraform_data\" \"x\" {}\n")
	_, diags = open().Backend.Init(t.Context(), BackendOptions{ForceCopy: true})
	wants(t, diags, "")
	if b, err := os.ReadFile("terraform.tfstate"); err != nil || !bytes.Contains(b, []byte("terraform_data")) {
		t.Errorf("the state did not come: %v", err)
	}
}

func blockOf(t *testing.T, d *Dir) location {
	t.Helper()
	l, diags := d.Backend.locations.declaredLocation(t.Context(), d.root, nil)
	wants(t, diags, "")
	return l
}

// TestMissingKey explains what to do if the key of recorded credentials is not there.
func TestMissingKey(t *testing.T) {
	t.Chdir(t.TempDir())
	s := stateServer(t)
	filetest.Write(t, "main.tf", `terraform { 
  backend "http" {} 
}`)
	config := filepath.Join(t.TempDir(), "config")
	read := func(env ...string) diag.List {
		d := New(Options{Environ: append([]string{"XDG_CONFIG_HOME=" + config}, env...)})
		_, diags := d.Backend.ReadState(t.Context(), StateFiles{})
		return diags
	}
	initialize := func() {
		d := New(Options{Environ: []string{"XDG_CONFIG_HOME=" + config}})
		wants(t, d.LoadRoot(t.Context()), "")
		_, diags := d.Backend.Init(t.Context(), BackendOptions{Settings: []string{"address=" + s.URL, "password=" + password}})
		wants(t, diags, "")
	}
	initialize()
	wants(t, read(), "")
	key := filepath.Join(config, "mayfly", "backend.key")
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"does not exist here", `-backend-config="password=..."`, "TF_HTTP_PASSWORD"} {
		wants(t, read(), want)
	}
	wants(t, read("TF_HTTP_PASSWORD="+password), "")
	wants(t, read("TF_HTTP_PASSWORD=wrong"), "401")
	initialize() // makes a new key
	wants(t, read(), "")
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	wants(t, read(), "is another one")
	filetest.Write(t, key, "x")
	wants(t, read(), "is damaged")
}

// TestRemoteStateWithCredentials reads a state with ephemeral credentials, which are stored nowhere.
func TestRemoteStateWithCredentials(t *testing.T) {
	t.Chdir(t.TempDir())
	s := stateServer(t)
	filetest.Write(t, "main.tf", fmt.Sprintf(`
variable "token" {
  ephemeral = true
}
data "terraform_remote_state" "x" {
  backend = "http"
  config = {
    address = "%s/other"
  }
  config_wo = {
    password = var.token
  }
}
output "o" {
  value = data.terraform_remote_state.x.outputs.answer
}`, s.URL))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/other", strings.NewReader(`{"version": 4, "terraform_version": "1.0.0", "serial": 1, "lineage": "l", "outputs": {"answer": {"value": "42", "type": "string"}}, "resources": []}`))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("", password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.Body.Close() != nil {
		t.Fatal(err)
	}
	begin := func(token string) (*Session, *plan.Plan, diag.List) {
		d := New(Options{Environ: []string{"TF_VAR_token=" + token}})
		wants(t, d.Load(t.Context()), "")
		run, diags := d.Begin(t.Context(), "plan", BeginOptions{})
		wants(t, diags, "")
		planned, diags := run.Operation.Plan(t.Context(), mayfly.PlanOptions{Variables: run.Variables})
		return run, planned, diags
	}
	run, planned, diags := begin(password)
	wants(t, diags, "")
	wants(t, run.Save(planned, "tfplan"), "")
	_, diags = run.Operation.Apply(t.Context(), planned, mayfly.ApplyOptions{Variables: run.Variables})
	wants(t, diags, "")
	wants(t, run.Close(), "")
	stored, err := os.ReadFile("terraform.tfstate")
	if err != nil || !bytes.Contains(stored, []byte(`"42"`)) || bytes.Contains(stored, []byte("config_wo")) {
		t.Errorf("%s %v", stored, err)
	}
	if err := os.Mkdir(".terraform", 0o700); err != nil {
		t.Fatal(err)
	}
	noSecret(t, "tfplan", "terraform.tfstate")
	run, _, diags = begin("wrong")
	wants(t, diags, "401 Unauthorized")
	if text := fmt.Sprint(diags); strings.Contains(text, s.URL) {
		t.Errorf("the error has something of the configuration: %s", text)
	}
	wants(t, run.Close(), "")
}

// TestRemoteStateOfSecretPlaces shows nothing of write-only configuration in errors about servers that
// refuse, however the clients of the stores write their addresses.
func TestRemoteStateOfSecretPlaces(t *testing.T) {
	const place = "p@th to/the $ecret=1&2"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, "no %s, %s for %q", r.URL, r.URL.Path, r.Header)
	}))
	defer server.Close()
	for kind, config := range map[string]string{
		"consul": `path = var.place, address = "ADDRESS", scheme = "http", access_token = "t0ken-t0ken"`,
		"s3":     `key = var.place, bucket = "mybucket", region = "us-east-1", access_key = "t0ken-t0ken", secret_key = "my-secret-key", endpoints = { s3 = "http://ADDRESS" }, skip_credentials_validation = true, max_retries = 1, use_path_style = true`,
		"gcs":    `prefix = var.place, bucket = "mybucket", access_token = "t0ken-t0ken", storage_custom_endpoint = "http://ADDRESS"`,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Chdir(t.TempDir())
			filetest.Write(t, "main.tf", fmt.Sprintf(`
variable "place" {
  ephemeral = true
}
data "terraform_remote_state" "x" {
  backend   = %q
  config_wo = { %s }
}`, kind, strings.ReplaceAll(config, "ADDRESS", server.Listener.Addr().String())))
			d := New(Options{Environ: []string{"TF_VAR_place=" + place}})
			wants(t, d.Load(t.Context()), "")
			run, diags := d.Begin(t.Context(), "plan", BeginOptions{})
			wants(t, diags, "")
			_, diags = run.Operation.Plan(t.Context(), mayfly.PlanOptions{Variables: run.Variables})
			wants(t, diags, "403")
			text := fmt.Sprint(diags)
			for _, piece := range []string{"p@th", "p%40th", "p%2540th", "to%2F", "ecret", "t0ken", "mybucket", "127.0.0.1", "ephemeral value"} { // the last: found only later, by the guard of the run
				if strings.Contains(text, piece) {
					t.Errorf("the error has %q: %s", piece, text)
				}
			}
			wants(t, run.Close(), "")
		})
	}
}
