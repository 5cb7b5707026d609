// Package services starts, for tests of the whole program, a server of each kind that can keep states.
//
// It may import the servers for tests in internal. It must not know any other package of this module: what
// the backends make of their arguments shows from outside.
package services

import (
	"bytes"
	"encoding/base64"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/alibabaserver"
	"github.com/mayfly-iac/mayfly/internal/testing/azureserver"
	"github.com/mayfly-iac/mayfly/internal/testing/consulserver"
	"github.com/mayfly-iac/mayfly/internal/testing/gcsserver"
	"github.com/mayfly-iac/mayfly/internal/testing/httpserver"
	"github.com/mayfly-iac/mayfly/internal/testing/kubeserver"
	"github.com/mayfly-iac/mayfly/internal/testing/postgres"
	"github.com/mayfly-iac/mayfly/internal/testing/s3server"
	"github.com/mayfly-iac/mayfly/internal/testing/tencentserver"
	"github.com/mayfly-iac/mayfly/internal/testing/tfeserver"
	"github.com/mayfly-iac/mayfly/internal/testing/tlsproxy"
)

// Service is a running server with room for any number of states.
type Service interface {
	// Block returns the backend block, within its terraform block, for the state of that name. Equal names
	// are the same state. The name consists of lower case letters and digits.
	Block(name string) string
	// Contents returns every byte that the server has stored, in any order.
	Contents(t testing.TB) []byte
	// Front returns what takes requests for the server, nil for a server that does not speak HTTP.
	Front() *Front
}

// Front passes requests on to a server, or to what a test puts in its place.
type Front struct {
	server nethttp.Handler
	mu     sync.Mutex
	now    nethttp.Handler
}

// newFront returns a front for a running server, which is to get its requests through it.
func newFront(server *httptest.Server) *Front {
	f := &Front{server: server.Config.Handler}
	server.Config.Handler = f
	return f
}

// Wrap lets requests go to what wrap makes of the server until the next call.
func (f *Front) Wrap(wrap func(server nethttp.Handler) nethttp.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = wrap(f.server)
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	f.mu.Lock()
	h := f.now
	f.mu.Unlock()
	if h == nil {
		h = f.server
	}
	h.ServeHTTP(w, r)
}

// Kinds are the kinds of backends in the order of their names, and how a server for each is started. It ends
// with the test, which is skipped, with the reason, where the server cannot be had.
var Kinds = []struct {
	Name  string
	Start func(t testing.TB) Service
}{
	{"azurerm", startAzurerm},
	{"consul", func(t testing.TB) Service { return startConsul(t) }},
	{"cos", startCOS},
	{"gcs", func(t testing.TB) Service { return startGCS(t) }},
	{"http", func(t testing.TB) Service { return &http{t: t, servers: map[string]*httpserver.Server{}} }},
	{"kubernetes", func(t testing.TB) Service { return newKubernetes(t) }},
	{"oss", func(t testing.TB) Service { return startOSS(t) }},
	{"pg", func(t testing.TB) Service { return pg{postgres.Start(t)} }},
	{"remote", func(t testing.TB) Service { return newRemote(t) }},
	{"s3", func(t testing.TB) Service { return startS3(t) }},
}

// block returns a terraform block with a backend block, whose arguments are given as lines.
func block(kind string, arguments ...string) string {
	return fmt.Sprintf("terraform {\n  backend %q {\n    %s\n  }\n}\n", kind, strings.Join(arguments, "\n    "))
}

func argument(name, value string) string { return fmt.Sprintf("%s = %q", name, value) }

type azurerm struct {
	server *azureserver.Server
	front  *Front
}

func (s azurerm) Front() *Front { return s.front }

// startAzurerm starts a server, and a proxy that programs reach it by, since its name cannot be configured.
func startAzurerm(t testing.TB) Service {
	server := azureserver.Start(t)
	front := newFront(server.Server)
	tlsproxy.Start(t, front).Use(t)
	return azurerm{server, front}
}

func (s azurerm) Block(name string) string {
	return block("azurerm", argument("storage_account_name", azureserver.Account), argument("container_name", azureserver.Container),
		argument("key", name), argument("access_key", azureserver.Key))
}

