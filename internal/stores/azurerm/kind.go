package azurerm

import (
	"github.com/mayfly-iac/mayfly/internal/base/cloud/azure"
	"github.com/mayfly-iac/mayfly/internal/stores/backend"
)

// Kind keeps states as blobs in a container of an Azure storage account. The lock is a lease of the blob.
// Arguments of older ways to authenticate, such as msi_endpoint, are accepted with a warning, so that
// existing configurations need no change.
var Kind = backend.Declare("azurerm", withSignIn(backend.Arguments{
	"storage_account_name":  backend.Text().Required().Place().About("storage account"),
	"container_name":        backend.Text().Required().Place().About("container of the account; it must exist"),
	"key":                   backend.Text().Required().Place().About("name of the blob; that of another workspace ends in `env:` and its name"),
	"resource_group_name":   backend.Text().About("group of the account, to look its key up with `subscription_id`; not needed with `access_key`, `sas_token` or `use_azuread_auth`"),
	"encryption_scope":      backend.Text("ARM_ENCRYPTION_SCOPE", "ARM_ENCYRPTION_SCOPE").About("scope whose key encrypts the blob on the server"), // OpenTofu reads the latter
	"customer_provided_key": backend.Text("ARM_CUSTOMER_PROVIDED_KEY").Secret().About("key of 32 bytes in base64 with which the server encrypts the blob; it does not keep the key"),
	"endpoint":              backend.Text("ARM_ENDPOINT").Deprecated("The argument \"endpoint\" has no effect. Remove it.").About("accepted for compatibility, without effect"),
	"timeout_seconds":       backend.Number("ARM_TIMEOUT_SECONDS").About("longest time for a request; 300 by default"),
	"snapshot":              backend.Boolean("ARM_SNAPSHOT").About("take a snapshot of the blob before it is replaced"),
	"msi_endpoint":          backend.Text("ARM_MSI_ENDPOINT").Deprecated("Use the environment variable MSI_ENDPOINT in place of \"msi_endpoint\".").About("accepted for compatibility, without effect: the variable MSI_ENDPOINT has the address"),
	"sas_token":             backend.Text("ARM_SAS_TOKEN").Secret().About("shared access signature for the container"),
	"access_key":            backend.Text("ARM_ACCESS_KEY").Secret().About("key of the storage account"),
	"use_azuread_auth":      backend.Boolean("ARM_USE_AZUREAD").About("access the blob as the principal itself, rather than with the key of the account, which the principal would look up"),
}), nil, opener{}.Service())

// withSignIn adds the arguments for signing in, unless they are declared already.
func withSignIn(args backend.Arguments) backend.Arguments {
	for name, shared := range azure.SignInArguments() {
		if _, declared := args[name]; declared {
			continue
		}
		a := backend.Text(shared.Variables...)
		if shared.Flag {
			a = backend.Boolean(shared.Variables...)
		}
		if name == "environment" {
			a = a.Place()
		}
		a.Sensitive, a.Description = shared.Secret, shared.About
		args[name] = a
	}
	return args
}

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
