package azureserver

import (
	"fmt"
	"net/http"
	"strings"
)

// Hosts of the services for tokens and management, which a client may reach through a proxy.
const (
	loginHost      = "login.microsoftonline.com"
	managementHost = "management.azure.com"
	machineHost    = "169.254.169.254"
)

// serveOther serves requests to other services than Blob Storage, and reports whether r is one.
func serveOther(w http.ResponseWriter, r *http.Request, body string) bool {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Host == loginHost && strings.HasSuffix(r.URL.Path, "/openid-configuration"):
		tenant := "https://" + loginHost + strings.TrimSuffix(r.URL.Path, "/v2.0/.well-known/openid-configuration")
		fmt.Fprintf(w, `{"issuer": "%[1]s/v2.0", "authorization_endpoint": "%[1]s/oauth2/v2.0/authorize", "token_endpoint": "%[1]s/oauth2/v2.0/token"}`, tenant)
	case r.Host == loginHost && strings.Contains(r.URL.Path, "/discovery/"):
		fmt.Fprintf(w, `{"tenant_discovery_endpoint": "https://%[1]s/tenant/v2.0/.well-known/openid-configuration", "metadata": [{"preferred_network": %[1]q, "preferred_cache": %[1]q, "aliases": [%[1]q]}]}`, loginHost)
	case r.Host == loginHost && !strings.Contains(body, "client_secret="+Token) && !strings.Contains(body, "client_assertion="):
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided. Trace ID: 1 Correlation ID: 2"}`)
	case r.Host == loginHost || r.Host == machineHost:
		fmt.Fprintf(w, `{"token_type": "Bearer", "expires_in": 3600, "access_token": %q}`, Token)
	case r.Host == managementHost && strings.Contains(r.URL.Path, "/metadata/"):
		fmt.Fprint(w, `[{"name": "Other"}, {"name": "AzureCloud", "resourceManager": "https://management.azure.com/", "suffixes": {"storage": "storage.example"},
			"authentication": {"loginEndpoint": "https://login.microsoftonline.com/", "audiences": ["https://management.core.windows.net/", "https://management.azure.com/"]}}]`)
	case r.Host == managementHost && r.Header.Get("Authorization") != "Bearer "+Token:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": {"code": "AuthenticationFailed", "message": "In words."}}`)
	case r.Host == managementHost && strings.HasSuffix(r.URL.Path, "/listKeys"):
		fmt.Fprintf(w, `{"keys": [{"keyName": "key1", "value": "cmVhZA==", "permissions": "Read"}, {"keyName": "key2", "value": %q, "permissions": "FULL"}]}`, Key)
	default:
		w.Header().Del("Content-Type")
		return false
	}
	return true
}
