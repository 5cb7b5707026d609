package install

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/base/trace"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/web"
)

// Services returns the services of a host, from the host or from the user's settings for it. The request
// carries no credentials, because it is made before a login.
func (n *Network) Services(ctx context.Context, host svchost.Hostname) (*disco.Host, diag.List) {
	client, diags := n.client(cliconfig.Method{})
	if diags.HasErrors() {
		return nil, diags
	}
	d := disco.New(disco.WithHTTPClient(client.Documents()))
	if n.Config != nil {
		if h, ok := n.Config.Hosts[host]; ok {
			d.ForceHostServices(host, h.Services)
		}
	}
	found, err := d.Discover(ctx, host)
	if err != nil {
		return nil, diag.Errorf("Service discovery failed for "+host.ForDisplay(), "The services of the host %s cannot be discovered: %s. Check the host's name, and whether it can be reached.", host.ForDisplay(), web.Reason(err))
	}
	return found, nil
}

// Service returns the address of one service of a host, and the user's token for the host; "" for none.
func (n *Network) Service(ctx context.Context, name, service string) (address *url.URL, token string, diags diag.List) {
	host, err := svchost.ForComparison(name)
	if err != nil {
		return nil, "", diag.Errorf("Invalid host name", "%q is not the name of a host: %s.", name, err)
	}
	services, diags := n.Services(ctx, host)
	if diags.HasErrors() {
		return nil, "", diags
	}
	if address, err = services.ServiceURL(service); err != nil {
		return nil, "", diag.Errorf("Service not offered", "The host %s does not offer the service %q.", host.ForDisplay(), service)
	}
	creds, err := n.credentials().ForHost(ctx, host)
	trace.Note(ctx, trace.Debug, "%s: credentials are sent: %t", host.ForDisplay(), creds != nil)
	if err != nil {
		return nil, "", diag.Errorf("Cannot read credentials", "The credentials for %s cannot be read: %s.", host.ForDisplay(), err)
	}
	if creds != nil {
		req := &http.Request{Header: http.Header{}}
		creds.PrepareRequest(req)
		token = strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	}
	return address, token, nil
}

// UsableTransport returns the transport for logins: with the network's connections, and refusing to send
// credentials unencrypted.
func (n *Network) UsableTransport() (http.RoundTripper, diag.List) {
	client, diags := n.client(cliconfig.Method{})
	if diags.HasErrors() {
		return nil, diags
	}
	return client.Single().Transport, nil
}

// Account asks a host for the name of a token's account. base is the address of the host's service tfe.v2.
// valid is false if the service refuses the token; a service that does not answer the question leaves it
// true.
func (n *Network) Account(ctx context.Context, base *url.URL, token cliconfig.Secret) (name string, valid bool) {
	client, diags := n.client(cliconfig.Method{})
	if diags.HasErrors() {
		return "", true
	}
	doc, err := client.Get(ctx, web.Below(base, "account", "details"), svcauth.HostCredentialsToken(token.Reveal()))
	if err != nil {
		return "", !web.Denied(err)
	}
	var answer struct {
		Data struct {
			Attributes struct{ Username string }
		}
	}
	if json.Unmarshal(doc.Body, &answer) != nil {
		return "", true
	}
	return answer.Data.Attributes.Username, true
}

// Reach asks for the document at an address, without credentials, and returns nil if the server answers,
// whatever it says but that it is out of order.
func (n *Network) Reach(ctx context.Context, u *url.URL) error {
	client, diags := n.client(cliconfig.Method{})
	if diags.HasErrors() {
		return diags.Err()
	}
	_, err := client.Get(ctx, u, nil)
	if status, ok := errors.AsType[*web.StatusError](err); ok && status.Code < http.StatusInternalServerError {
		return nil
	}
	return err
}
