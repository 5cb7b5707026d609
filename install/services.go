package install

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"
	"github.com/opentofu/svchost/svcauth"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/install/cliconfig"
	"github.com/mayfly-iac/mayfly/install/web"
)

// Services asks a host, or the user's settings in its place, which services it has. The question brings no
// credentials: it is for those who are about to get new ones.
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

// UsableTransport returns what carries out requests for logins: with the connections of the network, and none
// without encryption that brings credentials.
func (n *Network) UsableTransport() (http.RoundTripper, diag.List) {
	client, diags := n.client(cliconfig.Method{})
	if diags.HasErrors() {
		return nil, diags
	}
	return client.Single().Transport, nil
}

// Account asks a host for the name of the account that a token is for. base is the address of the host's
// service tfe.v2. valid is false if the service refuses the token; a service that does not answer the
// question says nothing of it.
func (n *Network) Account(ctx context.Context, base *url.URL, token cliconfig.Secret) (name string, valid bool) {
	client, diags := n.client(cliconfig.Method{})
	if diags.HasErrors() {
		return "", true
	}
	doc, err := client.Get(ctx, base.JoinPath("account", "details"), svcauth.HostCredentialsToken(token.Reveal()))
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
