package azure

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/mayfly-iac/mayfly/internal/base/cloud"
)

// Principal is an application, managed identity or user that requests are made as. Exactly one of Secret,
// Certificate, Assertion, Managed and CLI is set.
type Principal struct {
	Tenant string // "" for the tenant of the login, with CLI
	Client string // ID of the application or, with Managed, of an identity that is not the machine's only one

	Secret      string
	Certificate []byte // with its key, as PEM or PKCS #12
	Password    string // of Certificate
	Assertion   func(context.Context) (string, error)
	Managed     bool // the identity that this machine has
	CLI         bool // the user that is logged in to the Azure CLI

	Subscription string // whose login CLI uses; "" for the current one
}

// Credential returns the source of tokens for a principal. It contacts nothing.
func (e *Environment) Credential(p Principal, client *http.Client) (azcore.TokenCredential, error) {
	opt := azcore.ClientOptions{Cloud: e.configuration(), Transport: client, Retry: policy.RetryOptions{MaxRetries: 2}}
	switch {
	case p.Secret != "":
		return azidentity.NewClientSecretCredential(p.Tenant, p.Client, p.Secret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: opt, DisableInstanceDiscovery: e.Custom})
	case p.Certificate != nil:
		certs, key, err := azidentity.ParseCertificates(p.Certificate, []byte(p.Password))
		if err != nil {
			return nil, errors.New("the certificate cannot be read: it must be in PEM or PKCS #12, with its key, and its password must be right")
		}
		return azidentity.NewClientCertificateCredential(p.Tenant, p.Client, certs, key,
			&azidentity.ClientCertificateCredentialOptions{ClientOptions: opt, DisableInstanceDiscovery: e.Custom, SendCertificateChain: true})
	case p.Assertion != nil:
		return azidentity.NewClientAssertionCredential(p.Tenant, p.Client, p.Assertion,
			&azidentity.ClientAssertionCredentialOptions{ClientOptions: opt, DisableInstanceDiscovery: e.Custom})
	case p.Managed:
		o := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: opt}
		if p.Client != "" {
			o.ID = azidentity.ClientID(p.Client)
		}
		return azidentity.NewManagedIdentityCredential(o)
	default:
		return azidentity.NewAzureCLICredential(&azidentity.AzureCLICredentialOptions{TenantID: p.Tenant, Subscription: p.Subscription})
	}
}

// maxDescription bounds the description of an error.
const maxDescription = 16 << 10

// explainToken returns a TokenError with the words of the login service, in one line, if there are any.
func explainToken(err error) error {
	var failed *azidentity.AuthenticationFailedError
	if !errors.As(err, &failed) || failed.RawResponse == nil {
		text, _, _ := strings.Cut(err.Error(), ". To troubleshoot")
		return &TokenError{text, err}
	}
	e := &cloud.Error{Status: failed.RawResponse.StatusCode}
	body, _ := io.ReadAll(io.LimitReader(failed.RawResponse.Body, maxDescription)) // else there is the status
	var said struct {
		Error       string
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &said) == nil {
		e.Code = said.Error
		e.Message, _, _ = strings.Cut(said.Description, "\n")
		e.Message, _, _ = strings.Cut(strings.TrimSpace(e.Message), " Trace ID:")
	}
	return &TokenError{e.Error(), e}
}

// TokenError means that there is no token. It wraps a *cloud.Error if the login service has given the reason.
type TokenError struct {
	text string
	err  error
}

// Error implements error.
func (e *TokenError) Error() string { return e.text }

// Unwrap returns the error of the service or of the library.
func (e *TokenError) Unwrap() error { return e.err }

// audience is the audience of federated tokens, which Azure exchanges for its own.
const audience = "api://AzureADTokenExchange"

// RequestAssertion asks the service at an address, which runs a job such as a workflow of GitHub, for a
// federated token of the job.
func RequestAssertion(ctx context.Context, address, token string, client *http.Client) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("the address to request a token from is not a URL")
	}
	query := u.Query()
	if query.Get("audience") == "" {
		query.Set("audience", audience)
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	body, err := cloud.Answer(client, req, func(resp *http.Response, _ []byte) error { return &cloud.Error{Status: resp.StatusCode} })
	if err != nil {
		return "", err
	}
	var answer struct{ Value string }
	if json.Unmarshal(body, &answer) != nil || answer.Value == "" {
		return "", errors.New("the service's answer has no token") // nothing of it, for it may have one
	}
	return answer.Value, nil
}
