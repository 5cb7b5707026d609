// Package services starts, for tests of the whole program, a server of each kind that can keep states.
//
// It may import the servers for tests in internal. It must not know any other package of this module: the
// backends' use of their arguments shows from outside.
package services

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
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
	"github.com/mayfly-iac/mayfly/internal/testing/webserver"
)

// Service is a running server with room for any number of states.
type Service struct {
	// Block returns the backend block, within its terraform block, for the state of that name. Equal names
	// are the same state. The name consists of lower case letters and digits.
	Block func(name string) string
	// Contents returns every byte that the server has stored, in any order.
	Contents func() []byte
	// LogAll has the server log all that it is asked, as part of its contents; nil if it has no such log.
	LogAll func()
	// Front takes requests for the server. It is nil for a server that does not speak HTTP.
	Front *Front
}

// newService returns a service whose contents write writes. A backend block has the arguments for its state.
func newService(kind string, server *webserver.Base, arguments func(name string) []string, write func(w io.Writer)) *Service {
	return &Service{
		Block: func(name string) string { return block(kind, arguments(name)...) },
		Contents: func() []byte {
			server.Mu.Lock()
			defer server.Mu.Unlock()
			var out bytes.Buffer
			write(&out)
			return out.Bytes()
		},
		Front: newFront(server.Server),
	}
}

// Front passes requests on to a server, or to a handler that a test puts in its place.
type Front struct {
	server http.Handler
	mu     sync.Mutex
	now    http.Handler
}

// newFront returns a front for a running server, which is to get its requests through it.
func newFront(server *httptest.Server) *Front {
	f := &Front{server: server.Config.Handler}
	server.Config.Handler = f
	return f
}

// Wrap lets requests go to the handler that wrap makes of the server until the next call.
func (f *Front) Wrap(wrap func(server http.Handler) http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = wrap(f.server)
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	Start func(t testing.TB) *Service
}{
	{"azurerm", startAzurerm},
	{"consul", startConsul},
	{"cos", startCOS},
	{"gcs", startGCS},
	{"http", startHTTP},
	{"kubernetes", startKubernetes},
	{"oss", startOSS},
	{"pg", startPG("pg")},
	{"postgres", startPG("postgres")},
	{"remote", startRemote},
	{"s3", startS3},
}

// Own are the kinds that no other engine has.
var Own = []string{"postgres"}

// block returns a terraform block with a backend block, whose arguments are given as lines.
func block(kind string, arguments ...string) string {
	return fmt.Sprintf("terraform {\n  backend %q {\n    %s\n  }\n}\n", kind, strings.Join(arguments, "\n    "))
}

func argument(name, value string) string { return fmt.Sprintf("%s = %q", name, value) }

// startAzurerm starts a server, and a proxy that programs reach it by, since its name cannot be configured.
func startAzurerm(t testing.TB) *Service {
	server := azureserver.Start(t)
	s := newService("azurerm", &server.Base, func(name string) []string {
		return []string{
			argument("storage_account_name", azureserver.Account), argument("container_name", azureserver.Container),
			argument("key", name), argument("access_key", azureserver.Key),
		}
	}, func(w io.Writer) {
		for name, blob := range server.Blobs {
			fmt.Fprintln(w, name, blob.Content, blob.Metadata)
		}
	})
	tlsproxy.Start(t, s.Front).Use(t)
	return s
}

func startConsul(t testing.TB) *Service {
	server := consulserver.Start(t)
	return newService("consul", &server.Base, func(name string) []string {
		return []string{argument("path", name), argument("address", server.Listener.Addr().String()), argument("scheme", "http")}
	}, func(w io.Writer) {
		for key, entry := range server.Entries {
			fmt.Fprintf(w, "%s %s\n", key, entry.Value)
		}
	})
}

// startCOS starts a server as startAzurerm does.
func startCOS(t testing.TB) *Service {
	server := tencentserver.Start(t)
	s := newService("cos", &server.Base, func(name string) []string {
		return []string{
			argument("bucket", tencentserver.Bucket), argument("prefix", name), argument("region", "ap-guangzhou"),
			argument("secret_id", "id"), argument("secret_key", "key"),
		}
	}, func(w io.Writer) {
		for name, object := range server.Objects {
			fmt.Fprintln(w, name, object.Content)
		}
	})
	tlsproxy.Start(t, s.Front).Use(t)
	return s
}

func startGCS(t testing.TB) *Service {
	server := gcsserver.Start(t)
	return newService("gcs", &server.Base, func(name string) []string {
		return []string{
			argument("bucket", gcsserver.Bucket), argument("prefix", name), argument("access_token", gcsserver.Token),
			argument("storage_custom_endpoint", server.URL+"/storage/v1/"),
		}
	}, func(w io.Writer) {
		for name, object := range server.Objects {
			fmt.Fprintln(w, name, object.Content)
		}
	})
}

