package backend

import "github.com/mayfly-iac/mayfly/internal/stores/cloud/azure"

// azurermKind keeps states as blobs in a container of an Azure storage account. The lock is a lease of the
// blob. What remains of older ways to authenticate, such as msi_endpoint, is accepted with a warning, so
// that existing configurations need no change.
var azurermKind = declare("azurerm", withAzureSignIn(arguments{
	"storage_account_name":  text().required().place().about("storage account"),
	"container_name":        text().required().place().about("container of the account; it must exist"),
	"key":                   text().required().place().about("name of the blob; that of another workspace ends in `env:` and its name"),
	"resource_group_name":   text().about("group of the account, to look its key up with `subscription_id`; not needed with `access_key`, `sas_token` or `use_azuread_auth`"),
	"encryption_scope":      text("ARM_ENCRYPTION_SCOPE", "ARM_ENCYRPTION_SCOPE").about("scope whose key encrypts the blob on the server"), // the latter is what OpenTofu reads
	"customer_provided_key": text("ARM_CUSTOMER_PROVIDED_KEY").secret().about("key of 32 bytes in base64 with which the server encrypts the blob; it does not keep the key"),
	"endpoint":              text("ARM_ENDPOINT").deprecated("The argument \"endpoint\" has no effect. Remove it.").about("accepted for compatibility, without effect"),
	"timeout_seconds":       number("ARM_TIMEOUT_SECONDS").about("longest time for a request; 300 by default"),
	"snapshot":              boolean("ARM_SNAPSHOT").about("take a snapshot of the blob before it is replaced"),
	"msi_endpoint":          text("ARM_MSI_ENDPOINT").deprecated("Use the environment variable MSI_ENDPOINT in place of \"msi_endpoint\".").about("accepted for compatibility, without effect: the variable MSI_ENDPOINT has the address"),
	"sas_token":             text("ARM_SAS_TOKEN").secret().about("shared access signature for the container"),
	"access_key":            text("ARM_ACCESS_KEY").secret().about("key of the storage account"),
	"use_azuread_auth":      boolean("ARM_USE_AZUREAD").about("access the blob as the principal itself, rather than with the key of the account, which the principal would look up"),
}), nil)

// withAzureSignIn returns arguments with those that say how to sign in, unless they are declared already.
func withAzureSignIn(args arguments) arguments {
	for name, shared := range azure.SignInArguments() {
		if _, declared := args[name]; declared {
			continue
		}
		a := text(shared.Variables...)
		if shared.Flag {
			a = boolean(shared.Variables...)
		}
		a.Sensitive, a.where, a.Description = shared.Secret, name == "environment", shared.About
		args[name] = a
	}
	return args
}