func (s azurerm) Contents(testing.TB) []byte {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var out bytes.Buffer
	for name, blob := range s.server.Blobs {
		fmt.Fprintln(&out, name, blob.Content, blob.Metadata)
	}
	return out.Bytes()
}

type consul struct {
	server *consulserver.Server
	front  *Front
}

func startConsul(t testing.TB) Service {
	server := consulserver.Start(t)
	return consul{server, newFront(server.Server)}
}

func (s consul) Front() *Front { return s.front }

func (s consul) Block(name string) string {
	return block("consul", argument("path", name), argument("address", s.server.Listener.Addr().String()), argument("scheme", "http"))
}

func (s consul) Contents(testing.TB) []byte {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var out bytes.Buffer
	for key, entry := range s.server.Entries {
		fmt.Fprintf(&out, "%s %s\n", key, entry.Value)
	}
	return out.Bytes()
}

type cos struct {
	server *tencentserver.Server
	front  *Front
}

func (s cos) Front() *Front { return s.front }

// startCOS starts a server as startAzurerm does.
func startCOS(t testing.TB) Service {
	server := tencentserver.Start(t)
	front := newFront(server.Server)
	tlsproxy.Start(t, front).Use(t)
	return cos{server, front}
}

func (s cos) Block(name string) string {
	return block("cos", argument("bucket", tencentserver.Bucket), argument("prefix", name), argument("region", "ap-guangzhou"),
		argument("secret_id", "id"), argument("secret_key", "key"))
}

func (s cos) Contents(testing.TB) []byte {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var out bytes.Buffer
	for name, object := range s.server.Objects {
		fmt.Fprintln(&out, name, object.Content)
	}
	return out.Bytes()
}

type gcs struct {
	server *gcsserver.Server
	front  *Front
}

func startGCS(t testing.TB) Service {
	server := gcsserver.Start(t)
	return gcs{server, newFront(server.Server)}
}

func (s gcs) Front() *Front { return s.front }

func (s gcs) Block(name string) string {
	return block("gcs", argument("bucket", gcsserver.Bucket), argument("prefix", name), argument("access_token", gcsserver.Token),
		argument("storage_custom_endpoint", s.server.URL+"/storage/v1/"))
}

func (s gcs) Contents(testing.TB) []byte {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var out bytes.Buffer
	for name, object := range s.server.Objects {
		fmt.Fprintln(&out, name, object.Content)
	}
	return out.Bytes()
}

// http has a server for each state.
type http struct {
	t       testing.TB
	servers map[string]*httpserver.Server
	front   *Front // of the last one
}

func (s *http) Front() *Front { return s.front }

func (s *http) Block(name string) string {
	if s.servers[name] == nil {
		s.servers[name] = httpserver.Start(s.t)
		s.front = newFront(s.servers[name].Server)
	}
	url := s.servers[name].URL
	return block("http", argument("address", url), argument("lock_address", url), argument("unlock_address", url))
}

func (s *http) Contents(testing.TB) []byte {
	var out bytes.Buffer
	for _, server := range s.servers {
		server.Mu.Lock()
		out.Write(server.State)
		out.Write(server.Lock)
		server.Mu.Unlock()
	}
	return out.Bytes()
}

// kubernetes is a cluster with the file that describes it: OpenTofu needs one.
type kubernetes struct {
	server *kubeserver.Server
	front  *Front
	file   string
}

func (k kubernetes) Front() *Front { return k.front }

func newKubernetes(t testing.TB) kubernetes {
	server := kubeserver.Start(t)
	k := kubernetes{server, newFront(server.Server), filepath.Join(t.TempDir(), "config")}
	text := fmt.Sprintf(`{
  "apiVersion": "v1", "kind": "Config", "current-context": "test",
  "clusters": [{"name": "test", "cluster": {"server": %q, "certificate-authority-data": %q}}],
  "users": [{"name": "test", "user": {"token": %q}}],
  "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]
}`, k.server.URL, base64.StdEncoding.EncodeToString([]byte(k.server.CA())), kubeserver.Token)
	if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k kubernetes) Block(name string) string {
	return block("kubernetes", argument("secret_suffix", name), argument("config_path", k.file))
}

