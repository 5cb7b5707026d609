package azure_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/testing/azureserver"
)

// openVault opens the vault of a server.
func openVault(t *testing.T, server *azureserver.Server, tenant string) *azure.Vault {
	t.Helper()
	client := cloud.Client(to{server})
	e, _ := azure.EnvironmentOf("public")
	p := azure.Principal{Tenant: azureserver.Tenant, Client: "client", Secret: azureserver.Token}
	c, err := e.Credential(p, client)
	if err != nil {
		t.Fatal(err)
	}
	v, err := azure.OpenVault("https://"+azureserver.VaultHost+"/", tenant, c, client)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVault encrypts with keys of each type, and decrypts with the version that has encrypted.
func TestVault(t *testing.T) {
	server := azureserver.Start(t)
	v := openVault(t, server, "")
	for _, algorithm := range []string{"RSA-OAEP-256", "A128GCM", "A192GCM", "A256GCM"} {
		s, err := v.Encrypt(t.Context(), azureserver.VaultKey, algorithm, []byte("canary"))
		if err != nil || strings.Contains(string(s.Value), "canary") || (s.IV == nil) != (algorithm[0] == 'R') {
			t.Fatalf("Encrypt(%s): got %+v, %v, want it encrypted, with an IV unless it is RSA", algorithm, s, err)
		}
		server.Rotate()
		if plain, err := v.Decrypt(t.Context(), azureserver.VaultKey, s); string(plain) != "canary" || err != nil {
			t.Errorf("Decrypt(%s): got %q, %v, want \"canary\"", algorithm, plain, err)
		}
	}
	tokens := 0
	for _, r := range server.Seen {
		if strings.HasSuffix(r.URL.Path, "/token") {
			tokens++
		}
	}
	if tokens != 1 {
		t.Errorf("got %d requests for tokens, want 1", tokens)
	}
}

// TestChallenges sends a token only to a vault that it is for, and only if the vault asks for one.
func TestChallenges(t *testing.T) {
	for challenge, want := range map[string]string{
		`Bearer authorization="https://login.microsoftonline.com/t", resource="https://vault.azure.net"`:       "",
		`Bearer authorization="https://login.microsoftonline.com/t", scope="https://vault.azure.net/.default"`: "",
		`Bearer authorization="https://login.microsoftonline.com/t", resource="https://elsewhere.example"`:     "which it is not a part of",
		`Bearer authorization="https://login.microsoftonline.com/t", resource="https://azure.example"`:         "which it is not a part of",
		`Basic realm="proxy"`: "not that of a key vault",
		``:                    "not that of a key vault",
	} {
		server := azureserver.Start(t)
		server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Host != azureserver.VaultHost || r.Header.Get("Authorization") != "" {
				return false
			}
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		_, err := openVault(t, server, azureserver.Tenant).Encrypt(t.Context(), azureserver.VaultKey, "RSA-OAEP-256", []byte("x"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q (none if empty)", challenge, err, want)
		}
	}
}

// TestRefusedByVault reports what a vault, or something in its place, answers.
func TestRefusedByVault(t *testing.T) {
	for want, answer := range map[string]func(w http.ResponseWriter){
		"403 Forbidden: Forbidden: Not allowed": func(w http.ResponseWriter) {
			azureserver.RefuseJSON(w, http.StatusForbidden, "Forbidden", "Not allowed\r\nCaller: canary")
		},
		"a proxy in between":      func(w http.ResponseWriter) { http.Error(w, "<html>canary</html>", http.StatusBadGateway) },
		"a page in HTML":          func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>canary</html>")) },
		"not that of a key vault": func(w http.ResponseWriter) { _, _ = w.Write([]byte("canary")) },
	} {
		server := azureserver.Start(t)
		server.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Host == azureserver.VaultHost {
				answer(w)
			}
			return r.Host == azureserver.VaultHost
		}
		_, err := openVault(t, server, "").Encrypt(t.Context(), azureserver.VaultKey, "RSA-OAEP-256", []byte("x"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, address := range []string{"", "states", "http://states.vault.azure.net", "https://", "https://u:p@h", "https://h/keys/k", "https://h?x"} {
		if _, err := azure.OpenVault(address, "", nil, nil); err == nil {
			t.Errorf("%q is an address", address)
		}
	}
}
