package gcs

import "github.com/mayfly-iac/mayfly/internal/stores/backend"

// Kind keeps states as objects in a bucket of Google Cloud Storage. The variables whose names contain
// BACKEND come first: they let the provider of the same configuration use another account.
var Kind = backend.Declare("gcs", backend.Arguments{
	"bucket":                                backend.Text().Required().Place().About("bucket; it must exist"),
	"prefix":                                backend.Text().Place().About("directory of the states; a state is `PREFIX/WORKSPACE.tfstate`"),
	"credentials":                           backend.Text("GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS").Secret().About("credentials in JSON, or the path of a file that has them; those of this machine by default"),
	"access_token":                          backend.Text("GOOGLE_OAUTH_ACCESS_TOKEN").Secret().About("OAuth token in place of credentials; it is not renewed"),
	"impersonate_service_account":           backend.Text("GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT").About("service account to act as"),
	"impersonate_service_account_delegates": backend.Texts().About("service accounts on the way to that one, in their order"),
	"encryption_key":                        backend.Text("GOOGLE_ENCRYPTION_KEY").Secret().About("key of 32 bytes in base64 with which the server encrypts the object; it does not keep the key"),
	"universe_domain":                       backend.Text().About("domain of the services, for clouds that partners run; that of the credentials by default"),
	"kms_encryption_key":                    backend.Text("GOOGLE_KMS_ENCRYPTION_KEY").About("key of Cloud KMS with which the server encrypts the object; excludes `encryption_key`"),
	"storage_custom_endpoint":               backend.Text("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT").Place().About("another server that speaks the protocol, alone or with the path `/storage/v1/b`"),
}, nil, opener{}.Service())

// opener opens stores, unless a build tag leaves this out.
type opener struct{ backend.LeftOut }