func (k kubernetes) Contents(t testing.TB) []byte {
	k.server.Mu.Lock()
	defer k.server.Mu.Unlock()
	var out bytes.Buffer
	for path, object := range k.server.Objects {
		state, err := object.State()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %s %s %v\n", path, state, object.Data["journal"], object.Metadata)
	}
	return out.Bytes()
}

type oss struct {
	server *alibabaserver.Server
	front  *Front
}

func startOSS(t testing.TB) Service {
	server := alibabaserver.Start(t)
	return oss{server, newFront(server.Server)}
}

func (s oss) Front() *Front { return s.front }

func (s oss) Block(name string) string {
	return block("oss", argument("bucket", alibabaserver.Bucket), argument("prefix", name), argument("region", "cn-beijing"),
		argument("access_key", "id"), argument("secret_key", "key"), argument("endpoint", s.server.URL),
		argument("tablestore_endpoint", s.server.URL), argument("tablestore_table", alibabaserver.Table))
}

func (s oss) Contents(testing.TB) []byte {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var out bytes.Buffer
	for name, content := range s.server.Objects {
		fmt.Fprintln(&out, name, content)
	}
	for _, row := range s.server.Rows {
		out.Write(row)
	}
	return out.Bytes()
}

type pg struct{ server *postgres.Server }

func (pg) Front() *Front { return nil }

func (s pg) Block(name string) string {
	return block("pg", argument("conn_str", s.server.URL(0)), argument("schema_name", name))
}

func (s pg) Contents(t testing.TB) []byte {
	t.Helper()
	out, err := s.server.Contents()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type remote struct {
	server *tfeserver.Server
	front  *Front
}

func (r remote) Front() *Front { return r.front }

// host is the name of the host that offers the service of remote.
const host = "states.example.com"

// newRemote starts a server, and sets the user's settings and token for it until the end of the test.
func newRemote(t testing.TB) remote {
	server := tfeserver.Start(t)
	r := remote{server, newFront(server.Server)}
	settings, _ := os.ReadFile(os.Getenv("TF_CLI_CONFIG_FILE")) // without any, there are none to keep
	file := filepath.Join(t.TempDir(), "settings.tfrc")
	api := r.server.API()
	text := fmt.Sprintf("%s\nhost %q {\n  services = { \"tfe.v2\" = %q, \"tfe.v2.1\" = %q, \"tfe.v2.2\" = %q }\n}\n", settings, host, api, api, api) // OpenTofu asks for the others
	text += fmt.Sprintf("credentials %q {\n  token = %q\n}\n", host, tfeserver.Token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TF_CLI_CONFIG_FILE", file)
	return r
}

func (r remote) Block(name string) string {
	return block("remote", argument("hostname", host), argument("organization", tfeserver.Organization), fmt.Sprintf("workspaces { name = %q }", name))
}

func (r remote) Contents(testing.TB) []byte {
	r.server.Mu.Lock()
	defer r.server.Mu.Unlock()
	var out bytes.Buffer
	for _, workspace := range r.server.Workspaces {
		for _, state := range workspace.States {
			fmt.Fprintf(&out, "%s %s\n", workspace.Reason, state.Content)
		}
	}
	return out.Bytes()
}

type s3 struct {
	server *s3server.Server
	front  *Front
}

func startS3(t testing.TB) Service {
	server := s3server.Start(t)
	return s3{server, newFront(server.Server)}
}

func (s s3) Front() *Front { return s.front }

func (s s3) Block(name string) string {
	return block("s3", argument("bucket", s3server.Bucket), argument("key", name), argument("region", "us-east-1"),
		argument("access_key", "id"), argument("secret_key", "key"), "use_lockfile = true", "use_path_style = true",
		"skip_credentials_validation = true", "skip_requesting_account_id = true", "skip_metadata_api_check = true",
		fmt.Sprintf("endpoints = { s3 = %q }", s.server.URL))
}

func (s s3) Contents(testing.TB) []byte {
	s.server.Mu.Lock()
	defer s.server.Mu.Unlock()
	var out bytes.Buffer
	for name, content := range s.server.Objects {
		fmt.Fprintln(&out, name, content)
	}
	return out.Bytes()
}
