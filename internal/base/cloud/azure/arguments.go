package azure

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// Argument is an argument of blocks that say how to sign in.
type Argument struct {
	Flag      bool     // true or false, else a text
	Secret    bool     // it is a credential
	About     string   // a description for the reference
	Variables []string // environment variables that stand in for it, in order of falling precedence
}

func text(variables ...string) Argument   { return Argument{Variables: variables} }
func secret(variables ...string) Argument { return Argument{Secret: true, Variables: variables} }
func flag(variables ...string) Argument   { return Argument{Flag: true, Variables: variables} }

func (a Argument) about(text string) Argument {
	a.About = text
	return a
}

// signIn has every argument that is the same wherever requests are made as a principal.
var signIn = map[string]Argument{
	"environment":                 text("ARM_ENVIRONMENT").about("cloud: `public` (default), `usgovernment`, `china`, or a name that `metadata_host` knows"),
	"metadata_host":               text("ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST").about("host that describes the clouds it knows"),
	"subscription_id":             text("ARM_SUBSCRIPTION_ID").about("subscription of what is looked up"),
	"tenant_id":                   text("ARM_TENANT_ID").about("tenant of the principal"),
	"client_id":                   text("ARM_CLIENT_ID").about("ID of the principal, or of the identity of this machine"),
	"client_id_file_path":         text("ARM_CLIENT_ID_FILE_PATH").about("file that has `client_id`"),
	"client_secret":               secret("ARM_CLIENT_SECRET").about("secret of the principal"),
	"client_secret_file_path":     text("ARM_CLIENT_SECRET_FILE_PATH").about("file that has `client_secret`"),
	"client_certificate":          secret("ARM_CLIENT_CERTIFICATE").about("certificate of the principal with its key: a PKCS#12 archive in base64"),
	"client_certificate_password": secret("ARM_CLIENT_CERTIFICATE_PASSWORD").about("password of that archive"),
	"client_certificate_path":     text("ARM_CLIENT_CERTIFICATE_PATH").about("file that has the archive"),
	"use_oidc":                    flag("ARM_USE_OIDC").about("sign in with a token of another identity provider, such as that of a CI job"),
	"use_aks_workload_identity":   flag("ARM_USE_AKS_WORKLOAD_IDENTITY").about("sign in with the identity of the pod in AKS"),
	"oidc_request_url":            text("ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL").about("address that issues the token, as CI services set it"),
	"oidc_request_token":          secret("ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN").about("credential for that address"),
	"oidc_token":                  secret("ARM_OIDC_TOKEN").about("the token itself"),
	"oidc_token_file_path":        text("ARM_OIDC_TOKEN_FILE_PATH").about("file that has the token"),
	"use_msi":                     flag("ARM_USE_MSI").about("sign in with the identity of this machine"),
	"msi_endpoint":                text("ARM_MSI_ENDPOINT").about("accepted for compatibility, without effect: the variable MSI_ENDPOINT has the address"), // without effect: the library reads MSI_ENDPOINT
	"use_cli":                     flag("ARM_USE_CLI").about("sign in as the user of the Azure CLI"),
}

// SignInArguments returns, by name, the arguments that are the same wherever requests are made as a
// principal.
func SignInArguments() map[string]Argument { return maps.Clone(signIn) }

// Arguments look up the arguments of a block by their names: texts, of flags "true" or "false", or "" for
// those that are absent. Errors of the methods name arguments and have none of their values.
type Arguments func(name string) string

// ErrNoPrincipal means that no argument says how to sign in.
var ErrNoPrincipal = errors.New("there are no credentials: set \"client_secret\", \"client_certificate\", \"use_oidc\", \"use_msi\" or \"use_cli\"")

func (a Arguments) isTrue(name string) bool {
	on, err := strconv.ParseBool(a(name))
	return on && err == nil
}

// Environment returns a cloud of Microsoft, or one that the host for metadata knows by name. That host is
// asked through the client.
func (a Arguments) Environment(ctx context.Context, client *http.Client) (*Environment, error) {
	name := cmp.Or(a("environment"), "public")
	if host := a("metadata_host"); host != "" {
		e, err := Discover(ctx, host, name, client)
		if err != nil {
			return nil, fmt.Errorf("the clouds of the host in the argument \"metadata_host\": %w", err)
		}
		return e, nil
	}
	e, err := EnvironmentOf(name)
	if err != nil {
		return nil, fmt.Errorf("the argument \"environment\": %w", err)
	}
	return e, nil
}

