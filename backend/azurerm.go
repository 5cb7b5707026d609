package backend

// azurermKind keeps states as blobs in a container of an Azure storage account. The lock is a lease of the
// blob. What remains of older ways to authenticate, such as msi_endpoint, is accepted with a warning, so
// that existing configurations need no change.
var azurermKind = declare("azurerm", arguments{
	"storage_account_name":        text().required().place(),
	"container_name":              text().required().place(),
	"key":                         text().required().place(),
	"resource_group_name":         text(),
	"environment":                 text("ARM_ENVIRONMENT").place(),
	"encryption_scope":            text("ARM_ENCRYPTION_SCOPE", "ARM_ENCYRPTION_SCOPE"), // the latter is what OpenTofu reads
	"customer_provided_key":       text("ARM_CUSTOMER_PROVIDED_KEY").secret(),
	"endpoint":                    text("ARM_ENDPOINT").deprecated("The argument \"endpoint\" has no effect. Remove it."),
	"timeout_seconds":             number("ARM_TIMEOUT_SECONDS"),
	"metadata_host":               text("ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"),
	"snapshot":                    boolean("ARM_SNAPSHOT"),
	"msi_endpoint":                text("ARM_MSI_ENDPOINT").deprecated("Use the environment variable MSI_ENDPOINT in place of \"msi_endpoint\"."),
	"subscription_id":             text("ARM_SUBSCRIPTION_ID"),
	"tenant_id":                   text("ARM_TENANT_ID"),
	"use_msi":                     boolean("ARM_USE_MSI"),
	"use_aks_workload_identity":   boolean("ARM_USE_AKS_WORKLOAD_IDENTITY"),
	"oidc_request_url":            text("ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"),
	"oidc_request_token":          text("ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN").secret(),
	"oidc_token":                  text("ARM_OIDC_TOKEN").secret(),
	"oidc_token_file_path":        text("ARM_OIDC_TOKEN_FILE_PATH"),
	"use_oidc":                    boolean("ARM_USE_OIDC"),
	"sas_token":                   text("ARM_SAS_TOKEN").secret(),
	"access_key":                  text("ARM_ACCESS_KEY").secret(),
	"use_azuread_auth":            boolean("ARM_USE_AZUREAD"),
	"use_cli":                     boolean("ARM_USE_CLI"),
	"client_id":                   text("ARM_CLIENT_ID"),
	"client_id_file_path":         text("ARM_CLIENT_ID_FILE_PATH"),
	"client_certificate":          text("ARM_CLIENT_CERTIFICATE").secret(),
	"client_certificate_password": text("ARM_CLIENT_CERTIFICATE_PASSWORD").secret(),
	"client_certificate_path":     text("ARM_CLIENT_CERTIFICATE_PATH"),
	"client_secret":               text("ARM_CLIENT_SECRET").secret(),
	"client_secret_file_path":     text("ARM_CLIENT_SECRET_FILE_PATH"),
}, nil)
