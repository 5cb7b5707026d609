package azure_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/testing/azureserver"
)

// to sends requests for any server to one.
type to struct{ server *azureserver.Server }

func (t to) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(t.server.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

func certificate(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})...)
}

// TestPrincipals gets tokens in each way, uses them for blobs, and looks up the account's key with them.
func TestPrincipals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the Azure CLI is a shell script here")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho '{\"accessToken\": \"" + azureserver.Token + "\", \"expiresOn\": \"2090-01-01 00:00:00.000000\", \"expires_on\": 3786912000}'\n"
	if err := os.WriteFile(filepath.Join(dir, "az"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT", "IMDS_ENDPOINT", "AZURE_POD_IDENTITY_AUTHORITY_HOST"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	assertion := func(context.Context) (string, error) { return "federated", nil }
	for name, p := range map[string]azure.Principal{
		"secret":      {Tenant: "tenant", Client: "client", Secret: azureserver.Token},
		"certificate": {Tenant: "tenant", Client: "client", Certificate: certificate(t)},
		"assertion":   {Tenant: "tenant", Client: "client", Assertion: assertion},
		"machine":     {Managed: true},
		"CLI":         {CLI: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := azureserver.Start(t)
			client := cloud.Client(to{server})
			e, err := azure.EnvironmentOf("public")
			if err != nil {
				t.Fatal(err)
			}
			c, err := e.Credential(p, client)
			if err != nil {
				t.Fatal(err)
			}
			a, err := azure.WithCredential(t.Context(), azureserver.Account, c, client)
			if err != nil {
				t.Fatal(err)
			}
			container := a.Container(e.BlobServer(azureserver.Account), azureserver.Container)
			if _, err := container.Put(t.Context(), "a", []byte("x"), nil, nil); err != nil {
				t.Error(err)
			}
			key, err := e.Key(t.Context(), azure.Resource{Subscription: "s", Group: "g", Name: azureserver.Account}, c, client)
			if err != nil || key != azureserver.Key {
				t.Errorf("key: got %q, %v, want %q", key, err, azureserver.Key)
			}
		})
	}
}

// TestRefusedPrincipals says in the service's words, without its formalities, why there is no token.
func TestRefusedPrincipals(t *testing.T) {
	server := azureserver.Start(t)
	client := cloud.Client(to{server})
	e, _ := azure.EnvironmentOf("public")
	c, err := e.Credential(azure.Principal{Tenant: "tenant", Client: "client", Secret: "canary"}, client)
	if err != nil {
		t.Fatal(err)
	}
	_, err = azure.WithCredential(t.Context(), azureserver.Account, c, client)
	if err == nil || !strings.HasSuffix(err.Error(), "invalid_client: AADSTS7000215: Invalid client secret provided.") || strings.Contains(err.Error(), "canary") {
		t.Errorf("the error is %v", err)
	}
	if _, err := e.Credential(azure.Principal{Tenant: "t", Client: "c", Certificate: []byte("canary")}, client); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a bad certificate: %v", err)
	}
}

// TestSharedAccess sends a signature with each request, and shows it in no error.
func TestSharedAccess(t *testing.T) {
	server := azureserver.Start(t)
	a, err := azure.WithSAS(azureserver.Account, "?sv=2024-11-04&sp=racwdl&sig=can%2Fary", cloud.Client(to{server}))
	if err != nil {
		t.Fatal(err)
	}
	c := a.Container("https://account.blob.core.windows.net", azureserver.Container)
	if _, err := c.Put(t.Context(), "a b", []byte("x"), nil, nil); err != nil {
		t.Error(err)
	}
	if names, err := c.List(t.Context(), "a"); err != nil || len(names) != 1 || names[0] != "a b" {
		t.Errorf("List: got %q, %v, want \"a b\" alone", names, err)
	}
	server.CloseClientConnections()
	server.Close()
	if _, _, err := c.Get(t.Context(), "a b"); err == nil || strings.Contains(err.Error(), "ary") || !strings.Contains(err.Error(), "account.blob.core.windows.net") {
		t.Errorf("the error is %v", err)
	}
	if _, err := azure.WithSAS(azureserver.Account, "canary", nil); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a bad signature: %v", err)
	}
}

// TestEnvironments finds the clouds of Microsoft by name, and others by what their hosts describe.
func TestEnvironments(t *testing.T) {
	server := azureserver.Start(t)
	for name, want := range map[string]string{
		"public": "https://a.blob.core.windows.net", "USGovernment": "https://a.blob.core.usgovcloudapi.net", "china": "https://a.blob.core.chinacloudapi.cn",
	} {
		if e, err := azure.EnvironmentOf(name); err != nil || e.BlobServer("a") != want {
			t.Errorf("EnvironmentOf(%s): got %+v, %v, want the server %s", name, e, err, want)
		}
	}
	if _, err := azure.EnvironmentOf("moon"); err == nil {
		t.Error("there is a cloud on the moon")
	}
	e, err := azure.Discover(t.Context(), "management.azure.com", "public", cloud.Client(to{server}))
	if err != nil || e.BlobServer("a") != "https://a.blob.storage.example" || e.Audience != "https://management.core.windows.net" || e.Custom {
		t.Errorf("Discover: got %+v, %v, want the server and audience of the service, not custom", e, err)
	}
}

// TestRequestAssertion gets the token of a job, and shows it in no error.
func TestRequestAssertion(t *testing.T) {
	for answer, want := range map[string]string{`{"value": "token"}`: "token", `{"valu": "canary"}`: "", `canary`: ""} {
		server := azureserver.Start(t)
		server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != "Bearer job" || r.URL.Query().Get("audience") != "api://AzureADTokenExchange" || r.URL.Query().Get("v") != "2" {
				t.Errorf("got a request of %s with %v, want the token of the job, the audience, and v=2", r.URL, r.Header)
			}
			_, err := w.Write([]byte(answer))
			return err == nil
		}
		got, err := azure.RequestAssertion(t.Context(), server.URL+"/?v=2", "job", cloud.Client(nil))
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("RequestAssertion, %s: got %q, %v, want %q (an error without the token if empty)", answer, got, err, want)
		}
	}
}
