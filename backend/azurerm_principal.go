//go:build !mayfly_no_azurerm

package backend

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/mayfly-iac/mayfly/cloud/azure"
)

// azurePrincipal returns the principal that the first of these gives: a certificate, a secret, a federated
// token, the machine's identity, the Azure CLI. from names it by its arguments.
func azurePrincipal(cfg cty.Value, env Env, client *http.Client) (p azure.Principal, from string, err error) {
	p = azure.Principal{Tenant: textOr(cfg, "tenant_id", ""), Subscription: textOr(cfg, "subscription_id", "")}
	if p.Client, err = azureText(cfg, "client_id", "client_id_file_path"); err != nil {
		return p, "", err
	}
	if p.Secret, err = azureText(cfg, "client_secret", "client_secret_file_path"); err != nil {
		return p, "", err
	}
	if p.Certificate, err = azureCertificate(cfg); err != nil {
		return p, "", err
	}
	p.Password = textOr(cfg, "client_certificate_password", "")
	switch {
	case p.Certificate != nil:
		p.Secret, from = "", "\"client_certificate\""
	case p.Secret != "":
		from = "\"client_secret\""
	case isTrue(cfg, "use_oidc") || isTrue(cfg, "use_aks_workload_identity"):
		if p.Assertion, from, err = azureAssertion(cfg, env, &p, client); err != nil {
			return p, "", err
		}
	case isTrue(cfg, "use_msi"):
		p.Managed = true
		return p, "\"use_msi\"", nil
	case cfg.GetAttr("use_cli").IsNull() || isTrue(cfg, "use_cli"):
		p.CLI = true
		return p, "\"use_cli\"", nil
	default:
		return p, "", errors.New("the backend \"azurerm\" has no credentials: set \"access_key\", \"sas_token\", \"client_secret\", \"client_certificate\", \"use_oidc\", \"use_msi\" or \"use_cli\"")
	}
	if p.Tenant == "" || p.Client == "" {
		return p, "", fmt.Errorf("the backend \"azurerm\" needs \"tenant_id\" and \"client_id\" with %s", from)
	}
	return p, "\"tenant_id\", \"client_id\" and " + from, nil
}

// azureText returns an argument, or the content of the file that another one names.
func azureText(cfg cty.Value, name, fileName string) (string, error) {
	text, path := textOr(cfg, name, ""), textOr(cfg, fileName, "")
	if text != "" || path == "" {
		return text, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("the file in the argument %q of the backend \"azurerm\" cannot be read: %w", fileName, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// azureCertificate returns the client certificate, which is given by value or by the path of a file; nil
// for none.
func azureCertificate(cfg cty.Value) ([]byte, error) {
	if text := textOr(cfg, "client_certificate", ""); text != "" {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, errors.New("the argument \"client_certificate\" of the backend \"azurerm\" must be a certificate as PKCS #12, in base64")
		}
		return b, nil
	}
	path := textOr(cfg, "client_certificate_path", "")
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the file in the argument \"client_certificate_path\" of the backend \"azurerm\" cannot be read: %w", err)
	}
	return b, nil
}

// azureAssertion returns what gets federated tokens: from an argument, a file, or the service that runs this
// job. With workload identities, the environment of a pod has what the arguments lack.
func azureAssertion(cfg cty.Value, env Env, p *azure.Principal, client *http.Client) (func(context.Context) (string, error), string, error) {
	path := textOr(cfg, "oidc_token_file_path", "")
	if isTrue(cfg, "use_aks_workload_identity") {
		p.Client, p.Tenant = cmp.Or(p.Client, env.Lookup("AZURE_CLIENT_ID")), cmp.Or(p.Tenant, env.Lookup("AZURE_TENANT_ID"))
		path = cmp.Or(path, env.Lookup("AZURE_FEDERATED_TOKEN_FILE"))
	}
	if token := textOr(cfg, "oidc_token", ""); token != "" {
		return func(context.Context) (string, error) { return token, nil }, "\"oidc_token\"", nil
	}
	if path != "" {
		return func(context.Context) (string, error) {
			b, err := os.ReadFile(path) // again each time, since it is renewed
			return strings.TrimSpace(string(b)), err
		}, "\"oidc_token_file_path\"", nil
	}
	address, token := textOr(cfg, "oidc_request_url", ""), textOr(cfg, "oidc_request_token", "")
	if address == "" || token == "" {
		return nil, "", errors.New("the backend \"azurerm\" needs \"oidc_token\", \"oidc_token_file_path\", or \"oidc_request_url\" and \"oidc_request_token\" with \"use_oidc\"")
	}
	return func(ctx context.Context) (string, error) { return azure.RequestAssertion(ctx, address, token, client) }, "\"oidc_request_url\"", nil
}
