package encryption

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/testing/azureserver"
	"github.com/mayfly-iac/mayfly/state/store"
)

// toAzure sends every request to a server of the test.
type toAzure struct{ server *azureserver.Server }

func (a toAzure) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(a.server.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

// vaultAt starts a server of Azure that all requests to clouds go to.
func vaultAt(t *testing.T) *azureserver.Server {
	t.Helper()
	server := azureserver.Start(t)
	before := services
	services = func(http.RoundTripper) *http.Client { return &http.Client{Transport: toAzure{server}} }
	t.Cleanup(func() { services = before })
	return server
}

const vaultProvider = "key_provider \"azure_vault\" \"x\" {\n  vault_uri = \"https://" + azureserver.VaultHost + "\"\n  vault_key_name = \"" + azureserver.VaultKey + "\"\n" +
	"  key_length = 32\n  tenant_id = \"" + azureserver.Tenant + "\"\n  client_id = \"c\"\n  client_secret = \"" + azureserver.Token + "\"\n}\n"

// TestAzureVault wraps keys with keys of both kinds, also after they were rotated, and reads what the other
// kind has wrapped.
func TestAzureVault(t *testing.T) {
	server := vaultAt(t)
	asymmetric := gcmWith(vaultProvider, "azure_vault.x")
	symmetric := strings.Replace(asymmetric, "  key_length", "  symmetric = true\n  symmetric_key_size = 192\n  key_length", 1)
	for _, text := range []string{asymmetric, symmetric} {
		c := must(t, text).State
		stored := sealed(t, c)
		server.Rotate()
		opens(t, c, stored)
		opens(t, must(t, symmetric).State, stored)
		opens(t, must(t, asymmetric).State, stored)
	}
	fromEnvironment := strings.Replace(asymmetric, "  client_secret = \""+azureserver.Token+"\"\n", "", 1)
	c := must(t, fromEnvironment, "ARM_CLIENT_SECRET="+azureserver.Token, "ARM_USE_CLI=0").State
	opens(t, c, sealed(t, c))
	if _, diags := configure(t, fromEnvironment, "ARM_USE_CLI=c4nary"); !diags.HasErrors() || strings.Contains(fmt.Sprint(diags), "c4nary") {
		t.Error(diags)
	}
}

// TestAzureVaultOfOpenTofu reads files that OpenTofu wrote with a vault that puts two letters before a key.
func TestAzureVaultOfOpenTofu(t *testing.T) {
	server := vaultAt(t)
	server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host != azureserver.VaultHost || r.Header.Get("Authorization") == "" {
			return false
		}
		if want := "/keys/main/0123456789abcdef0123456789abcdef/decrypt"; r.URL.Path != want {
			t.Errorf("%s, want %s", r.URL.Path, want)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"value": %q}`, r.Header.Get("Unwrapped"))
		return true
	}
	services = func(http.RoundTripper) *http.Client { return &http.Client{Transport: unwrapping{toAzure{server}}} }
	for _, name := range []string{"azure_vault.tfstate", "azure_vault_symmetric.tfstate"} {
		if _, err := store.Decode(golden(t, name), must(t, gcmWith(vaultProvider, "azure_vault.x")).State); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// unwrapping adds the key that a request asks for to its header: the server reads the body before the test.
type unwrapping struct{ next http.RoundTripper }

func (u unwrapping) RoundTrip(r *http.Request) (*http.Response, error) {
	var in struct{ Value string }
	if r.URL.Host == azureserver.VaultHost && r.ContentLength > 0 {
		if body, err := r.GetBody(); err == nil && json.NewDecoder(body).Decode(&in) == nil {
			wrapped, _ := base64.RawURLEncoding.DecodeString(in.Value)
			r.Header.Set("Unwrapped", base64.RawURLEncoding.EncodeToString([]byte(strings.TrimPrefix(string(wrapped), "AV"))))
		}
	}
	return u.next.RoundTrip(r)
}

// TestAzureVaultRefusals says what to do, and shows no credential.
func TestAzureVaultRefusals(t *testing.T) {
	text := gcmWith(vaultProvider, "azure_vault.x")
	server := vaultAt(t)
	stored := sealed(t, must(t, text).State)
	for _, c := range []struct {
		status     int
		code, want string
	}{
		{http.StatusForbidden, "Forbidden", "Key Vault Crypto User"},
		{http.StatusNotFound, "KeyNotFound", "vault_key_name"},
		{http.StatusTooManyRequests, "Throttled", "Wait a little"},
		{http.StatusBadRequest, "BadParameter", "symmetric_key_size"},
	} {
		server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Host != azureserver.VaultHost || r.Header.Get("Authorization") == "" {
				return false
			}
			azureserver.RefuseJSON(w, c.status, c.code, "In words.")
			return true
		}
		_, err := must(t, text).State.Decrypt(stored)
		if err == nil || !strings.Contains(err.Error(), "key_provider.azure_vault.x: ") || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrWrongKey) {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" { // as if the token had expired
			r.Header.Set("Authorization", "Bearer old")
		}
		return false
	}
	if _, err := must(t, text).State.Decrypt(stored); err == nil || !strings.Contains(err.Error(), "tenant_id") {
		t.Errorf("an expired token: %v", err)
	}
	server.Answer = nil
	_, err := must(t, strings.Replace(text, `"`+azureserver.Token, `"c4nary`, 1)).State.Decrypt(stored)
	if err == nil || !strings.Contains(err.Error(), "invalid_client") || !strings.Contains(err.Error(), `"client_secret"`) || strings.Contains(err.Error(), "c4nary") {
		t.Errorf("a wrong secret: %v", err)
	}
	services = func(http.RoundTripper) *http.Client {
		return &http.Client{Transport: answering(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })}
	}
	if _, err := must(t, text).State.Decrypt(stored); err == nil || !strings.Contains(err.Error(), azureserver.VaultHost) {
		t.Errorf("no connection: %v", err)
	}
}

// answering is a transport without a network.
type answering func(r *http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// TestAzureVaultArguments names the arguments that are wrong.
func TestAzureVaultArguments(t *testing.T) {
	text := gcmWith(vaultProvider, "azure_vault.x")
	for _, c := range []struct{ from, to, want string }{
		{"https://states", "http://states", "vault_uri is wrong: it must have the form"},
		{`"main"`, `"main/1"`, "without a version"},
		{"key_length = 32", "key_length = 0", "key_length must be"},
		{"key_length", "symmetric = true\n  key_length", "symmetric_key_size must be 128"},
		{"key_length", "symmetric = true\n  symmetric_key_size = 130\n  key_length", "symmetric_key_size must be 128"},
		{`client_id = "c"`, "", `set \"tenant_id\" and \"client_id\" with \"client_secret\"`},
		{`client_secret = "` + azureserver.Token + `"`, "use_cli = false", "there are no credentials"},
		{`client_id = "c"`, `client_certificate = "c4nary!"`, "client_certificate"},
		{"tenant_id", "tenant_ids", `Did you mean \"tenant_id\"`},
	} {
		_, diags := configure(t, strings.Replace(text, c.from, c.to, 1))
		shown := strings.ReplaceAll(fmt.Sprint(diags), `\"`, `"`)
		if want := strings.ReplaceAll(c.want, `\"`, `"`); !diags.HasErrors() || !strings.Contains(shown, want) || strings.Contains(shown, "c4nary") || strings.Contains(shown, azureserver.Token) {
			t.Errorf("%s: %v, want %q", c.to, diags, want)
		}
	}
	if c := must(t, strings.Replace(text, `client_id = "c"`, `environment = "moon"`+"\n  client_id = \"c\"", 1)).State; c != nil {
		if _, err := c.EncryptState([]byte(content), meta); err == nil || !strings.Contains(err.Error(), "environment") {
			t.Errorf("an unknown environment: %v", err)
		}
	}
}
