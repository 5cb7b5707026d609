package install

import (
	"github.com/opentofu/svchost"

	"github.com/mayfly-iac/mayfly/diag"
	"github.com/mayfly-iac/mayfly/internal/install/cliconfig"
	"github.com/mayfly-iac/mayfly/internal/install/fetch"
	"github.com/mayfly-iac/mayfly/internal/install/ocimirror"
	"github.com/mayfly-iac/mayfly/internal/install/registry"
)

// Modules returns the clients for registries of modules and for packages of modules.
func (n *Network) Modules() (*registry.Client, *fetch.Client, diag.List) {
	client, diags := n.client(cliconfig.Method{Kind: cliconfig.Direct})
	if diags.HasErrors() {
		return nil, nil, diags
	}
	var hosts map[svchost.Hostname]cliconfig.Host
	var blocks map[string]cliconfig.OCICredentials
	if n.Config != nil {
		hosts, blocks = n.Config.Hosts, n.Config.OCI
	}
	oci := ocimirror.NewModules(client, ocimirror.NewKeyring(blocks, n.Env))
	return registry.New(client, n.credentials(), hosts, registry.Policy{}), fetch.New(client, oci, fetch.Limits{}), diags
}