// Principal returns the principal that the first of these gives: a certificate, a secret, a federated token,
// the machine's identity, the Azure CLI. from names it by its arguments. environ returns the value of an
// environment variable. No service is asked now, but a federated token may be requested later, through the
// client.
func (a Arguments) Principal(environ func(string) string, client *http.Client) (p Principal, from string, err error) {
	p = Principal{Tenant: a("tenant_id"), Subscription: a("subscription_id")}
	if p.Client, err = a.textOrFile("client_id", "client_id_file_path"); err != nil {
		return p, "", err
	}
	if p.Secret, err = a.textOrFile("client_secret", "client_secret_file_path"); err != nil {
		return p, "", err
	}
	if p.Certificate, err = a.certificate(); err != nil {
		return p, "", err
	}
	p.Password = a("client_certificate_password")
	switch {
	case p.Certificate != nil:
		p.Secret, from = "", "\"client_certificate\""
	case p.Secret != "":
		from = "\"client_secret\""
	case a.isTrue("use_oidc") || a.isTrue("use_aks_workload_identity"):
		if p.Assertion, from, err = a.assertion(environ, &p, client); err != nil {
			return p, "", err
		}
	case a.isTrue("use_msi"):
		p.Managed = true
		return p, "\"use_msi\"", nil
	case a("use_cli") == "" || a.isTrue("use_cli"):
		p.CLI = true
		return p, "\"use_cli\"", nil
	default:
		return p, "", ErrNoPrincipal
	}
	if p.Tenant == "" || p.Client == "" {
		return p, "", fmt.Errorf("set \"tenant_id\" and \"client_id\" with %s", from)
	}
	return p, "\"tenant_id\", \"client_id\" and " + from, nil
}

// file returns the content of the file that an argument names.
func (a Arguments) file(name string) ([]byte, error) {
	b, err := os.ReadFile(a(name))
	if err != nil {
		return nil, fmt.Errorf("the file in the argument %q cannot be read: %w", name, err)
	}
	return b, nil
}

// textOrFile returns an argument, or the content of the file that another one names.
func (a Arguments) textOrFile(name, fileName string) (string, error) {
	if a(name) != "" || a(fileName) == "" {
		return a(name), nil
	}
	b, err := a.file(fileName)
	return strings.TrimSpace(string(b)), err
}

// certificate returns the client certificate, which is given by value or by the path of a file; nil for none.
func (a Arguments) certificate() ([]byte, error) {
	if text := a("client_certificate"); text != "" {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, errors.New("the argument \"client_certificate\" must be a certificate as PKCS #12, in base64")
		}
		return b, nil
	}
	if a("client_certificate_path") == "" {
		return nil, nil
	}
	return a.file("client_certificate_path")
}

// assertion returns the source of federated tokens: from an argument, a file, or the service that runs this
// job. With workload identities, the environment of a pod completes the arguments.
func (a Arguments) assertion(environ func(string) string, p *Principal, client *http.Client) (func(context.Context) (string, error), string, error) {
	path := a("oidc_token_file_path")
	if a.isTrue("use_aks_workload_identity") {
		p.Client, p.Tenant = cmp.Or(p.Client, environ("AZURE_CLIENT_ID")), cmp.Or(p.Tenant, environ("AZURE_TENANT_ID"))
		path = cmp.Or(path, environ("AZURE_FEDERATED_TOKEN_FILE"))
	}
	if token := a("oidc_token"); token != "" {
		return func(context.Context) (string, error) { return token, nil }, "\"oidc_token\"", nil
	}
	if path != "" {
		return func(context.Context) (string, error) {
			b, err := os.ReadFile(path) // again each time, since it is renewed
			return strings.TrimSpace(string(b)), err
		}, "\"oidc_token_file_path\"", nil
	}
	address, token := a("oidc_request_url"), a("oidc_request_token")
	if address == "" || token == "" {
		return nil, "", errors.New("set \"oidc_token\", \"oidc_token_file_path\", or \"oidc_request_url\" and \"oidc_request_token\" with \"use_oidc\"")
	}
	return func(ctx context.Context) (string, error) { return RequestAssertion(ctx, address, token, client) }, "\"oidc_request_url\"", nil
}