// startHTTP returns a service with a server for each state. Its front is the last one's.
func startHTTP(t testing.TB) *Service {
	servers := map[string]*httpserver.Server{}
	s := &Service{Contents: func() []byte {
		var out bytes.Buffer
		for _, server := range servers {
			server.Mu.Lock()
			out.Write(server.State)
			out.Write(server.Lock)
			server.Mu.Unlock()
		}
		return out.Bytes()
	}}
	s.Block = func(name string) string {
		if servers[name] == nil {
			servers[name] = httpserver.Start(t)
			s.Front = newFront(servers[name].Server)
		}
		url := servers[name].URL
		return block("http", argument("address", url), argument("lock_address", url), argument("unlock_address", url))
	}
	return s
}

// startKubernetes starts a cluster, and writes the file that describes it: OpenTofu needs one.
func startKubernetes(t testing.TB) *Service {
	server, file := kubeserver.Start(t), filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{
  "apiVersion": "v1", "kind": "Config", "current-context": "test",
  "clusters": [{"name": "test", "cluster": {"server": %q, "certificate-authority-data": %q}}],
  "users": [{"name": "test", "user": {"token": %q}}],
  "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]
}`, server.URL, base64.StdEncoding.EncodeToString([]byte(server.CA())), kubeserver.Token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return newService("kubernetes", &server.Base, func(name string) []string {
		return []string{argument("secret_suffix", name), argument("config_path", file)}
	}, func(w io.Writer) {
		for path, object := range server.Objects {
			state, err := object.State()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(w, "%s %s %s %v\n", path, state, object.Data["journal"], object.Metadata)
		}
	})
}

func startOSS(t testing.TB) *Service {
	server := alibabaserver.Start(t)
	return newService("oss", &server.Base, func(name string) []string {
		return []string{
			argument("bucket", alibabaserver.Bucket), argument("prefix", name), argument("region", "cn-beijing"),
			argument("access_key", "id"), argument("secret_key", "key"), argument("endpoint", server.URL),
			argument("tablestore_endpoint", server.URL), argument("tablestore_table", alibabaserver.Table),
		}
	}, func(w io.Writer) {
		for name, content := range server.Objects {
			fmt.Fprintln(w, name, content)
		}
		for _, row := range server.Rows {
			_, _ = w.Write(row)
		}
	})
}

// startPG returns the start of a server for one of the backends that keep states in PostgreSQL.
func startPG(kind string) func(t testing.TB) *Service {
	return func(t testing.TB) *Service {
		server := postgres.Start(t)
		return &Service{
			LogAll: server.LogStatements,
			Block: func(name string) string {
				return block(kind, argument("conn_str", server.URL(0)), argument("schema_name", name))
			},
			Contents: func() []byte {
				out, err := server.Contents()
				if err != nil {
					t.Fatal(err)
				}
				return out
			},
		}
	}
}

// host is the name of the host that offers the service of remote.
const host = "states.example.com"

// startRemote starts a server, and sets the user's settings and token for it until the end of the test.
func startRemote(t testing.TB) *Service {
	server := tfeserver.Start(t)
	settings, _ := os.ReadFile(os.Getenv("TF_CLI_CONFIG_FILE")) // without any, there are none to keep
	file := filepath.Join(t.TempDir(), "settings.tfrc")
	api := server.API()
	text := fmt.Sprintf("%s\nhost %q {\n  services = { \"tfe.v2\" = %q, \"tfe.v2.1\" = %q, \"tfe.v2.2\" = %q }\n}\n", settings, host, api, api, api) // OpenTofu asks for the others
	text += fmt.Sprintf("credentials %q {\n  token = %q\n}\n", host, tfeserver.Token)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TF_CLI_CONFIG_FILE", file)
	return newService("remote", &server.Base, func(name string) []string {
		return []string{argument("hostname", host), argument("organization", tfeserver.Organization), fmt.Sprintf("workspaces { name = %q }", name)}
	}, func(w io.Writer) {
		for _, workspace := range server.Workspaces {
			for _, state := range workspace.States {
				fmt.Fprintf(w, "%s %s\n", workspace.Reason, state.Content)
			}
		}
	})
}

func startS3(t testing.TB) *Service {
	server := s3server.Start(t)
	return newService("s3", &server.Base, func(name string) []string {
		return []string{
			argument("bucket", s3server.Bucket), argument("key", name), argument("region", "us-east-1"),
			argument("access_key", "id"), argument("secret_key", "key"), "use_lockfile = true", "use_path_style = true",
			"skip_credentials_validation = true", "skip_requesting_account_id = true", "skip_metadata_api_check = true",
			fmt.Sprintf("endpoints = { s3 = %q }", server.URL),
		}
	}, func(w io.Writer) {
		for name, content := range server.Objects {
			fmt.Fprintln(w, name, content)
		}
	})
}
