package backend

import "github.com/mayfly-iac/mayfly/cloud/azure"

// azurermKind keeps states as blobs in a container of an Azure storage account. The lock is a lease of the
// blob. What remains of older ways to authenticate, such as msi_endpoint, is accepted with a warning, so
// that existing configurations need no change.
var azurermKind = declare("azurerm", withAzureSignIn(arguments{
	"storage_account_name":  text().required().place(),
	"container_name":        text().required().place(),
	"key":                   text().required().place(),
	"resource_group_name":   text(),
	"encryption_scope":      text("ARM_ENCRYPTION_SCOPE", "ARM_ENCYRPTION_SCOPE"), // the latter is what OpenTofu reads
	"customer_provided_key": text("ARM_CUSTOMER_PROVIDED_KEY").secret(),
	"endpoint":              text("ARM_ENDPOINT").deprecated("The argument \"endpoint\" has no effect. Remove it."),
	"timeout_seconds":       number("ARM_TIMEOUT_SECONDS"),
	"snapshot":              boolean("ARM_SNAPSHOT"),
	"msi_endpoint":          text("ARM_MSI_ENDPOINT").deprecated("Use the environment variable MSI_ENDPOINT in place of \"msi_endpoint\"."),
	"sas_token":             text("ARM_SAS_TOKEN").secret(),
	"access_key":            text("ARM_ACCESS_KEY").secret(),
	"use_azuread_auth":      boolean("ARM_USE_AZUREAD"),
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
		a.Sensitive, a.where = shared.Secret, name == "environment"
		args[name] = a
	}
	return args
}
